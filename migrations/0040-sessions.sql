-- People at a browser: sessions, and links that begin one.

-- Only the SHA-256 of what the cookie holds is kept. A session acts as its owner. One that was begun with a key works only
-- while the key does; one without a key belongs to a user. How long sessions last is in src/domain/sessions.ts.
create table sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  user_id uuid references users (id),
  org_id uuid,
  service_account_id uuid,
  api_key_id uuid references api_keys (id),
  user_agent text not null,
  address text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  -- Set when the secret it was begun with ends before the key, because the key was given another.
  ends_at timestamptz,
  foreign key (org_id, service_account_id) references service_accounts (org_id, id),
  check ((user_id is null) <> (service_account_id is null)),
  check ((org_id is null) = (service_account_id is null)),
  check (user_id is not null or api_key_id is not null)
);
create index sessions_user on sessions (user_id, id) where user_id is not null;
create index sessions_service_account on sessions (org_id, service_account_id, id) where service_account_id is not null;
create index sessions_key on sessions (api_key_id) where api_key_id is not null;

-- A link that signs a user in once. Removed when it is used; only the SHA-256 of its token is kept.
create table sign_in_links (
  token_hash bytea primary key,
  user_id uuid not null references users (id),
  created_at timestamptz not null
);
create index sign_in_links_user on sign_in_links (user_id);
