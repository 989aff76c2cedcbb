-- waybill: rewrites
-- What is asked for of all environments of an organization at once, in the order of time.

-- Silences that lasted until some moment or later.
create index environment_silences_ended on environment_silences (org_id, coalesce(ended_at, 'infinity'))
  include (environment_id, began_at, ended_at);

-- Events of artifacts by the repo, and by the flow, that built them, which is the first one that knew them.
create index snapshot_artifacts_repo_events on snapshot_artifacts
  (org_id, (repo_ids[1]), created_at, environment_id, id) where type <> 'unchanged' and repo_ids <> '{}';
create index snapshot_artifacts_flow_events on snapshot_artifacts
  (org_id, (flows -> 0 ->> 'flow_id'), created_at, environment_id, id) where type <> 'unchanged' and provenance <> '{}';
