-- Where things run, and the tree of spaces that environments and flows are kept in.

create table spaces (
  org_id uuid not null references organizations (id),
  id uuid not null,
  parent_id uuid,
  name text collate "C" not null,
  created_at timestamptz not null,
  last_modified_at timestamptz not null,
  primary key (org_id, id),
  constraint spaces_parent foreign key (org_id, parent_id) references spaces (org_id, id)
);
-- Spaces side by side have different names, or nobody could tell them apart.
create unique index spaces_name on spaces (org_id, parent_id, name) nulls not distinct;

create table environments (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text collate "C" not null,
  type text not null check (type in
    ('K8S', 'ECS', 'S3', 'lambda', 'server', 'docker', 'azure-apps', 'cloud-run', 'logical')),
  description text not null default '',
  tags jsonb not null default '{}',
  space_id uuid,
  state boolean,
  created_at timestamptz not null,
  last_modified_at timestamptz not null,
  last_reported_at timestamptz,
  last_changed_at timestamptz,
  -- Set together when archived; original_name is the name it had while it lived.
  archived_at timestamptz,
  archived_by_kind text check (archived_by_kind in ('user', 'service_account', 'integration', 'system')),
  archived_by_id uuid,
  archived_by_name text,
  original_name text collate "C",
  -- Names of the attached policies as a JSON array, by code point, kept with the attachments: for the text below.
  policies text not null default '[]',
  -- For indexes: lists ask for the living or for the archived, never for both.
  archived boolean not null generated always as (archived_at is not null) stored,
  -- The members of its JSON that are its own, in the published order. Lists send many of them far more often than one
  -- changes, and making text of columns is most of what a page costs.
  json text not null generated always as (
    '"name":' || json_text(name) || ',"type":' || json_text(type) || ',"description":' || json_text(description)
    || ',"last_modified_at":' || epoch(last_modified_at)::text
    || ',"last_reported_at":' || coalesce(epoch(last_reported_at)::text, 'null')
    || ',"last_changed_at":' || coalesce(epoch(last_changed_at)::text, 'null')
    || ',"state":' || coalesce(state::text, 'null') || ',"include_scaling":false,"tags":' || tags::text
    || ',"policies":' || policies) stored,
  primary key (org_id, id),
  constraint environments_space foreign key (org_id, space_id) references spaces (org_id, id),
  check ((archived_at is null) = (original_name is null))
);
create trigger environments_stay before delete on environments
  for each row execute function forbid_removal();
create unique index environments_name on environments (org_id, name);
create index environments_original_name on environments (org_id, original_name, archived_at) where archived_at is not null;

-- One index for each order of the list, ties included, so that a page is read and not sorted. The type at the end lets
-- a filter by type be checked in the index.
create index environments_by_name on environments (org_id, archived, name, id);
create index environments_by_type on environments (org_id, archived, type, name, id);
create index environments_by_modified on environments (org_id, archived, last_modified_at, name, id, type);
create index environments_by_modified_desc on environments (org_id, archived, last_modified_at desc, name, id, type);
create index environments_by_changed on environments (org_id, archived, last_changed_at, name, id, type);
create index environments_by_changed_desc on environments (org_id, archived, last_changed_at desc nulls last, name, id, type);
create index environments_in_space on environments (org_id, space_id) where space_id is not null;
create index environments_name_substring on environments using gin (lower(name) gin_trgm_ops);
create index environments_tags on environments using gin (tags);

-- Former names keep resolving until another environment takes them.
create table environment_former_names (
  org_id uuid not null,
  name text collate "C" not null,
  environment_id uuid not null,
  primary key (org_id, name),
  foreign key (org_id, environment_id) references environments (org_id, id)
);

create index environment_former_names_environment on environment_former_names (org_id, environment_id);

-- The environment a name means: the one that has it, else the one that had it last, else the one archived last under
-- it. by_name tells whether it is its own present name.
create function find_environment(org uuid, wanted text) returns table (id uuid, by_name boolean)
  language sql stable parallel safe as $$
  select candidate.id, candidate.rank = 1
  from (
    (select e.id, 1 as rank from environments e where e.org_id = org and e.name = wanted)
    union all
    (select f.environment_id, 2 from environment_former_names f where f.org_id = org and f.name = wanted)
    union all
    (select e.id, 3 from environments e
     where e.org_id = org and e.original_name = wanted and e.archived_at is not null
     order by e.archived_at desc limit 1)
  ) as candidate
  order by candidate.rank limit 1
$$;

-- Members of logical environments, in the order given.
create table environment_members (
  org_id uuid not null,
  logical_id uuid not null,
  member_id uuid not null,
  position integer not null,
  primary key (org_id, logical_id, member_id),
  foreign key (org_id, logical_id) references environments (org_id, id),
  foreign key (org_id, member_id) references environments (org_id, id)
);
create index environment_members_member on environment_members (org_id, member_id);

-- How many environments there are of each type, so that lists need not count them.
create table environment_counts (
  org_id uuid not null references organizations (id),
  archived boolean not null,
  type text not null,
  count bigint not null,
  primary key (org_id, archived, type)
);

create function count_new_environments() returns trigger
  language plpgsql as $$
begin
  insert into environment_counts as c (org_id, archived, type, count)
  select org_id, archived_at is not null, type, count(*) from new_rows group by 1, 2, 3 order by 1, 2, 3
  on conflict (org_id, archived, type) do update set count = c.count + excluded.count;
  return null;
end
$$;
create trigger environments_count_new after insert on environments
  referencing new table as new_rows for each statement execute function count_new_environments();

create function recount_environment() returns trigger
  language plpgsql as $$
begin
  update environment_counts set count = count - 1
  where org_id = old.org_id and archived = (old.archived_at is not null) and type = old.type;
  insert into environment_counts as c (org_id, archived, type, count)
  values (new.org_id, new.archived_at is not null, new.type, 1)
  on conflict (org_id, archived, type) do update set count = c.count + 1;
  return null;
end
$$;
create trigger environments_recount after update of archived_at, type on environments
  for each row when (old.archived_at is distinct from new.archived_at or old.type <> new.type)
  execute function recount_environment();
