-- The document of a version never changes, but its row is written anew when the version ends. Documents are by far the largest
-- part of rows, so they stand apart. Versions from before have theirs where they are: nothing is rewritten.
create table snapshot_documents (
  org_id uuid not null,
  environment_id uuid not null,
  -- Of the version in snapshot_artifacts.
  id bigint not null,
  -- As snapshot_artifacts.doc was.
  doc text not null,
  primary key (org_id, environment_id, id)
  -- No foreign key: who writes holds the environment's row locked, and environments are never removed.
) with (toast_tuple_target = 8160); -- As that table.
create trigger snapshot_documents_insert_only before update or delete on snapshot_documents
  for each row execute function forbid_change();

-- A row has a document of its own here or there, or repeats another one's.
alter table snapshot_artifacts drop constraint snapshot_artifacts_doc;
