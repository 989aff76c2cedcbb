-- Every report of an artifact, and the first report of each fingerprint: the build.

create table artifacts (
  org_id uuid not null,
  id uuid not null,
  flow_id uuid not null,
  trail_id uuid not null,
  fingerprint text collate "C" not null,
  filename text not null,
  template_reference_name text collate "C" not null,
  description text,
  git_commit text collate "C",
  git_commit_info jsonb,
  repo_id uuid,
  repo_url text,
  commit_url text not null,
  build_url text not null,
  external_urls jsonb,
  annotations jsonb,
  user_data jsonb,
  commits_list jsonb,
  created_at timestamptz not null,
  created_by_name text not null,
  primary key (org_id, id)
);
create index artifacts_fingerprint on artifacts (org_id, fingerprint, id);
create index artifacts_flow on artifacts (org_id, flow_id, id);
create index artifacts_trail on artifacts (org_id, trail_id, id);
create index artifacts_commit on artifacts (org_id, git_commit, id) where git_commit is not null;
create index artifacts_repo on artifacts (org_id, repo_id, id) where repo_id is not null;
create trigger artifacts_insert_only before update or delete on artifacts
  for each row execute function forbid_change();

-- Numbered without gaps in order of time, within the organization and within the repo: the number of builds in any
-- window is the difference of two numbers, and any page of it starts at a known one.
create table builds (
  org_id uuid not null,
  number bigint not null,
  fingerprint text collate "C" not null,
  artifact_id uuid not null,
  flow_id uuid not null,
  repo_id uuid,
  repo_number bigint,
  created_at timestamptz not null,
  -- What never changes of its JSON, as members of an object without the braces, so that a page of builds is one range
  -- scan that only has to be joined with the names of flows and repos.
  json text not null,
  primary key (org_id, number)
);
-- No index by fingerprint: that is random, and an entry costs a page of its own. Who numbers builds looks whether the
-- fingerprint was reported before, with the numbering locked.
create index builds_created on builds (org_id, created_at, number);
create unique index builds_repo_number on builds (org_id, repo_id, repo_number) where repo_id is not null;
-- Finds where a moment, or a build of another repo, falls in a repo's own numbering.
create index builds_repo_created on builds (org_id, repo_id, created_at, number) where repo_id is not null;
create trigger builds_insert_only before update or delete on builds
  for each row execute function forbid_change();

-- The last number given in each repo. Changed only by the holder of the organization's counters.
create table repo_counters (
  org_id uuid not null,
  repo_id uuid not null,
  build_number bigint not null,
  primary key (org_id, repo_id)
);
