-- Processes and their runs.

create table flows (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text collate "C" not null,
  description text not null default '',
  visibility text not null default 'private' check (visibility in ('public', 'private')),
  -- The template as uploaded, byte for byte; its id changes whenever another one is set.
  template text not null,
  template_id uuid not null,
  tags jsonb not null default '{}',
  space_id uuid,
  created_at timestamptz not null,
  created_by_name text not null,
  archived_at timestamptz,
  original_name text collate "C",
  -- Its JSON as lists have it, in three pieces: between them go the organization's name and the repo. Lists send many of
  -- them far more often than one changes, and making text of columns is most of what a page costs.
  json_head text not null generated always as (
    '{"id":"' || wire_id(id) || '","name":' || json_text(name) || ',"description":' || json_text(description)
    || ',"visibility":' || json_text(visibility) || ',"org":') stored,
  json_template text not null generated always as (',"template":' || json_text(template) || ',"repo_url":') stored,
  json_tail text not null generated always as (
    ',"tags":' || tags::text || ',"space_id":' || coalesce('"' || wire_id(space_id) || '"', 'null')
    || ',"created_at":' || epoch(created_at)::text || ',"created_by":' || json_text(created_by_name)
    || ',"latest_activity_at":') stored,
  foreign key (org_id, space_id) references spaces (org_id, id),
  check ((archived_at is null) = (original_name is null))
) with (toast_tuple_target = 8160); -- Unpacking templates would cost more than the room they save.
create unique index flows_name on flows (org_id, name);
-- Lists by name; with the id, the pages before the one asked for are passed over in the index.
create index flows_living on flows (org_id, name, id) where archived_at is null;
create index flows_space on flows (org_id, space_id) where space_id is not null;
create index flows_tags on flows using gin (tags);
-- The most selective index comes last, and the key after it, here and below: until statistics are gathered indexes look
-- alike to the planner, which then takes the newest, and the checks of foreign keys keep such a plan.
alter table flows add primary key (org_id, id);

-- How many living flows there are, so that lists need not count them.
create table flow_counts (
  org_id uuid primary key references organizations (id),
  count bigint not null
);

create function count_new_flows() returns trigger
  language plpgsql as $$
begin
  insert into flow_counts as c (org_id, count)
  select org_id, count(*) from new_rows where archived_at is null group by org_id order by org_id
  on conflict (org_id) do update set count = c.count + excluded.count;
  return null;
end
$$;
create trigger flows_count_new after insert on flows
  referencing new table as new_rows for each statement execute function count_new_flows();

create table flow_former_names (
  org_id uuid not null,
  name text collate "C" not null,
  flow_id uuid not null,
  primary key (org_id, name),
  foreign key (org_id, flow_id) references flows (org_id, id)
);

-- No foreign keys here and in what is reported on trails: who writes holds the flow and the trail locked already, and
-- checking it again for each row cost a seventh of a report.
create trigger flows_stay before delete on flows
  for each row execute function forbid_removal();

create table trails (
  org_id uuid not null,
  id uuid not null,
  flow_id uuid not null,
  name text collate "C" not null,
  description text not null default '',
  git_commit_info jsonb,
  origin_url text,
  external_urls jsonb,
  user_data jsonb not null default '{}',
  -- Frozen from the flow when the trail begins, or given with the trail.
  template text not null,
  template_id uuid not null,
  repo_ids uuid[] not null default '{}',
  created_at timestamptz not null,
  created_by_name text not null,
  last_modified_at timestamptz not null
);
create index trails_created on trails (org_id, flow_id, created_at desc, id desc);
create index trails_newest on trails (org_id, created_at desc, id desc);
create trigger trails_stay before delete on trails
  for each row execute function forbid_removal();
create unique index trails_name on trails (org_id, flow_id, name);
alter table trails add primary key (org_id, id);

-- What happened to a trail itself. Artifact and attestation events are read from their own tables.
create table trail_events (
  org_id uuid not null,
  trail_id uuid not null,
  id uuid not null,
  occurred_at timestamptz not null,
  type text not null,
  data jsonb not null,
  primary key (org_id, trail_id, id)
);
create trigger trail_events_insert_only before update or delete on trail_events
  for each row execute function forbid_change();
