-- What runs in environments, and what ran: numbered snapshots, and one row for each version of an artifact in them.

-- A snapshot, as it was judged when it was made. Nothing of it is ever computed again.
create table snapshots (
  org_id uuid not null,
  environment_id uuid not null,
  -- 1, 2, 3 … in each environment, without gaps.
  index integer not null,
  created_at timestamptz not null,
  -- Null while it is unknown, which is so without policies.
  compliant boolean,
  -- The environment's type then.
  type text not null,
  cause text not null check (cause in ('report', 'policy', 'allow-list', 'members')),
  -- How many events there have been with this snapshot: those of several snapshots are a range of numbers.
  event_count bigint not null,
  artifact_compliance_count json not null,
  applied_policies json not null,
  -- Its rows in snapshot_artifacts, in the order in which they are shown.
  artifacts bigint[] not null,
  primary key (org_id, environment_id, index),
  foreign key (org_id, environment_id) references environments (org_id, id)
);
-- Without the number in it: the planner would look all of it through for one, where it knows little of an environment.
create index snapshots_created on snapshots (org_id, environment_id, created_at);
create trigger snapshots_insert_only before update or delete on snapshots
  for each row execute function forbid_change();

-- A version of an artifact in an environment: snapshots share a row for as long as nothing that is shown of the artifact
-- changes. Where type is not 'unchanged' the row is also an event of the snapshot first_index; what has exited has a row of
-- its own for the snapshot in which that was noticed.
create table snapshot_artifacts (
  org_id uuid not null,
  environment_id uuid not null,
  -- Numbered within the environment.
  id bigint not null,
  -- The snapshots that show it: from, to; null for as long as it is in the latest one and has not exited.
  first_index integer not null,
  last_index integer,
  -- Of the snapshot first_index.
  created_at timestamptz not null,
  name text not null,
  -- Empty when the digest is not known.
  fingerprint text collate "C" not null,
  -- The annotation in the snapshot first_index. In later ones it is unchanged, from now to now.
  type text not null,
  -- Events are numbered from 1 in each environment, without gaps, in the order of snapshots and ids.
  event_number bigint,
  was integer not null,
  now integer not null,
  compliant boolean,
  -- {"creationTimestamp": […], "pods": … and the context of its kind}.
  running json not null,
  -- What each flow that knows it knew then; the first one is the one that built it.
  flows json not null,
  -- Ids of the trails and repos in flows.
  provenance uuid[] not null,
  repo_ids uuid[] not null,
  -- What is compared to find that it changed, and that anything shown of it did.
  findings text not null,
  digest text not null,
  -- What flows knew of the fingerprint when the digest was last found to be right, as a text to compare (`factsText`).
  facts text not null,
  -- Fingerprints of what ran before it: whether those run is shown.
  follows text[] not null,
  -- As snapshots show it, but for what depends on the reader: U+0001 stands for the web address of the organization,
  -- U+0002 for the annotation. In place of what policies decided there are the flows that is about, each between two
  -- U+0003. None of these occurs in JSON otherwise.
  doc text not null,
  -- What they decided, in snapshot_decisions.
  decisions_digest text not null,
  check ((event_number is null) = (type = 'unchanged')),
  primary key (org_id, environment_id, id)
  -- No foreign key: who writes holds the environment's row locked, and environments are never removed.
) with (toast_tuple_target = 8160); -- Unpacking documents costs half of what reading a snapshot does.
create unique index snapshot_artifacts_events on snapshot_artifacts (org_id, environment_id, event_number)
  where event_number is not null;
create index snapshot_artifacts_events_created on snapshot_artifacts (org_id, created_at, environment_id, id)
  where type <> 'unchanged';
create index snapshot_artifacts_fingerprint on snapshot_artifacts (org_id, fingerprint, created_at);
create index snapshot_artifacts_running_fingerprint on snapshot_artifacts (org_id, fingerprint) where last_index is null;
create index snapshot_artifacts_running on snapshot_artifacts (org_id, environment_id, fingerprint)
  where last_index is null;

-- Only the end of a version is ever added to it; until then, facts that lead to the same contents.
create function end_version_only() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'DELETE' or old.last_index is not null or (new.last_index is null and new.facts = old.facts)
    or (new.org_id, new.environment_id, new.id, new.first_index, new.created_at, new.type, new.event_number, new.digest)
      is distinct from (old.org_id, old.environment_id, old.id, old.first_index, old.created_at, old.type,
        old.event_number, old.digest) then
    raise exception 'table % is insert-only', tg_table_name using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
create trigger snapshot_artifacts_insert_only before update or delete on snapshot_artifacts
  for each row execute function end_version_only();

-- What policies decided on an artifact as snapshots show it: mostly the rules, so that a few texts are shared by nearly all
-- artifacts. Between two U+0003 there is the number of the flow, from 0, of those that the artifact's document tells there.
create table snapshot_decisions (
  org_id uuid not null,
  environment_id uuid not null,
  -- Of the text.
  digest text collate "C" not null,
  decisions text not null,
  primary key (org_id, environment_id, digest)
);
create trigger snapshot_decisions_insert_only before update or delete on snapshot_decisions
  for each row execute function forbid_change();

-- What policies decided on the artifact of a document.
create function decisions_in(doc text, decisions text) returns json
  language sql immutable parallel safe as $$
  select string_agg(case when place % 2 = 1 then part else split_part(doc, U&'\0003', part::integer + 2) end, ''
    order by place)::json
  from unnest(string_to_array(decisions, U&'\0003')) with ordinality as parts (part, place)
$$;

-- Where an environment's record stands. Changed only by the holder of the environment's row.
create table environment_reports (
  org_id uuid not null,
  environment_id uuid not null,
  -- The index of the latest snapshot, and the id of the latest row in snapshot_artifacts.
  snapshot_count integer not null,
  artifact_count bigint not null,
  latest_at timestamptz not null,
  -- What an unchanged report is recognised by: what the last one said, and the number in the audit log up to which that
  -- took into account what flows know.
  report_digest text not null,
  seen_seq bigint not null,
  -- The policies and trusted artifacts that the latest snapshot was judged by, as a text to compare.
  judged_by text not null,
  primary key (org_id, environment_id),
  foreign key (org_id, environment_id) references environments (org_id, id)
) with (fillfactor = 70);

-- What has ever run in an environment under a flow's template name: where deployments find what came before them.
create table environment_lineage (
  org_id uuid not null,
  environment_id uuid not null,
  flow_id uuid not null,
  template_reference_name text collate "C" not null,
  fingerprint text collate "C" not null,
  -- The snapshot in which it started last.
  started_index integer not null,
  name text not null,
  trail_name text,
  git_commit text,
  commit_url text,
  compliance_state text,
  primary key (org_id, environment_id, flow_id, template_reference_name, fingerprint)
);
create index environment_lineage_started on environment_lineage
  (org_id, environment_id, flow_id, template_reference_name, started_index desc);
