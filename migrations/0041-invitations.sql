-- People who are asked to become users, and members of an organization. Removed when they accept; only the SHA-256 of the token
-- is kept. How long one works is in src/domain/invitations.ts.
create table invitations (
  org_id uuid not null references organizations (id),
  id uuid not null,
  token_hash bytea not null unique,
  user_name text collate "C" not null,
  email text collate "C",
  role text not null check (role in ('admin', 'member', 'snapshotter', 'reader')),
  -- The user or service account that made it; a name as well, for when that one is gone.
  invited_by_id uuid not null,
  invited_by_name text not null,
  created_at timestamptz not null,
  primary key (org_id, id),
  unique (org_id, user_name)
);
