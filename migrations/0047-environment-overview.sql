-- waybill: rewrites
-- Numbers over all environments of an organization, exact in the transactions that change them.

-- What the latest snapshot counted: what runs, what of it does not comply, what no flow knows and what is on the allow-list.
alter table environments
  add column artifact_count integer not null default 0,
  add column failing_count integer not null default 0,
  add column unproven_count integer not null default 0,
  add column allowed_count integer not null default 0;
update environments e
set artifact_count = running.artifacts, failing_count = running.failing, unproven_count = running.unproven,
  allowed_count = running.allowed
from (
  select org_id, environment_id, count(*) as artifacts, count(*) filter (where not compliant) as failing,
    count(*) filter (where flows::text = '[]') as unproven,
    count(*) filter (where position(',"allow_listed":true,"fingerprint":"' in doc) > 0) as allowed
  from snapshot_artifacts where last_index is null group by 1, 2
) running
where running.org_id = e.org_id and running.environment_id = e.id;

-- The worst ones first.
create index environments_failing on environments (org_id, failing_count desc, name) where not state and archived_at is null;

-- The sums over the live environments of an organization, in several rows that have to be added up: whoever changes them
-- takes a row that nobody else is changing, so that writers never wait for each other. There are as many rows as there were
-- writers at once.
create table environment_tallies (
  org_id uuid not null,
  slot bigint generated always as identity,
  total bigint not null,
  compliant bigint not null,
  non_compliant bigint not null,
  unknown bigint not null,
  -- Of those that reporters belong to; they are unknown as well.
  never_reported bigint not null,
  -- Of physical environments: what runs in logical ones runs in their members.
  artifacts bigint not null,
  failing bigint not null,
  unproven bigint not null,
  allowed bigint not null,
  primary key (org_id, slot)
) with (fillfactor = 50);

-- What one environment adds to each sum.
create function environment_tally(e environments) returns bigint[]
  language sql immutable parallel safe as $$
  select case when e.archived_at is not null then array[0, 0, 0, 0, 0, 0, 0, 0, 0]::bigint[] else array[
    1, coalesce(e.state, false)::integer, coalesce(not e.state, false)::integer, (e.state is null)::integer,
    (e.type <> 'logical' and e.last_reported_at is null)::integer,
    case when e.type <> 'logical' then e.artifact_count else 0 end,
    case when e.type <> 'logical' then e.failing_count else 0 end,
    case when e.type <> 'logical' then e.unproven_count else 0 end,
    case when e.type <> 'logical' then e.allowed_count else 0 end]::bigint[] end
$$;

create function add_to_tallies(org uuid, d bigint[]) returns void
  language plpgsql as $$
begin
  update environment_tallies t
  set total = t.total + d[1], compliant = t.compliant + d[2], non_compliant = t.non_compliant + d[3],
    unknown = t.unknown + d[4], never_reported = t.never_reported + d[5], artifacts = t.artifacts + d[6],
    failing = t.failing + d[7], unproven = t.unproven + d[8], allowed = t.allowed + d[9]
  where t.org_id = org and t.slot = (
    select slot from environment_tallies where org_id = org order by slot limit 1 for update skip locked);
  if not found then
    insert into environment_tallies (org_id, total, compliant, non_compliant, unknown, never_reported, artifacts, failing,
      unproven, allowed) values (org, d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8], d[9]);
  end if;
end
$$;

create function tally_new_environments() returns trigger
  language plpgsql as $$
begin
  perform add_to_tallies(org_id, array[sum(t[1]), sum(t[2]), sum(t[3]), sum(t[4]), sum(t[5]), sum(t[6]), sum(t[7]),
    sum(t[8]), sum(t[9])]::bigint[])
  from (select n.org_id, environment_tally(e) as t from new_rows n
    join environments e on e.org_id = n.org_id and e.id = n.id) tallied
  group by org_id;
  return null;
end
$$;
create trigger environments_tally_new after insert on environments
  referencing new table as new_rows for each statement execute function tally_new_environments();

create function tally_environment() returns trigger
  language plpgsql as $$
declare
  before bigint[] := environment_tally(old);
  after bigint[] := environment_tally(new);
begin
  if before <> after then
    perform add_to_tallies(new.org_id, array(
      select a.n - b.n from unnest(after) with ordinality a (n, place) join unnest(before) with ordinality b (n, place)
      using (place) order by place));
  end if;
  return null;
end
$$;
-- A report that changes nothing does not come here.
create trigger environments_tally after update of state, archived_at, type, last_reported_at, artifact_count, failing_count,
  unproven_count, allowed_count on environments
  for each row when (old.state is distinct from new.state or old.archived_at is distinct from new.archived_at
    or old.type <> new.type or (old.last_reported_at is null) <> (new.last_reported_at is null)
    or (old.artifact_count, old.failing_count, old.unproven_count, old.allowed_count)
      <> (new.artifact_count, new.failing_count, new.unproven_count, new.allowed_count))
  execute function tally_environment();

select add_to_tallies(org_id, array[sum(t[1]), sum(t[2]), sum(t[3]), sum(t[4]), sum(t[5]), sum(t[6]), sum(t[7]), sum(t[8]),
  sum(t[9])]::bigint[])
from (select e.org_id, environment_tally(e) as t from environments e) tallied group by org_id;
