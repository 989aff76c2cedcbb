-- waybill: contracts
-- Snapshots name the artifacts that fail each policy by their versions, which they show anyway: a fingerprint takes ten times as much, and
-- each snapshot wrote those of all that fail. Adds a column without a default, which is quick.

-- For each of applied_policies a list of ids in snapshot_artifacts, the first of each fingerprint, in the order of the artifacts. Null in
-- snapshots from before: they have fingerprints in applied_policies, as failing_artifacts.
alter table snapshots add column failing_versions json;
