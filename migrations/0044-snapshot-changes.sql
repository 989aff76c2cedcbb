-- waybill: rewrites
-- What changed with each snapshot, beside it: lists, logs and histories of many environments read it off an index.

alter table snapshots
  -- How many of its events are of each kind: together as many as event_count grew by.
  add column started_count integer not null default 0,
  add column exited_count integer not null default 0,
  -- Of verdicts on artifacts (became-…).
  add column verdict_count integer not null default 0,
  -- All others.
  add column changed_count integer not null default 0,
  -- The verdict of the snapshot before; null also for the first one.
  add column was_compliant boolean,
  add column has_policies boolean not null default false,
  -- Whether policies, or versions of them, apply that did not in the snapshot before, or the other way round.
  add column policies_changed boolean not null default false;

-- Fills the snapshots there are: every event is read once and every snapshot written once. A million events in 400,000
-- snapshots took a minute on two busy cores.
alter table snapshots disable trigger snapshots_insert_only;
update snapshots s
set started_count = f.started_count, exited_count = f.exited_count, verdict_count = f.verdict_count,
  changed_count = f.changed_count, was_compliant = f.was_compliant, has_policies = f.policies <> '',
  policies_changed = f.index > 1 and f.policies <> f.were_policies
from (
  select n.org_id, n.environment_id, n.index, n.policies,
    lag(n.policies) over before as were_policies, lag(n.compliant) over before as was_compliant,
    coalesce(e.started_count, 0) as started_count, coalesce(e.exited_count, 0) as exited_count,
    coalesce(e.verdict_count, 0) as verdict_count, coalesce(e.changed_count, 0) as changed_count
  from (
    select org_id, environment_id, index, compliant, coalesce((
      select string_agg((policy ->> 'id') || ' ' || (policy ->> 'version'), ',' order by policy ->> 'id' collate "C")
      from json_array_elements(applied_policies) policy), '') as policies
    from snapshots
  ) n
  left join (
    select org_id, environment_id, first_index as index,
      count(*) filter (where type like 'started-%') as started_count, count(*) filter (where type = 'exited') as exited_count,
      count(*) filter (where type like 'became-%') as verdict_count,
      count(*) filter (where type in ('changed', 'updated-provenance')) as changed_count
    from snapshot_artifacts where type <> 'unchanged' group by 1, 2, 3
  ) e using (org_id, environment_id, index)
  window before as (partition by n.org_id, n.environment_id order by n.index)
) f
where s.org_id = f.org_id and s.environment_id = f.environment_id and s.index = f.index;
alter table snapshots enable trigger snapshots_insert_only;

-- Of an organization in the order of time: events are found and counted without looking at them.
create index snapshots_changes on snapshots (org_id, created_at, environment_id, index)
  include (started_count, exited_count, verdict_count, changed_count);
-- Nothing asked for events in this order.
drop index snapshot_artifacts_events_created;

-- Where a verdict turned, which few snapshots do: of an organization and of an environment.
create index snapshots_turns on snapshots (org_id, created_at) include (environment_id, compliant, was_compliant)
  where compliant is distinct from was_compliant;
create index snapshots_environment_turns on snapshots (org_id, environment_id, created_at)
  include (compliant, was_compliant) where compliant is distinct from was_compliant;
