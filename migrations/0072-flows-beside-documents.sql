-- waybill: rewrites
-- What flows knew of a version, and what it was found by, never change, but its row is written anew when the version ends. They
-- are most of what is left of rows, so they stand apart as documents do: flows beside the document, which is shown from
-- them; findings beside what policies decided, which many versions have in common. What has exited refers to both. Versions
-- from before have theirs where they are: nothing is rewritten.
alter table snapshot_documents
  -- As snapshot_artifacts.flows was. Where U+0004 stands in the document, it is shown from these.
  add column flows json;
alter table snapshot_decisions
  -- As snapshot_artifacts.findings was.
  add column findings text;
alter table snapshot_artifacts
  -- Of the flows, in their order; the first one is the one that built it. Null for versions from before.
  add column flow_ids uuid[],
  alter column flows drop not null,
  alter column findings drop not null,
  -- What has exited ran as the version did that it repeats.
  alter column running drop not null;

-- Events by the flow that built the artifact, whichever way a version says it. Every row is read once and none written: eight
-- seconds for a million of 2 KB.
drop index snapshot_artifacts_flow_events;
create index snapshot_artifacts_flow_events on snapshot_artifacts
  (org_id, (coalesce(flow_ids[1], (flows -> 0 ->> 'flow_id')::uuid)), created_at, environment_id, id)
  where type <> 'unchanged' and provenance <> '{}';
