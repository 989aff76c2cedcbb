import { sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { Database, Executor, PreparedExecutor } from "../../db/connect.ts";
import type { NumberRange } from "../../domain/snapshot/intervals.ts";
import type { DiffableArtifact } from "../../domain/snapshot/diff.ts";
import type { ArtifactDocument } from "../../domain/snapshot/documents.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** How many snapshots an environment has, which is the index of the latest. */
export async function countSnapshots(db: Executor, orgId: string, environmentId: string): Promise<number> {
  const { rows } = await sql<{ snapshot_count: number }>`/* count-snapshots */
    select snapshot_count from environment_reports
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid`.execute(db);
  return rows[0]?.snapshot_count ?? 0;
}

/** The index of the snapshot in force at a moment; 0 before the first one. */
export async function findIndexAt(
  db: Executor,
  orgId: string,
  environmentId: string,
  at: Timestamp,
): Promise<number> {
  const { rows } = await sql<{ index: number }>`/* snapshot-at */
    select index from snapshots
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and created_at <= ${instant(at)}
    order by created_at desc, index desc limit 1`.execute(db);
  return rows[0]?.index ?? 0;
}

/** Stored bytes of applied policies up to which they are read with the rest. */
const fewBytes = 64 * 1024;

const snapshotStatement = {
  name: "snapshot",
  text: `select json_build_object('index', s.index, 'is_latest', next.created_at is null,
      'next_snapshot_timestamp', epoch(next.created_at), 'artifact_compliance_count', s.artifact_compliance_count,
      'timestamp', epoch(s.created_at), 'type', s.type, 'compliant', coalesce(s.compliant, false))::text as head,
    case when pg_column_size(s.applied_policies) <= ${fewBytes} then s.applied_policies::text end as applied_policies,
    cardinality(s.artifacts) as artifacts
    from snapshots s
    left join snapshots next on next.org_id = $1::uuid and next.environment_id = $2::uuid and next.index = s.index + 1
    where s.org_id = $1::uuid and s.environment_id = $2::uuid and s.index = $3::integer`,
};

/** A snapshot by its number. */
export interface SnapshotKey {
  environment_id: string;
  index: number;
}

/** What comes before and after the artifacts of a snapshot. */
export interface SnapshotFrame {
  /** JSON text of an object with what comes first. */
  head: string;
  /** JSON text of a list; null when it is long, for `listAppliedPolicies`. */
  applied_policies: string | null;
  /** How many there are, with what has exited in it. */
  artifacts: number;
}

/** A snapshot without its artifacts; undefined when there is no such. */
export async function findSnapshotFrame(
  db: PreparedExecutor,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): Promise<SnapshotFrame | undefined> {
  const [row] = await db.prepared<SnapshotFrame>(snapshotStatement, [orgId, environment_id, index]);
  return row;
}

/** In characters: finding a part means to unpack all of it. */
const partLength = 1024 * 1024;

const appliedPoliciesStatement = {
  name: "snapshot-applied-policies",
  text: `select substr(applied_policies::text, $4::integer, ${partLength}) as part from snapshots
    where org_id = $1::uuid and environment_id = $2::uuid and index = $3::integer`,
};

/** The policies applied, as JSON text of a list, in parts. */
export async function* listAppliedPolicies(
  db: Database,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): AsyncGenerator<string> {
  for (let from = 1; ; from += partLength) {
    const values = [orgId, environment_id, index, from];
    const [row] = await db.sliced(() => db.prepared<{ part: string }>(appliedPoliciesStatement, values));
    yield row!.part;
    // Characters may be two units long, so that a full part is never taken for a shorter one.
    if (row!.part.length < partLength) return;
  }
}

/** Artifacts read at a time: so many, and of so many bytes, the first one whatever it weighs. */
const slice = { rows: 256, bytes: 512 * 1024 };

// Each artifact is looked up by its key, whatever the planner expects.
const documentsStatement = {
  name: "snapshot-documents",
  text: `select doc, decisions_digest, type, was, now from (
      select a.doc, a.decisions_digest, case when a.first_index = s.index then a.type else 'unchanged' end as type,
        case when a.first_index = s.index then a.was else a.now end as was, a.now, shown.position,
        sum(octet_length(a.doc)) over (order by shown.position) as bytes
      from snapshots s
      cross join unnest(s.artifacts[$4::integer:$4::integer + ${slice.rows - 1}]) with ordinality as shown (id, position)
      cross join lateral (
        select * from snapshot_artifacts where org_id = $1::uuid and environment_id = $2::uuid and id = shown.id limit 1) a
      where s.org_id = $1::uuid and s.environment_id = $2::uuid and s.index = $3::integer) shown
    where position = 1 or bytes <= ${slice.bytes}
    order by position`,
};

/**
 * The artifacts of a snapshot in the order in which they are shown, some at a time: what they are never changes, so the
 * parts fit together.
 */
export async function* listDocuments(
  db: Database,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): AsyncGenerator<ArtifactDocument[]> {
  for (let from = 1; ;) {
    const values = [orgId, environment_id, index, from];
    const rows = await db.sliced(() => db.prepared<ArtifactDocument>(documentsStatement, values));
    if (rows.length === 0) return;
    yield rows;
    from += rows.length;
  }
}

/** Decisions read at a time, in bytes, the first one whatever it weighs. */
const decisionBytes = 1024 * 1024;

const decisionsStatement = {
  name: "snapshot-decisions",
  text: `select digest, decisions from (
      select d.digest, d.decisions, asked.position, sum(octet_length(d.decisions)) over (order by asked.position) as bytes
      from unnest($3::text[]) with ordinality as asked (digest, position)
      cross join lateral (
        select * from snapshot_decisions
        where org_id = $1::uuid and environment_id = $2::uuid and digest = asked.digest limit 1) d) found
    where position = 1 or bytes <= ${decisionBytes}
    order by position`,
};

/** What policies decided, by digest. */
export interface DecisionsRow {
  digest: string;
  decisions: string;
}

/** What policies decided by these digests, each once: the first ones of them, as many as fit into memory. */
export function listDecisions(
  db: Database,
  orgId: string,
  environmentId: string,
  digests: readonly string[],
): Promise<DecisionsRow[]> {
  return db.sliced(() => db.prepared<DecisionsRow>(decisionsStatement, [orgId, environmentId, digests]));
}

/** One snapshot in a list. */
export interface SnapshotRow {
  index: number;
  from: Timestamp;
  /** Null for the latest. */
  to: Timestamp | null;
  compliant: boolean;
}

/** Snapshots that one statement lists at most, which tells the planner that it is few whatever the numbers are. */
const largestPage = 1000;

/** Snapshots by their numbers, in their order: `largestPage` at most. */
export async function listSnapshots(
  db: Executor,
  orgId: string,
  environmentId: string,
  { first, last }: NumberRange,
): Promise<SnapshotRow[]> {
  const { rows } = await sql<SnapshotRow>`/* snapshots */
    select s.index, s.created_at as "from", next.created_at as "to", coalesce(s.compliant, false) as compliant
    from (
      select index, created_at, compliant from snapshots
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid
        and index between ${first}::integer and ${last}::integer
      order by index limit ${sql.raw(String(largestPage))}
    ) s
    left join lateral (
      select created_at from snapshots
      where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and index = s.index + 1 limit 1
    ) next on true
    order by s.index`.execute(db);
  return rows;
}

/** An artifact that runs in a snapshot, with its place among all that is shown. */
interface RunningRow extends DiffableArtifact {
  position: number;
}

const runningStatement = {
  name: "snapshot-running",
  text: `select name, fingerprint, running -> 'creationTimestamp' as "creationTimestamp", array(
      select json_object_keys(case when json_typeof(running -> 'pods') = 'object' then running -> 'pods' else '{}' end)
    ) as pods, flows -> 0 ->> 'flow_name' as flow_name, flows -> 0 ->> 'commit_url' as commit_url, position
    from (
      select a.name, a.fingerprint, a.running, a.flows, shown.position,
        sum(octet_length(a.running::text)) over (order by shown.position) as bytes,
        row_number() over (order by shown.position) as number
      from snapshots s
      cross join unnest(s.artifacts[$4::integer:$4::integer + ${slice.rows - 1}]) with ordinality as shown (id, position)
      cross join lateral (
        select * from snapshot_artifacts where org_id = $1::uuid and environment_id = $2::uuid and id = shown.id limit 1) a
      where s.org_id = $1::uuid and s.environment_id = $2::uuid and s.index = $3::integer
        and not (a.type = 'exited' and a.first_index = s.index)) shown
    where number = 1 or bytes <= ${slice.bytes}
    order by position`,
};

/** What runs in a snapshot, some at a time; what has exited in it is left out, and comes last. */
export async function* listRunning(
  db: Database,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): AsyncGenerator<RunningRow[]> {
  for (let from = 1; ;) {
    const values = [orgId, environment_id, index, from];
    const rows = await db.sliced(() =>
      db.prepared<RunningRow & Record<string, unknown>>(runningStatement, values),
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    from += last.position;
  }
}
