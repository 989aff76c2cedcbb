-- Evidence: immutable records that a check was made, with its result.

create table attestations (
  org_id uuid not null,
  id uuid not null,
  flow_id uuid not null,
  trail_id uuid not null,
  name text collate "C" not null,
  type text collate "C" not null,
  is_compliant boolean not null,
  -- It replaces the verdict of what was reported under this name before.
  is_override boolean not null default false,
  -- The control a decision is about; it need not exist. The version is the one in force then, if it did.
  control_identifier text collate "C",
  control_version integer,
  artifact_fingerprint text collate "C",
  target_artifacts text[],
  git_commit text collate "C",
  git_commit_info jsonb,
  repo_id uuid,
  description text,
  origin_url text,
  external_urls jsonb,
  annotations jsonb,
  user_data jsonb,
  -- What is particular to the type, under the key that reads show it by, for instance {"sonar_results": …}.
  type_data jsonb not null default '{}',
  created_at timestamptz not null,
  created_by_name text not null,
  primary key (org_id, id)
);
create index attestations_trail_name on attestations (org_id, trail_id, name, id);
create index attestations_fingerprint on attestations (org_id, artifact_fingerprint, name, id) where artifact_fingerprint is not null;
create trigger attestations_insert_only before update or delete on attestations
  for each row execute function forbid_change();
