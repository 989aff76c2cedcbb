-- waybill: rewrites
-- Each version of an artifact, and each that has exited, has an entry with its fingerprint: a number of eight bytes stands for the 64 digits, as
-- for other values since 0063. The row has them in full. Building it reads the table once.
drop index snapshot_artifacts_fingerprint;
create index snapshot_artifacts_fingerprint on snapshot_artifacts (org_id, value_number(org_id, fingerprint), created_at);
