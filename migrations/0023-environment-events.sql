-- waybill: rewrites
-- Where an artifact started and stopped to run.
create index snapshot_artifacts_moves on snapshot_artifacts (org_id, fingerprint, environment_id, first_index)
  where type = 'exited' or type like 'started-%';
