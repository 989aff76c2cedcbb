-- How often environments are reported on, and when a reporter fell silent.

-- Seconds between the latest reports, the newest last, and what silence is too long by them; null while there are too few.
alter table environment_reports add column report_gaps real[] not null default '{}';
alter table environment_reports add column learned_limit real;

-- Seconds without a report that are too many, as somebody decided; null leaves it to what was learned.
alter table environments add column silence_limit integer check (silence_limit > 0);

-- Every time an environment was silent for too long.
create table environment_silences (
  org_id uuid not null,
  environment_id uuid not null,
  -- The last report before it; the environment's beginning when there was none.
  began_at timestamptz not null,
  -- When it was noticed, while it lasted: then it was told to whoever listens. Null when nobody was there to notice.
  noticed_at timestamptz,
  -- The report that ended it.
  ended_at timestamptz,
  primary key (org_id, environment_id, began_at),
  foreign key (org_id, environment_id) references environments (org_id, id)
);
create index environment_silences_open on environment_silences (org_id, environment_id) where ended_at is null;

-- When servers looked for silence last, and since when they have done so without a break: who could not report because
-- no server was there was not silent.
create table silence_watch (
  one boolean primary key default true check (one),
  looked_at timestamptz not null,
  since timestamptz not null
);
