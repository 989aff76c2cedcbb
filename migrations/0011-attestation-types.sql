-- Kinds of evidence that an organization defines itself.

create table attestation_types (
  org_id uuid not null references organizations (id),
  id uuid not null,
  name text collate "C" not null,
  created_at timestamptz not null,
  created_by_name text not null,
  last_modified_at timestamptz not null,
  -- The name stays taken: posting it again brings the type back, with its versions.
  archived_at timestamptz,
  primary key (org_id, id)
);
create unique index attestation_types_name on attestation_types (org_id, name);

-- What a type says. Evidence names the version that it was judged by, so none is ever changed.
create table attestation_type_versions (
  org_id uuid not null,
  type_id uuid not null,
  version integer not null check (version > 0),
  description text,
  type_schema jsonb,
  evaluator jsonb,
  summary jsonb,
  created_at timestamptz not null,
  created_by_name text not null,
  primary key (org_id, type_id, version),
  foreign key (org_id, type_id) references attestation_types (org_id, id)
);
create trigger attestation_type_versions_insert_only before update or delete on attestation_type_versions
  for each row execute function forbid_change();
