-- Source repositories, captured from what pipelines report.

create table repos (
  org_id uuid not null references organizations (id),
  id uuid not null,
  -- The id the provider knows the repo by. It, with the provider, is the repo's identity; without one, the name is.
  repo_id text collate "C",
  provider text collate "C",
  name text collate "C" not null,
  url text not null,
  description text,
  vcs_instance text collate "C",
  namespace_path text[],
  additional_info jsonb,
  tags jsonb not null default '{}',
  created_at timestamptz not null,
  last_modified_at timestamptz not null,
  primary key (org_id, id)
);
create unique index repos_external_identity on repos (org_id, repo_id, provider) nulls not distinct where repo_id is not null;
create unique index repos_name_identity on repos (org_id, name, provider) nulls not distinct where repo_id is null;
create index repos_name on repos (org_id, name, id);
create index repos_name_substring on repos using gin (lower(name) gin_trgm_ops);
create index repos_tags on repos using gin (tags);
