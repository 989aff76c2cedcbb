-- waybill: rewrites
-- Deployments are the versions of artifacts that have started, where the repo they were built from is known: the first one
-- in repo_ids. Pages of them are read in order of time and counted without looking at the rows.

-- Of the organization.
create index snapshot_artifacts_deployments on snapshot_artifacts (org_id, created_at, environment_id, id)
  where type like 'started-%' and repo_ids <> '{}';
-- Of an environment.
create index snapshot_artifacts_environment_deployments on snapshot_artifacts (org_id, environment_id, created_at, id)
  where type like 'started-%' and repo_ids <> '{}';
-- Of a repo. PostgreSQL answers from an index on an expression alone only when it has the column, too.
create index snapshot_artifacts_repo_deployments on snapshot_artifacts
  (org_id, (repo_ids[1]), created_at, environment_id, id) include (repo_ids)
  where type like 'started-%' and repo_ids <> '{}';

-- What of a repo runs now.
create index snapshot_artifacts_running_repo on snapshot_artifacts (org_id, (repo_ids[1]))
  where last_index is null and repo_ids <> '{}';
