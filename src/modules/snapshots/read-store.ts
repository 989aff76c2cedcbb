import { sql } from "kysely";

import { instant } from "../../db/columns.ts";
import type { Executor, PreparedExecutor } from "../../db/connect.ts";
import type { Annotation } from "../../domain/snapshot/annotate.ts";
import type { NumberRange } from "../../domain/snapshot/intervals.ts";
import type { ArtifactDocument } from "../../domain/snapshot/documents.ts";
import type { SnapshotFlow } from "../../domain/snapshot/provenance.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
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

const snapshotStatement = {
  name: "snapshot",
  text: `select json_build_object('index', s.index, 'is_latest', next.created_at is null,
      'next_snapshot_timestamp', epoch(next.created_at), 'artifact_compliance_count', s.artifact_compliance_count,
      'timestamp', epoch(s.created_at), 'type', s.type, 'compliant', coalesce(s.compliant, false))::text as head,
    s.applied_policies::text as applied_policies
    from snapshots s
    left join snapshots next on next.org_id = $1::uuid and next.environment_id = $2::uuid and next.index = s.index + 1
    where s.org_id = $1::uuid and s.environment_id = $2::uuid and s.index = $3::integer`,
};

const documentsStatement = {
  name: "snapshot-documents",
  text: `select a.doc, a.decisions_digest, case when a.first_index = s.index then a.type else 'unchanged' end as type,
      case when a.first_index = s.index then a.was else a.now end as was, a.now
    from snapshots s
    cross join unnest(s.artifacts) with ordinality as shown (id, position)
    join snapshot_artifacts a on a.org_id = $1::uuid and a.environment_id = $2::uuid and a.id = shown.id
    where s.org_id = $1::uuid and s.environment_id = $2::uuid and s.index = $3::integer
    order by shown.position`,
};

const decisionsStatement = {
  name: "snapshot-decisions",
  text: `select digest, decisions from snapshot_decisions
    where org_id = $1::uuid and environment_id = $2::uuid and digest = any($3::text[])`,
};

/** Parts of a snapshot. */
export interface SnapshotText {
  /** JSON text of an object with what comes first. */
  head: string;
  /** JSON text of a list. */
  applied_policies: string;
  /** In the order in which they are shown. */
  documents: ArtifactDocument[];
  /** What policies decided, by the digests in the documents. */
  decisions: Map<string, string>;
}

/** A snapshot as JSON text, in three statements, two of them at once: what they read never changes. */
export async function findSnapshot(
  db: PreparedExecutor,
  orgId: string,
  snapshot: { environment_id: string; index: number },
): Promise<SnapshotText | undefined> {
  const values = [orgId, snapshot.environment_id, snapshot.index];
  const [[row], documents] = await Promise.all([
    db.prepared<Pick<SnapshotText, "head" | "applied_policies">>(snapshotStatement, values),
    db.prepared<ArtifactDocument>(documentsStatement, values),
  ]);
  if (row === undefined) return undefined;
  const digests = [...new Set(documents.map(({ decisions_digest }) => decisions_digest))];
  const shared = await db.prepared<{ digest: string; decisions: string }>(decisionsStatement, [
    orgId,
    snapshot.environment_id,
    digests,
  ]);
  const decisions = new Map(shared.map(({ digest, decisions: text }) => [digest, text]));
  return { ...row, documents, decisions };
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

/** An artifact of a snapshot, for programs: `readSnapshot` has it as it is shown. */
export interface SnapshotArtifactRow {
  name: string;
  fingerprint: string;
  compliant: boolean | null;
  /** In this snapshot. */
  annotation: Annotation;
  /** Start times, pods and context; of what has exited, as it was. */
  running: RunningArtifact;
  flows: SnapshotFlow[];
}

/** The artifacts of a snapshot in the order in which they are shown; what has exited in it comes last. */
export async function listSnapshotArtifacts(
  db: Executor,
  orgId: string,
  snapshot: { environment_id: string; index: number },
): Promise<SnapshotArtifactRow[]> {
  const { environment_id, index } = snapshot;
  const { rows } = await sql<SnapshotArtifactRow>`/* snapshot-artifacts */
    select a.name, a.fingerprint, a.compliant, a.running, a.flows,
      case when a.first_index = s.index then json_build_object('type', a.type, 'was', a.was, 'now', a.now)
        else json_build_object('type', 'unchanged', 'was', a.now, 'now', a.now) end as annotation
    from snapshots s
    cross join unnest(s.artifacts) with ordinality as shown (id, position)
    join snapshot_artifacts a on a.org_id = s.org_id and a.environment_id = s.environment_id and a.id = shown.id
    where s.org_id = ${orgId}::uuid and s.environment_id = ${environment_id}::uuid and s.index = ${index}::integer
    order by shown.position`.execute(db);
  return rows.map(({ name, fingerprint, running, ...rest }) => ({
    name,
    fingerprint,
    ...rest,
    running: { ...running, name, fingerprint },
  }));
}
