-- Files that reports brought along. The bytes are in the evidence store, under their digest; an organization's row
-- says that it has them, and what it calls them.

create table evidence (
  org_id uuid not null references organizations (id),
  id uuid not null,
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- In bytes.
  size bigint not null check (size >= 0),
  filename text collate "C" not null,
  content_type text not null,
  created_at timestamptz not null,
  unique (org_id, sha256, filename),
  primary key (org_id, id)
);
-- Whether anybody still has some content, whichever organization it is.
create index evidence_sha256 on evidence (sha256);
create trigger evidence_insert_only before update or delete on evidence
  for each row execute function forbid_change();
