-- Rules of organizations, and of the installation, for keys and for the addresses callers have. Each statement changes the catalog alone.

-- The rules of the installation have the organization 00000000-0000-0000-0000-000000000000, which nobody has. No row: no rules.
create table security_rules (
  org_id uuid primary key,
  max_personal_key_age_days integer check (max_personal_key_age_days between 1 and 3650),
  max_service_key_age_days integer check (max_service_key_age_days between 1 and 3650),
  require_expiry boolean not null,
  warn_days integer not null check (warn_days between 1 and 90),
  unused_days integer check (unused_days between 1 and 3650),
  -- Null: from anywhere.
  allowed_addresses cidr[] check (cardinality(allowed_addresses) between 1 and 256),
  sso_only boolean not null,
  -- When ages or expiry were last asked for more strictly: keys made before have 30 days from then.
  tightened_at timestamptz,
  changed_at timestamptz not null
);

-- A key may be for less than its owner is.
alter table api_keys
  add column role text,
  add column allowed_addresses cidr[],
  -- Since when its owner knows that it ends because nobody uses it.
  add column unused_warned_at timestamptz;
-- Each by itself and by name, which Citus wants.
alter table api_keys add constraint api_keys_role_check check (role in ('reader', 'snapshotter', 'member', 'admin'));
alter table api_keys add constraint api_keys_allowed_addresses_check check (cardinality(allowed_addresses) between 1 and 256);
