-- What artifacts have to fulfil where they run, where each policy applies, and artifacts that are trusted regardless.

create table policies (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text collate "C" not null,
  description text not null,
  -- Number of the latest version, and the SHA-256 of its text.
  version integer not null,
  text_digest bytea not null,
  -- Length of all versions together.
  text_bytes bigint not null,
  created_at timestamptz not null,
  created_by_name text not null,
  last_modified_at timestamptz not null,
  primary key (org_id, id)
);
create unique index policies_name on policies (org_id, name);

-- Numbered from 1 without gaps; the text is as it was uploaded, byte for byte.
create table policy_versions (
  org_id uuid not null,
  policy_id uuid not null,
  version integer not null,
  id uuid not null,
  comment text not null,
  text text not null,
  created_at timestamptz not null,
  created_by_name text not null,
  primary key (org_id, policy_id, version),
  foreign key (org_id, policy_id) references policies (org_id, id)
);
create unique index policy_versions_id on policy_versions (org_id, id);
create trigger policy_versions_insert_only before update or delete on policy_versions
  for each row execute function forbid_change();

create table policy_events (
  org_id uuid not null,
  policy_id uuid not null,
  id uuid not null,
  type text not null check (type in ('creation', 'metadata_update', 'new_version')),
  created_at timestamptz not null,
  created_by_name text not null,
  data jsonb not null,
  primary key (org_id, policy_id, id),
  foreign key (org_id, policy_id) references policies (org_id, id)
);
create trigger policy_events_insert_only before update or delete on policy_events
  for each row execute function forbid_change();

-- Controls that the latest version of a policy names.
create table policy_controls (
  org_id uuid not null,
  control_identifier text collate "C" not null,
  policy_id uuid not null,
  primary key (org_id, control_identifier, policy_id),
  foreign key (org_id, policy_id) references policies (org_id, id)
);
create index policy_controls_policy on policy_controls (org_id, policy_id);

-- Ids are in the order of attachment, which is the order in which policies are applied.
create table environment_policies (
  org_id uuid not null,
  environment_id uuid not null,
  policy_id uuid not null,
  id uuid not null,
  primary key (org_id, environment_id, policy_id),
  foreign key (org_id, environment_id) references environments (org_id, id),
  foreign key (org_id, policy_id) references policies (org_id, id)
);
create index environment_policies_policy on environment_policies (org_id, policy_id);

-- Entries that were taken off the list stay, for the history of the artifact.
create table allowlist_entries (
  org_id uuid not null,
  id uuid not null,
  environment_id uuid not null,
  fingerprint text collate "C" not null,
  artifact_name text not null,
  description text not null,
  created_at timestamptz not null,
  created_by_id uuid,
  created_by_name text not null,
  removed_at timestamptz,
  removed_by_name text,
  primary key (org_id, id),
  foreign key (org_id, environment_id) references environments (org_id, id),
  check ((removed_at is null) = (removed_by_name is null))
);
create unique index allowlist_entries_present on allowlist_entries (org_id, environment_id, fingerprint)
  where removed_at is null;
create index allowlist_entries_fingerprint on allowlist_entries (org_id, fingerprint);
