import type { Database, Executor } from "../../../../db/connect.ts";
import { integer, nullable, oneOf, type RowOf, text } from "../../../../db/row.ts";
import { constant, moment, param, type Parameter, query, type Sql, sql } from "../../../../db/sql.ts";
import { annotationTypes } from "../../../../domain/snapshot/annotate.ts";
import type { ArtifactDocument } from "../../../../domain/snapshot/documents.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { storedDocument } from "../document-sql.ts";

/** Writes the query for how many snapshots an environment has; no row before its first report. */
function countOf(org: Parameter, environment: Parameter): Sql {
  return sql`
    select snapshot_count from environment_reports
    where org_id = ${org}::uuid and environment_id = ${environment}::uuid`;
}

/** Writes the query for the index of the snapshot in force at a moment; no row before the first one. */
function indexAt(org: Parameter, environment: Parameter, at: Timestamp): Sql {
  return sql`
    select index from snapshots
    where org_id = ${org}::uuid and environment_id = ${environment}::uuid and created_at <= ${moment(at)}
    order by created_at desc, index desc limit 1`;
}

/** Counts the snapshots of an environment, which is the index of the latest. */
export async function countSnapshots(db: Executor, orgId: string, environmentId: string): Promise<number> {
  const row = await db.first(
    query("count-snapshots", { snapshot_count: integer })`${countOf(param(orgId), param(environmentId))}`,
  );
  return row?.snapshot_count ?? 0;
}

/** Finds the index of the snapshot in force at a moment; 0 before the first one. */
export async function findIndexAt(
  db: Executor,
  orgId: string,
  environmentId: string,
  at: Timestamp,
): Promise<number> {
  const row = await db.first(
    query("snapshot-at", { index: integer })`${indexAt(param(orgId), param(environmentId), at)}`,
  );
  return row?.index ?? 0;
}

const snapshotAt = {
  /** 0 before the first one. */
  index: integer,
  /** How many snapshots there are. */
  count: integer,
};

/** Finds the snapshot in force at a moment, and counts all of them: together, so that none comes in between. */
export function findSnapshotAt(
  db: Executor,
  orgId: string,
  environmentId: string,
  at: Timestamp,
): Promise<RowOf<typeof snapshotAt>> {
  const [org, environment] = [param(orgId), param(environmentId)];
  return db.one(query("counted-snapshot-at", snapshotAt)`
    select coalesce((${indexAt(org, environment, at)}), 0) as index,
      coalesce((${countOf(org, environment)}), 0) as count`);
}

/** A snapshot by its number. */
export interface SnapshotKey {
  environment_id: string;
  index: number;
}

/** Stored bytes of applied policies, and of what fails them, up to which they are read with the rest. */
const fewBytes = { policies: constant(64 * 1024), versions: constant(4 * 1024) };

/** Writes SQL for a policy, `p.policy`, that was applied to the snapshot `s`, the one at `p.place`: JSON text as it is shown. */
function shownPolicy(org: Parameter, environment: Parameter): Sql {
  return sql`case when s.failing_versions is null then p.policy::text
    else left(p.policy::text, -1) || ',"failing_artifacts":' || coalesce((
      select json_agg(a.fingerprint order by failing.position)
      from json_array_elements_text(s.failing_versions -> (p.place - 1)::integer) with ordinality as failing (id, position)
      cross join lateral (
        select fingerprint from snapshot_artifacts
        where org_id = ${org}::uuid and environment_id = ${environment}::uuid and id = failing.id::bigint limit 1) a
    )::text, '[]') || '}' end`;
}

const eachPolicy = sql`json_array_elements(s.applied_policies) with ordinality as p (policy, place)`;

/** The parts of a snapshot before and after its artifacts. */
const snapshotFrame = {
  /** JSON text of an object with what comes first. */
  head: text,
  /** JSON text of objects with commas between; null when it is long, for `listAppliedPolicies`. */
  applied_policies: nullable(text),
  /** How many there are, with what has exited in it. */
  artifacts: integer,
};
type SnapshotFrame = RowOf<typeof snapshotFrame>;

/** Reads a snapshot, which must exist, without its artifacts. */
export function getSnapshotFrame(
  db: Executor,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): Promise<SnapshotFrame> {
  const [org, environment] = [param(orgId), param(environment_id)];
  return db.one(query("snapshot", snapshotFrame)`
    select json_build_object('index', s.index, 'is_latest', next.created_at is null,
      'next_snapshot_timestamp', epoch(next.created_at), 'artifact_compliance_count', s.artifact_compliance_count,
      'timestamp', epoch(s.created_at), 'type', s.type, 'compliant', coalesce(s.compliant, false))::text as head,
    case when pg_column_size(s.applied_policies) <= ${fewBytes.policies}
        and coalesce(pg_column_size(s.failing_versions), 0) <= ${fewBytes.versions}
      then (select coalesce(string_agg(${shownPolicy(org, environment)}, ',' order by p.place), '') from ${eachPolicy})
      end as applied_policies,
    cardinality(s.artifacts) as artifacts
    from snapshots s
    left join snapshots next
      on next.org_id = ${org}::uuid and next.environment_id = ${environment}::uuid and next.index = s.index + 1
    where s.org_id = ${org}::uuid and s.environment_id = ${environment}::uuid and s.index = ${index}::integer`);
}

/** Reads the policies applied one by one, as JSON text of objects with commas between. */
export async function* listAppliedPolicies(
  db: Database,
  orgId: string,
  { environment_id, index }: SnapshotKey,
): AsyncGenerator<string> {
  const [org, environment] = [param(orgId), param(environment_id)];
  for (let place = 1; ; place += 1) {
    const statement = query("snapshot-applied-policy", { policy: text })`
      select ${shownPolicy(org, environment)} as policy from snapshots s cross join lateral ${eachPolicy}
      where s.org_id = ${org}::uuid and s.environment_id = ${environment}::uuid and s.index = ${index}::integer
        and p.place = ${place}::bigint`;
    const found = await db.sliced(() => db.first(statement));
    if (found === undefined) return;
    yield place === 1 ? found.policy : `,${found.policy}`;
  }
}

/** Artifacts read at a time: so many, and of so many bytes, the first one whatever it weighs. */
export const slice = { rows: 256, bytes: constant(512 * 1024) };
/** The distance from the first place of a slice to its last. */
const upToLast = constant(slice.rows - 1);

/**
 * Writes tables and conditions for a slice of a snapshot's artifacts: the snapshot is `s`, an artifact `a`, its place in
 * the slice `shown.position`. Each is looked up by its key, whatever the planner expects. More conditions may follow.
 * @param place of the first one in the snapshot, from 1.
 */
export function artifactsFrom(orgId: string, { environment_id, index }: SnapshotKey, place: number): Sql {
  const [org, environment, first] = [param(orgId), param(environment_id), param(place)];
  return sql`from snapshots s
        cross join unnest(s.artifacts[${first}::integer:${first}::integer + ${upToLast}])
          with ordinality as shown (id, position)
        cross join lateral (
          select * from snapshot_artifacts
          where org_id = ${org}::uuid and environment_id = ${environment}::uuid and id = shown.id limit 1) a
        where s.org_id = ${org}::uuid and s.environment_id = ${environment}::uuid and s.index = ${index}::integer`;
}

const artifactDocument = {
  doc: text,
  fingerprint: text,
  flows: nullable(text),
  places: text,
  decisions_digest: text,
  type: oneOf(annotationTypes),
  was: integer,
  now: integer,
};

/**
 * Reads the artifacts of a snapshot in the order in which they are shown, some at a time: what they are never changes, so
 * the parts fit together.
 */
export async function* listDocuments(
  db: Database,
  orgId: string,
  key: SnapshotKey,
): AsyncGenerator<ArtifactDocument[]> {
  const shown = storedDocument(param(orgId));
  for (let from = 1; ;) {
    const statement = query("snapshot-documents", artifactDocument)`
      select doc, fingerprint, flows, places, decisions_digest, type, was, now from (
        select *, sum(octet_length(doc) + coalesce(octet_length(flows), 0) + octet_length(places)) over (order by position) as bytes from (
          select document.doc, document.flows, document.places, a.fingerprint, a.decisions_digest,
            case when a.first_index = a.shown_in then a.type else 'unchanged' end as type,
            case when a.first_index = a.shown_in then a.was else a.now end as was, a.now, a.position
          from (select a.*, s.index as shown_in, shown.position ${artifactsFrom(orgId, key, from)} offset 0) a
          cross join lateral (${shown}) document offset 0) one) shown
      where position = 1 or bytes <= ${slice.bytes}
      order by position`;
    const rows = await db.sliced(() => db.all(statement));
    if (rows.length === 0) return;
    yield rows;
    from += rows.length;
  }
}

/** Decisions read at a time, in bytes, the first one whatever it weighs. */
const decisionBytes = constant(1024 * 1024);

/** Decisions of policies, as JSON text with marks in it. */
const decisionsText = { digest: text, decisions: text };
type DecisionsRow = RowOf<typeof decisionsText>;

/** Reads what policies decided by these digests, each once: the first ones of them, as many as fit into memory. */
export function listDecisions(
  db: Database,
  orgId: string,
  environmentId: string,
  digests: readonly string[],
): Promise<DecisionsRow[]> {
  const statement = query("snapshot-decisions", decisionsText)`
    select digest, decisions from (
      select d.digest, d.decisions, asked.position, sum(octet_length(d.decisions)) over (order by asked.position) as bytes
      from unnest((select ${digests}::text[])) with ordinality as asked (digest, position)
      cross join lateral (
        select * from snapshot_decisions
        where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid and digest = asked.digest limit 1) d
    ) found
    where position = 1 or bytes <= ${decisionBytes}
    order by position`;
  return db.sliced(() => db.all(statement));
}
