-- A version that ends is the most of what a changed report writes: its row is written anew, and with it an entry in each index, because
-- some of them say whether it has ended. Without those PostgreSQL writes the end beside the row, and no index. What runs is found by the
-- list of the latest snapshot or in running_artifacts, and starts with exits by the fingerprint.
-- Each by itself, which Citus wants.
drop index snapshot_artifacts_running;
drop index snapshot_artifacts_running_fingerprint;
drop index snapshot_artifacts_running_repo;
drop index snapshot_artifacts_moves;
-- Room for that on each page: what starts together often ends together. It is used again for later ends.
alter table snapshot_artifacts set (fillfactor = 50);
-- Looked at afterwards: what runs before a change locks the row, which is written down, too.
drop trigger snapshot_artifacts_insert_only on snapshot_artifacts;
create trigger snapshot_artifacts_insert_only after update or delete on snapshot_artifacts
  for each row execute function end_version_only();
-- Entries that wait for their place are written to the log twice, and looked through by who searches.
alter index running_artifacts_flows set (fastupdate = off);
