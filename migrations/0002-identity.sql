-- Who there is: users, organizations, memberships with their history, service accounts and API keys.

create table users (
  id uuid primary key,
  name text collate "C" not null unique,
  email text collate "C",
  display_name text,
  instance_admin boolean not null default false,
  default_org_id uuid,
  created_at timestamptz not null,
  disabled_at timestamptz,
  deleted_at timestamptz
);
-- Mail addresses identify people whatever their case.
create unique index users_email_key on users (lower(email)) where email is not null and deleted_at is null;

create table organizations (
  id uuid primary key,
  name text collate "C" not null unique,
  kind text not null check (kind in ('personal', 'shared')),
  owner_user_id uuid references users (id),
  public boolean not null default false,
  display_name text not null default '',
  description text not null default '',
  created_at timestamptz not null,
  last_modified_at timestamptz not null
);
create trigger organizations_stay before delete on organizations
  for each row execute function forbid_removal();
-- Every user has one.
create unique index organizations_personal on organizations (owner_user_id) where kind = 'personal';
alter table users add foreign key (default_org_id) references organizations (id);

-- Numbers that count up within one organization. The row lock orders the writers.
create table org_counters (
  org_id uuid primary key references organizations (id),
  audit_seq bigint not null default 0,
  build_number bigint not null default 0,
  last_build_at timestamptz not null default '-infinity',
  action_number integer not null default 0
);

create table memberships (
  org_id uuid not null references organizations (id),
  user_id uuid not null references users (id),
  role text not null check (role in ('admin', 'member', 'snapshotter', 'reader')),
  created_at timestamptz not null,
  primary key (org_id, user_id)
);
create index memberships_user on memberships (user_id);

create table membership_events (
  org_id uuid not null references organizations (id),
  id uuid not null,
  occurred_at timestamptz not null,
  event_type text not null check (event_type in ('added', 'changed', 'removed')),
  user_id uuid not null,
  user_name text not null,
  role text,
  previous_role text,
  changed_by_name text not null,
  source text not null,
  primary key (org_id, id)
);
create index membership_events_when on membership_events (org_id, occurred_at, id);
create trigger membership_events_insert_only before update or delete on membership_events
  for each row execute function forbid_change();
create trigger membership_events_no_truncate before truncate on membership_events
  for each statement execute function forbid_change();

create table service_accounts (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text collate "C" not null,
  display_name text not null,
  description text not null default '',
  privilege text not null check (privilege in ('admin', 'member', 'snapshotter', 'reader')),
  -- The user or service account that made it; a name as well, for when that one is gone.
  creating_user_id uuid not null,
  creating_user_name text not null,
  for_webhook boolean not null default false,
  created_at timestamptz not null,
  archived_at timestamptz,
  primary key (org_id, id)
);
create unique index service_accounts_name on service_accounts (org_id, name) where archived_at is null;

-- Only the SHA-256 of a key is kept. A key belongs to a user or to one service account.
create table api_keys (
  id uuid primary key,
  key_hash bytea not null unique,
  user_id uuid references users (id),
  org_id uuid,
  service_account_id uuid,
  description text not null,
  created_at timestamptz not null,
  created_by_name text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  rotated_at timestamptz,
  grace_period_expires_at timestamptz,
  foreign key (org_id, service_account_id) references service_accounts (org_id, id),
  check ((user_id is null) <> (service_account_id is null)),
  check ((org_id is null) = (service_account_id is null))
);
create index api_keys_user on api_keys (user_id, id) where user_id is not null;
create index api_keys_service_account on api_keys (org_id, service_account_id, id) where service_account_id is not null;
