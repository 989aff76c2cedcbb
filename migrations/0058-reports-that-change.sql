-- What has exited is shown as the version before was: its row refers to that one, whose document is by far the largest part
-- of a row. Rows from before have a copy.
alter table snapshot_artifacts
  -- The version, of the same environment, whose document this row is shown by; null for one of its own.
  add column repeats bigint,
  alter column doc drop not null,
  -- Holds for all that is there, as none of it was without a document.
  add constraint snapshot_artifacts_doc check (doc is not null or repeats is not null) not valid;

-- Whether flows knew something else of what runs, when it was last reported, than its versions say: what alone is no reason for
-- a snapshot waits for one.
alter table environment_reports add column is_stale boolean not null default true;
