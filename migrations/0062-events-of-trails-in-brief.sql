-- waybill: rewrites
-- An event of a trail keeps what is told nowhere else. The rest is put together when it is read: the trail has the commit and
-- all that was said of it, a repo is kept in each of its versions.

-- Versions of a repo count what is known of it. Those before the present one are kept here, as they were.
alter table repos add column version integer not null default 1;
create table repo_versions (
  org_id uuid not null,
  id uuid not null,
  version integer not null,
  repo_id text collate "C",
  provider text collate "C",
  name text collate "C" not null,
  url text not null,
  description text,
  vcs_instance text collate "C",
  namespace_path text[],
  additional_info json,
  tags jsonb not null,
  created_at timestamptz not null,
  last_modified_at timestamptz not null,
  primary key (org_id, id, version)
);
create trigger repo_versions_insert_only before update or delete on repo_versions
  for each row execute function forbid_change();

-- What the trail was when it began, as JSON of the facts that reports change; null while they are what they were.
alter table trails add column begun_as json;

create table new_trail_events (
  org_id uuid not null,
  trail_id uuid not null,
  id uuid not null,
  occurred_at timestamptz not null,
  -- Who changed the trail. Null for what ran, and where it is not known.
  setting_user_id uuid,
  -- The repo that the report came from, if it named one, as it was then. Of several that began a trail together, the first.
  repo_id uuid,
  repo_version integer,
  -- How many repos the trail began with; they are the first ones that it has.
  repo_count integer,
  -- Where an artifact started or stopped to run, and how often it runs if it started.
  environment_id uuid,
  snapshot_index integer,
  replica_number integer,
  type text not null,
  artifact_fingerprint bytea,
  -- As the environment was called then.
  environment_name text,
  template_reference_name text,
  -- What a change made of the trail: its facts as they are then, and the names of those that differ.
  change json,
  -- All that an event tells, where that is not what the columns and the trail say.
  data json
);

create function pg_temp.commit_in_event(c jsonb) returns jsonb
  language sql immutable as $$
  select case when c ->> 'sha1' is null then 'null' else jsonb_build_object('sha1', c -> 'sha1', 'message', c -> 'message',
    'author', c -> 'author', 'branch', c -> 'branch', 'timestamp', c -> 'timestamp', 'url', c -> 'url') end
$$;
create function pg_temp.id_of(wire text) returns uuid
  language sql immutable as $$
  select case when wire ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}$' then (wire || '0000')::uuid end
$$;
-- What was reported of a repo is kept as it was written: it is compared as text.
create function pg_temp.repo_as_told(repo json) returns jsonb
  language sql immutable as $$
  select repo::jsonb || jsonb_build_object('additional_info', nullif((repo -> 'additional_info')::text, 'null'))
$$;
create function pg_temp.repo_as_kept(r repo_versions) returns jsonb
  language sql stable as $$
  select jsonb_build_object('inner_id', wire_id(r.id), 'org_id', wire_id(r.org_id), 'repo_id', r.repo_id, 'name', r.name,
    'url', r.url, 'provider', r.provider, 'description', r.description, 'vcs_instance', r.vcs_instance,
    'namespace_path', r.namespace_path, 'additional_info', nullif(r.additional_info::text, 'null'), 'created_at', epoch(r.created_at),
    'last_modified_at', epoch(r.last_modified_at), 'tags', r.tags)
$$;

-- Each version of a repo that events tell of, numbered in their order. A repo changes far less often than it is told of.
create temporary table told_repos on commit drop as
select told.*, row_number() over (partition by org_id, id order by first_at, repo::text) as version
from (
  select e.org_id, pg_temp.id_of(e.data #>> '{repo_info,inner_id}') as id, pg_temp.repo_as_told(e.data -> 'repo_info') as repo,
    min(e.occurred_at) as first_at
  from trail_events e where json_typeof(e.data -> 'repo_info') = 'object' group by 1, 2, 3
) told;

-- Those that are the present one are not kept a second time, nor what a row cannot say.
alter table told_repos add column is_present boolean not null default false, add column kept repo_versions;
update told_repos told set is_present = true from repos r
where r.org_id = told.org_id and r.id = told.id
  and told.repo = pg_temp.repo_as_kept((r.org_id, r.id, 0, r.repo_id, r.provider, r.name, r.url, r.description, r.vcs_instance,
    r.namespace_path, r.additional_info, r.tags, r.created_at, r.last_modified_at)::repo_versions);
update told_repos set kept = (org_id, id, version, repo ->> 'repo_id', repo ->> 'provider', repo ->> 'name', repo ->> 'url',
  repo ->> 'description', repo ->> 'vcs_instance', case jsonb_typeof(repo -> 'namespace_path') when 'array' then
    array(select jsonb_array_elements_text(repo -> 'namespace_path')) end,
  (repo ->> 'additional_info')::json, repo -> 'tags', to_timestamp((repo ->> 'created_at')::float8),
  to_timestamp((repo ->> 'last_modified_at')::float8))::repo_versions
where not is_present and id is not null;
delete from told_repos where not is_present and (id is null or pg_temp.repo_as_kept(kept) is distinct from repo);
insert into repo_versions select (kept).* from told_repos where not is_present;
update repos r set version = told.versions + 1
from (select org_id, id, max(version) as versions from told_repos where not is_present group by 1, 2) told
where r.org_id = told.org_id and r.id = told.id;
update told_repos told set version = r.version from repos r where told.is_present and r.org_id = told.org_id and r.id = told.id;
analyze told_repos;

-- What the columns say of an event has to be what it tells, or it keeps what it tells.
insert into new_trail_events
select e.org_id, e.trail_id, e.id, e.occurred_at, brief.setting_user_id, brief.repo_id, brief.repo_version, brief.repo_count,
  brief.environment_id, brief.snapshot_index, brief.replica_number, e.type, brief.artifact_fingerprint, brief.environment_name,
  brief.template_reference_name, brief.change, case when brief.type is null then e.data end
from trail_events e
join trails t on t.org_id = e.org_id and t.id = e.trail_id
cross join lateral (
  select e.data::jsonb - 'repo_info' as d, pg_temp.id_of(e.data ->> 'setting_user_id') as user_id,
    coalesce(json_typeof(e.data -> 'repo_info') = 'object', false) as has_repo offset 0) told
left join told_repos r on told.has_repo and r.org_id = e.org_id and r.id = pg_temp.id_of(e.data #>> '{repo_info,inner_id}')
  and r.repo = pg_temp.repo_as_told(e.data -> 'repo_info')
left join lateral (
  select e.type, told.user_id as setting_user_id, r.id as repo_id, r.version::integer as repo_version,
    begun.repo_count, null::uuid as environment_id, null::integer as snapshot_index, null::integer as replica_number,
    null::bytea as artifact_fingerprint, null::text as environment_name, null::text as template_reference_name, null::json as change
  from (select d -> 'trail_data_json' as said, jsonb_array_length(case jsonb_typeof(d #> '{trail_data_json,repo_ids}')
    when 'array' then d #> '{trail_data_json,repo_ids}' else '[]' end) as repo_count) begun
  where e.type = 'trail_reported' and r.id is not distinct from case when told.has_repo then t.repo_ids[1] end
    and jsonb_typeof(said -> 'description') = 'string' and jsonb_typeof(said -> 'user_data') = 'string'
    and pg_temp.id_of(said ->> 'template_id') is not null
    and d = jsonb_build_object('git_commit_info', d -> 'git_commit_info', 'setting_user_id', wire_id(told.user_id),
      'trail_data_json', jsonb_build_object('org_id', wire_id(t.org_id), 'flow_id', wire_id(t.flow_id), 'name', t.name,
        'creating_user_id', wire_id(told.user_id), 'description', said -> 'description',
        'git_commit_info', pg_temp.commit_in_event(d -> 'git_commit_info'), 'template_id', said -> 'template_id',
        'origin_url', said -> 'origin_url', 'user_data', said -> 'user_data', 'repo_ids', (
          select coalesce(jsonb_agg(wire_id(id) order by position), '[]')
          from unnest(t.repo_ids[1:repo_count]) with ordinality as repo (id, position))))
  union all
  select e.type, told.user_id, r.id, r.version, null, null, null, null, null, null, null, json_build_object(
    'git_commit_info', d -> 'git_commit_info', 'description', said -> 'description', 'template_id', said -> 'template_id',
    'origin_url', said -> 'origin_url', 'user_data', said -> 'user_data', 'changes', d -> 'changes')
  from (select d -> 'trail_data_json' as said) changed
  where e.type = 'trail_updated' and told.has_repo = (r.id is not null)
    and d = jsonb_build_object('git_commit_info', d -> 'git_commit_info', 'setting_user_id', wire_id(told.user_id),
      'changes', d -> 'changes', 'trail_data_json', jsonb_build_object('description', said -> 'description',
        'git_commit_info', pg_temp.commit_in_event(d -> 'git_commit_info'), 'template_id', said -> 'template_id',
        'origin_url', said -> 'origin_url', 'user_data', said -> 'user_data'))
  union all
  select e.type, null, null, null, null, pg_temp.id_of(d ->> 'environment_id'), (d ->> 'snapshot_index')::integer,
    (d ->> 'replica_number')::integer, decode(d ->> 'artifact_fingerprint', 'hex'), d ->> 'environment_name',
    d ->> 'template_reference_name', null
  where e.type in ('artifact_started_running', 'artifact_stopped_running') and d ->> 'artifact_fingerprint' ~ '^[0-9a-f]{64}$'
    and d = jsonb_build_object('environment_id', wire_id(pg_temp.id_of(d ->> 'environment_id')),
      'environment_name', d ->> 'environment_name', 'snapshot_index', (d ->> 'snapshot_index')::integer,
      'artifact_fingerprint', d ->> 'artifact_fingerprint', 'template_reference_name', d ->> 'template_reference_name')
      || case e.type when 'artifact_stopped_running' then '{}' else
        jsonb_build_object('replica_number', (d ->> 'replica_number')::integer) end
) brief on true
order by e.org_id, e.id;

-- Trails that are not any more what they began as.
update trails t set begun_as = json_build_object('git_commit_info', d -> 'git_commit_info', 'description', d #> '{trail_data_json,description}',
  'template_id', d #> '{trail_data_json,template_id}', 'origin_url', d #> '{trail_data_json,origin_url}',
  'user_data', d #> '{trail_data_json,user_data}')
from (
  select e.org_id, e.trail_id, e.data::jsonb as d from trail_events e
  join new_trail_events n on n.org_id = e.org_id and n.trail_id = e.trail_id and n.id = e.id and n.data is null
  where e.type = 'trail_reported') begun
where t.org_id = begun.org_id and t.id = begun.trail_id
  and (coalesce(t.git_commit_info, 'null'), t.description, wire_id(t.template_id), t.origin_url, t.user_data::text)
    is distinct from (d -> 'git_commit_info', d #>> '{trail_data_json,description}', d #>> '{trail_data_json,template_id}',
      d #>> '{trail_data_json,origin_url}', d #>> '{trail_data_json,user_data}');

drop table trail_events;
alter table new_trail_events rename to trail_events;
alter table trail_events add constraint trail_events_pkey primary key (org_id, trail_id, id);
alter table trail_events alter column org_id set statistics 0;
alter table trail_events set (autovacuum_analyze_scale_factor = 0.5, autovacuum_vacuum_insert_scale_factor = 0.5);
create trigger trail_events_insert_only before update or delete on trail_events
  for each row execute function forbid_change();
analyze trail_events;

-- A repo that changes leaves what it was behind.
create function keep_former_repo() returns trigger
  language plpgsql as $$
begin
  insert into repo_versions (org_id, id, version, repo_id, provider, name, url, description, vcs_instance, namespace_path,
    additional_info, tags, created_at, last_modified_at)
  values (old.org_id, old.id, old.version, old.repo_id, old.provider, old.name, old.url, old.description, old.vcs_instance,
    old.namespace_path, old.additional_info, old.tags, old.created_at, old.last_modified_at);
  new.version := old.version + 1;
  return new;
end
$$;
create trigger repos_keep_former before update on repos
  for each row when (old.* *<> new.*) execute function keep_former_repo();
