import type { Executor, Tx } from "../../../../db/connect.ts";
import {
  boolean,
  float,
  integer,
  json,
  nullable,
  type RowOf,
  text,
  texts,
  timestamp,
  uuid,
  uuids,
} from "../../../../db/row.ts";
import { command, param, type Parameter, query, type Sql, sql } from "../../../../db/sql.ts";
import { lineageText, type LineageKey, type Predecessor } from "../../../../domain/snapshot/flows-of.ts";
import type { VersionSummary } from "../../../../domain/snapshot/judging-plan.ts";
import type { SnapshotFlow } from "../../../../domain/snapshot/provenance.ts";
import type { RunningArtifact } from "../../../../domain/snapshot/running.ts";
import type { ConfirmedVersion, StoredVersion } from "../../../../domain/snapshot/versions.ts";
import { groupBy } from "../../../../lib/group.ts";
import { findingsOfVersion, flowsOfVersion } from "../document-sql.ts";
import { versionsThatRun } from "../what-runs-sql.ts";
import { presentFacts } from "./facts-sql.ts";

type RunningColumns = Omit<RunningArtifact, "name" | "fingerprint">;

/** An artifact that runs, as far as it takes to put it together with what runs elsewhere. */
export interface RunningVersion {
  environment_id: string;
  /** Of the version, numbered within the environment. */
  id: number;
  compliant: boolean | null;
  running: RunningArtifact;
}

const runningVersion = {
  environment_id: uuid,
  id: integer,
  name: text,
  fingerprint: text,
  compliant: nullable(boolean),
  running: json<RunningColumns>(),
};

/** Lists what runs in environments by their latest snapshots, by environment, in no order. */
export async function listRunning(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Map<string, RunningVersion[]>> {
  if (environmentIds.length === 0) return new Map();
  const org = param(orgId);
  const rows = await db.all(query("running-versions", runningVersion)`
    select v.environment_id, v.id, v.name, v.fingerprint, v.compliant, v.running
    from unnest((select ${environmentIds}::uuid[])) as asked (environment_id)
    cross join lateral ${versionsThatRun(org, sql`asked.environment_id`)} v`);
  const versions = rows.map(({ name, fingerprint, running, ...version }) => ({
    ...version,
    running: { name, fingerprint, ...running },
  }));
  return groupBy(versions, ({ environment_id }) => environment_id);
}

const earlierVersion = {
  environment_id: uuid,
  id: integer,
  name: text,
  fingerprint: text,
  /** Of the instances, Unix seconds. */
  started: json<number[]>(),
};

/** Lists what runs in environments by their latest snapshots, without where it runs, by environment, in no order. */
export async function listEarlier(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Map<string, RowOf<typeof earlierVersion>[]>> {
  const org = param(orgId);
  const rows = await db.all(query("earlier-versions", earlierVersion)`
    select v.environment_id, v.id, v.name, v.fingerprint, v.running -> 'creationTimestamp' as started
    from unnest((select ${environmentIds}::uuid[])) as asked (environment_id)
    cross join lateral ${versionsThatRun(org, sql`asked.environment_id`)} v`);
  return groupBy(rows, ({ environment_id }) => environment_id);
}

const placesSize = {
  environment_id: uuid,
  instances: float,
  /** Of the text that says where they run. */
  bytes: float,
};

/** Measures what runs in environments by their latest snapshots. Those where nothing runs are left out. */
export function listPlacesSizes(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<RowOf<typeof placesSize>[]> {
  const org = param(orgId);
  return db.all(query("places-sizes", placesSize)`
    select v.environment_id, sum(v.now)::float8 as instances, sum(octet_length(v.running::text))::float8 as bytes
    from unnest((select ${environmentIds}::uuid[])) as asked (environment_id)
    cross join lateral ${versionsThatRun(org, sql`asked.environment_id`)} v
    group by v.environment_id`);
}

/** A version in an environment. */
interface VersionKey {
  environment_id: string;
  id: number;
}

/** Writes a key of a map of versions of several environments. */
export function versionText({ environment_id, id }: VersionKey): string {
  return `${environment_id} ${id}`;
}

const storedVersion = {
  environment_id: uuid,
  id: integer,
  name: text,
  fingerprint: text,
  compliant: nullable(boolean),
  creationTimestamp: json<number[]>(),
  provenance: uuids,
  findings: text,
  digest: text,
  facts: text,
  flows: json<SnapshotFlow[]>(),
};

/** Reads some versions that run with all that later ones are compared with, by `versionText`. */
export async function listVersions(
  db: Executor,
  orgId: string,
  keys: readonly VersionKey[],
): Promise<Map<string, StoredVersion>> {
  if (keys.length === 0) return new Map();
  const environmentIds = keys.map(({ environment_id }) => environment_id);
  const ids = keys.map(({ id }) => id);
  const org = param(orgId);
  const rows = await db.all(query("some-versions", storedVersion)`
    select a.environment_id, a.id, a.name, a.fingerprint, a.compliant, a.provenance, ${findingsOfVersion(org)} as findings,
      a.digest, a.facts, a.running -> 'creationTimestamp' as "creationTimestamp", ${flowsOfVersion(org)} as flows
    from unnest((select ${environmentIds}::uuid[]), (select ${ids}::bigint[])) as asked (environment_id, id)
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${org}::uuid and environment_id = asked.environment_id and id = asked.id limit 1
    ) a`);
  return new Map(
    rows.map(({ environment_id, ...version }) => [versionText({ environment_id, id: version.id }), version]),
  );
}

const versionSummary = {
  id: integer,
  name: text,
  fingerprint: text,
  compliant: nullable(boolean),
  running: text,
  follows: texts,
  findings: nullable(text),
  is_unproven: boolean,
  is_stale: boolean,
};

/** Writes SQL for a `VersionSummary` of the version `v`, but for whether it is stale. */
function summaryColumns(org: Parameter): Sql {
  return sql`v.id, v.name, v.fingerprint, v.compliant, v.running::text as running, v.follows,
      case when not v.compliant then ${findingsOfVersion(org, "v")} end as findings, v.provenance = '{}' as is_unproven`;
}

/**
 * Lists what runs in an environment by its latest snapshot, in no order.
 * @param mayBeStale whether something of it may be stale. If not, looking for what is, most of the work, is left out.
 */
export function listVersionSummaries(
  db: Executor,
  orgId: string,
  environmentId: string,
  mayBeStale: boolean,
): Promise<VersionSummary[]> {
  const org = param(orgId);
  const name = mayBeStale ? "version-summaries" : "fresh-version-summaries";
  const isStale = mayBeStale ? sql`v.facts <> ${presentFacts(orgId, sql`v.fingerprint`)}` : sql`false`;
  return db.all(query(name, versionSummary)`
    select ${summaryColumns(org)}, ${isStale} as is_stale
    from ${versionsThatRun(org, sql`${environmentId}::uuid`)} v`);
}

/** Lists those of some versions in an environment that run, in no order, where none can be stale. */
export function listSomeSummaries(
  db: Executor,
  orgId: string,
  environmentId: string,
  ids: readonly number[],
): Promise<VersionSummary[]> {
  const org = param(orgId);
  return db.all(query("some-version-summaries", versionSummary)`
    select ${summaryColumns(org)}, false as is_stale
    from unnest((select ${ids}::bigint[])) as asked (id)
    cross join lateral (
      select * from snapshot_artifacts
      where org_id = ${org}::uuid and environment_id = ${environmentId}::uuid and id = asked.id limit 1) v
    where v.last_index is null`);
}

const shown = {
  /** Of all versions that the latest snapshot shows, what has exited among them. */
  ids: json<number[]>(),
  /** When the earlier snapshot was made; null if there is none. */
  earlier_at: nullable(timestamp),
};

/** Lists ids of the versions that a snapshot shows, and says when an earlier one was made. */
export function getShown(
  db: Executor,
  orgId: string,
  { environment_id, latest, earlier }: { environment_id: string; latest: number; earlier: number },
): Promise<RowOf<typeof shown>> {
  const [org, environment] = [param(orgId), param(environment_id)];
  return db.one(query("shown-versions", shown)`
    select to_json(s.artifacts) as ids, (
      select created_at from snapshots
      where org_id = ${org}::uuid and environment_id = ${environment}::uuid and index = ${earlier}::integer) as earlier_at
    from snapshots s
    where s.org_id = ${org}::uuid and s.environment_id = ${environment}::uuid and s.index = ${latest}::integer`);
}

/** Notes that versions hold by what flows know now. */
export async function updateConfirmed(
  tx: Tx,
  orgId: string,
  environmentId: string,
  confirmed: readonly ConfirmedVersion[],
): Promise<void> {
  await tx.run(command("confirm-versions")`
    update snapshot_artifacts a set facts = known.facts
    from json_to_recordset(${JSON.stringify(confirmed)}::json) as known (id bigint, facts text)
    where a.org_id = ${orgId}::uuid and a.environment_id = ${environmentId}::uuid and a.id = known.id
      and a.last_index is null`);
}

/** Numbers that say how much there is to judge in an environment, by its latest snapshot. */
const recordedSize = {
  id: uuid,
  name: text,
  /** What runs, each as often as flows know it, but at least once. No more than a little above the limit. */
  facts: float,
  most_flows: integer,
  /** Characters of all names. */
  names: float,
  longest_name: integer,
};
export type RecordedSize = RowOf<typeof recordedSize>;

/**
 * Measures how much there is to judge in environments. Looks at no more than `limit` artifacts of each, and at nothing of
 * them but numbers: one statement.
 */
export function listRecordedSizes(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
  limit: number,
): Promise<RecordedSize[]> {
  const org = param(orgId);
  return db.all(query("recorded-sizes", recordedSize)`
    select e.id, e.name, coalesce(sum(a.flows), 0)::float8 as facts, coalesce(max(a.flows), 0) as most_flows,
      coalesce(sum(a.name_length), 0)::float8 as names, coalesce(max(a.name_length), 0) as longest_name
    from environments e
    left join lateral (
      select greatest(1, cardinality(v.provenance)) as flows, length(v.name) as name_length
      from ${versionsThatRun(org, sql`e.id`)} v limit ${limit}::bigint) a on true
    where e.org_id = ${org}::uuid and e.id = any(${environmentIds}::uuid[])
    group by e.id, e.name order by e.name`);
}

const predecessor = {
  environment_id: uuid,
  flow_id: uuid,
  template_reference_name: text,
  fingerprint: text,
  found: json<Predecessor>(),
};

/**
 * Finds what ran last in an environment under each flow and template name, other than the artifact itself. By
 * environment, then by `lineageText` of what it precedes.
 */
export async function listPredecessors(
  db: Executor,
  orgId: string,
  wanted: readonly (LineageKey & { environment_id: string })[],
): Promise<Map<string, Map<string, Predecessor>>> {
  const rows = await db.all(query("predecessors", predecessor)`
    select w.environment_id, w.flow_id, w.template_reference_name, w.fingerprint, json_build_object('name', l.name,
      'fingerprint', l.fingerprint, 'trail_name', l.trail_name, 'git_commit', l.git_commit,
      'commit_url', l.commit_url, 'compliance_state', l.compliance_state) as found
    from json_to_recordset(${JSON.stringify(wanted)}::json) as w (environment_id uuid, flow_id uuid,
      template_reference_name text, fingerprint text)
    cross join lateral (
      select * from environment_lineage l
      where l.org_id = ${orgId}::uuid and l.environment_id = w.environment_id and l.flow_id = w.flow_id
        and l.template_reference_name = w.template_reference_name and l.fingerprint <> w.fingerprint
      order by l.started_index desc, l.fingerprint limit 1) l`);
  const environments = groupBy(rows, ({ environment_id }) => environment_id);
  return new Map(
    [...environments].map(([id, found]) => [id, new Map(found.map((row) => [lineageText(row), row.found]))]),
  );
}
