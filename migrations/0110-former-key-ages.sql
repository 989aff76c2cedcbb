-- A rule that becomes stricter gives time to keys that worked, not to those that had ended.

-- When each rule was last made stricter. Null in rows from before: tightened_at, the last of them, counts for all.
alter table security_rules
  add column personal_tightened_at timestamptz,
  add column service_tightened_at timestamptz,
  add column expiry_tightened_at timestamptz;

-- Ages that stricter ones took the place of: a key that they had ended by then stays ended. Keys of people have the kind personal, those of
-- service accounts the kind service.
create table former_key_ages (
  org_id uuid not null,
  kind text not null check (kind in ('personal', 'service')),
  id bigint generated always as identity,
  max_days integer not null check (max_days between 1 and 3650),
  tightened_at timestamptz,
  replaced_at timestamptz not null,
  primary key (org_id, kind, id)
);
