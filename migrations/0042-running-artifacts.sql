-- waybill: rewrites
-- What runs where now: the open versions of physical environments, each as a narrow row with whatever lists of all
-- environments filter and sort by. The versions themselves hold documents; looking through those would read gigabytes.

-- When the oldest instance of an artifact started; if the reporter did not know it, when it was seen.
create function first_start(running json, seen timestamptz) returns timestamptz
  language sql immutable parallel safe as $$
  select coalesce((
    select to_timestamp(min(start::text::float8)) from json_array_elements(running -> 'creationTimestamp') as start
    where start::text::float8 > 0), seen)
$$;

-- Written by the statement that writes snapshots. Logical environments have no rows here: their members have.
create table running_artifacts (
  org_id uuid not null,
  environment_id uuid not null,
  -- Of the row in snapshot_artifacts.
  id bigint not null,
  -- The beginning of the name, in lower case: what is sorted and searched by. Reports say names of any length.
  name_start text collate "C" not null,
  -- Empty when the digest is not known.
  fingerprint text collate "C" not null,
  -- 0 non-compliant, 1 compliant, 2 unknown: in the order in which they are sorted.
  verdict smallint not null,
  allow_listed boolean not null,
  -- That know it; the first one is the one that built it.
  flow_ids uuid[] not null,
  repo_id uuid,
  started_at timestamptz not null,
  primary key (org_id, environment_id, id)
  -- No foreign key: who writes holds the environment's row locked, and environments are never removed.
);

insert into running_artifacts (org_id, environment_id, id, name_start, fingerprint, verdict, allow_listed, flow_ids, repo_id,
  started_at)
select a.org_id, a.environment_id, a.id, lower(left(a.name, 200)), a.fingerprint, case a.compliant when false then 0 when true then 1 else 2 end,
  position(',"allow_listed":true,"fingerprint":"' in a.doc) > 0,
  array(select (flow ->> 'flow_id')::uuid from json_array_elements(a.flows) flow), a.repo_ids[1],
  first_start(a.running, a.created_at)
from snapshot_artifacts a
join environments e on e.org_id = a.org_id and e.id = a.environment_id and e.type <> 'logical'
where a.last_index is null;

-- One for each order, and for each filter that may find few among many.
create index running_artifacts_started on running_artifacts (org_id, started_at, environment_id, id);
create index running_artifacts_name on running_artifacts (org_id, name_start, environment_id, id);
create index running_artifacts_verdict on running_artifacts (org_id, verdict, environment_id, id);
create index running_artifacts_fingerprint on running_artifacts (org_id, fingerprint);
create index running_artifacts_repo on running_artifacts (org_id, repo_id) where repo_id is not null;
create index running_artifacts_flows on running_artifacts using gin (flow_ids);
create index running_artifacts_unproven on running_artifacts (org_id, environment_id, id) where flow_ids = '{}';
create index running_artifacts_allowed on running_artifacts (org_id, environment_id, id) where allow_listed;
analyze running_artifacts;
