import { captureStatement } from "../db/capture.ts";
import type { Database, Tx } from "../db/connect.ts";
import { explain } from "../db/explain.ts";
import { sqlStateOf } from "../db/sqlstate.ts";
import { growingTables } from "../domain/migration-effects.ts";
import { outlineOf, type PlanStep, type StatementPlan, wholeReads } from "../domain/plans.ts";
import { daySeconds } from "../lib/units.ts";
import { findCaller } from "../modules/kernel/access/store.ts";
import {
  findSample,
  listStatementHistories,
  listTableRows,
  type Sample,
} from "../modules/maintenance/health/sample-store.ts";
import { findTrailAttestations } from "../modules/process/attestations/read-store.ts";
import { listArtifactNames } from "../modules/process/attestations/store.ts";
import { listBuilds } from "../modules/process/builds/store.ts";
import { findCaseByHeads, listDecidingCases } from "../modules/process/compliance/case-store.ts";
import { findReported } from "../modules/process/intake/look-store.ts";
import { listTrailEvents } from "../modules/process/trails/event-store.ts";
import { findTrail } from "../modules/process/trails/list-store.ts";
import { findEnvironment } from "../modules/runtime/environments/store.ts";
import { listEvents } from "../modules/runtime/snapshots/history/event-store.ts";
import { listSnapshots } from "../modules/runtime/snapshots/read/list-store.ts";
import { getSnapshotFrame } from "../modules/runtime/snapshots/read/store.ts";
import { getReportedRecord } from "../modules/runtime/snapshots/report/environment-store.ts";
import { listFacts } from "../modules/runtime/snapshots/report/facts-store.ts";
import { listRunning } from "../modules/runtime/snapshots/report/version-store.ts";
import { findEnvironmentCase } from "../modules/views/asserts/store.ts";
import { countTrails } from "../modules/views/overview/store.ts";
import { listRunningRows } from "../modules/views/running/rows-store.ts";
import { listFound } from "../modules/views/search/store.ts";

/** Members of a sample that are there. */
type Given<Name extends keyof Sample> = {
  [Key in keyof Sample]: Key extends Name ? NonNullable<Sample[Key]> : Sample[Key];
};

interface HotStatement {
  name: string;
  /** Runs it with values of the sample; undefined where the sample lacks them. */
  ask(sample: Sample): ((db: Tx) => Promise<unknown>) | undefined;
}

/** Describes a statement that needs these members of the sample. */
function hot<Name extends keyof Sample>(
  name: string,
  needs: readonly Name[],
  ask: (db: Tx, sample: Given<Name>) => Promise<unknown>,
): HotStatement {
  return {
    name,
    ask: (sample) =>
      needs.every((need) => sample[need] !== null) ? (db) => ask(db, sample as Given<Name>) : undefined,
  };
}

const page = 20;
const week = 7 * daySeconds;
const now = (): number => Date.now() / 1000;
const links = { api: "http://localhost/api/v2", web: "http://localhost", evidence: false };
/** The last of so many, from 1 on. */
const latest = (count: number) => ({ first: Math.max(1, count - page + 1), last: Math.max(1, count) });

/** The statements that are run most: those of every request, of reports, and of the pages that are looked at all day. */
const hotStatements: readonly HotStatement[] = [
  hot("list-callers", ["key_hash"], (db, s) =>
    findCaller(db, { key: s.key_hash, session: null, org: s.org_name, address: null }, now()),
  ),
  hot("find-reported", ["flow_name", "trail_name"], (db, s) =>
    findReported(db, s.org_id, [{ flow_name: s.flow_name, name: s.trail_name }], []),
  ),
  hot("deciding-cases", ["trail_id"], (db, s) => listDecidingCases(db, s.org_id, [s.trail_id])),
  hot("explained-case", ["trail_id"], (db, s) => findCaseByHeads(db, s.org_id, s.trail_id)),
  hot("attested-artifacts", ["trail_id", "fingerprint"], (db, s) =>
    listArtifactNames(db, s.org_id, [{ trail_id: s.trail_id, fingerprint: s.fingerprint }]),
  ),
  hot("find-trail", ["flow_id", "trail_name"], (db, s) =>
    findTrail(db, s.org_id, { flow_id: s.flow_id, name: s.trail_name }),
  ),
  hot("trail-events", ["trail_id"], (db, s) => listTrailEvents(db, s.org_id, s.trail_id)),
  hot("attestations-of-trail", ["flow_name", "trail_name", "attestation_name"], (db, s) =>
    findTrailAttestations(db, { id: s.org_id, name: s.org_name }, links, {
      flow: s.flow_name,
      trail: s.trail_name,
      name: s.attestation_name,
    }),
  ),
  hot("list-builds", [], (db, s) =>
    listBuilds(db, s.org_id, {
      repos: undefined,
      start_ts: now() - week,
      end_ts: now(),
      offset: 0,
      limit: page,
      artifacts_url: links.api,
    }),
  ),
  hot("find-environment", ["environment_name"], (db, s) => findEnvironment(db, s.org_id, s.environment_name)),
  hot("reported-record", ["environment_id"], (db, s) => getReportedRecord(db, s.org_id, s.environment_id)),
  hot("running-versions", ["environment_id"], (db, s) => listRunning(db, s.org_id, [s.environment_id])),
  hot("runtime-facts", ["fingerprint"], (db, s) => listFacts(db, s.org_id, [s.fingerprint], "none")),
  hot("snapshot", ["environment_id", "snapshot_count"], (db, s) =>
    getSnapshotFrame(db, s.org_id, { environment_id: s.environment_id, index: s.snapshot_count }),
  ),
  hot("snapshots", ["environment_id", "snapshot_count"], (db, s) =>
    listSnapshots(db, s.org_id, s.environment_id, latest(s.snapshot_count)),
  ),
  hot("events", ["environment_id", "event_count"], (db, s) =>
    listEvents(db, s.org_id, s.environment_id, latest(s.event_count)),
  ),
  hot("running-rows", ["environment_id"], (db, { environment_id, ...s }) =>
    listRunningRows(
      db,
      s.org_id,
      s.running.map((id) => ({ environment_id, id })),
    ),
  ),
  hot("assert-environment", ["fingerprint", "environment_name"], (db, s) =>
    findEnvironmentCase(db, s.org_id, { fingerprint: s.fingerprint, flow_name: null }, s.environment_name),
  ),
  hot("search-artifacts", ["fingerprint"], (db, s) =>
    listFound(db, s.org_id, { fingerprints: [s.fingerprint], commits: [] }, page),
  ),
  hot("overview-trails", [], (db, s) => countTrails(db, s.org_id, now() - week)),
];

/** How long one statement may take, in milliseconds. */
const patienceMs = 3_000;
/** Waiting for a lock, or longer than it may. */
const stopped: ReadonlySet<string | undefined> = new Set(["57014", "55P03"]);

/** A statement that was looked at, with why there is no plan of it where there is none. */
interface PlanFinding {
  name: string;
  plan: StatementPlan | string;
}

/** A plan, and what PostgreSQL counts its statement under. */
type KnownPlan = Omit<StatementPlan, "history"> & { queryId: string | undefined };

async function planOf(
  db: Database,
  { name, ask }: { name: string; ask: (db: Tx) => Promise<unknown> },
  tables: ReadonlyMap<string, number>,
): Promise<KnownPlan | string> {
  const sent = await captureStatement(name, ask);
  if (sent === undefined) throw new Error(`No statement is run under the name ${name}`);
  try {
    const { Plan: plan, queryId, ...times } = await explain(db, sent, patienceMs);
    const step = plan as PlanStep;
    return {
      name,
      planning_ms: times["Planning Time"],
      ms: times["Execution Time"],
      rows: Math.round((step["Actual Rows"] ?? 0) * (step["Actual Loops"] ?? 0)),
      whole: wholeReads(step, tables),
      outline: outlineOf(step),
      queryId,
    };
  } catch (error) {
    const state = sqlStateOf(error);
    if (stopped.has(state)) return `stopped after ${patienceMs / 1000} s`;
    // What PostgreSQL says may quote a value.
    if (state !== undefined) return `cannot be run (${state})`;
    throw error;
  }
}

/** Adds what was counted of statements before they were looked at. */
async function withHistories(
  db: Database,
  found: readonly { name: string; plan: KnownPlan | string }[],
): Promise<PlanFinding[]> {
  const ids = found.flatMap(({ plan }) => (typeof plan === "string" ? [] : (plan.queryId ?? [])));
  const histories = await listStatementHistories(db, ids);
  return found.map(({ name, plan }) => {
    if (typeof plan === "string") return { name, plan };
    const { queryId, ...known } = plan;
    return { name, plan: { ...known, history: histories.get(queryId ?? "") } };
  });
}

/**
 * Runs the statements that are run most, each once with values that the database has, in transactions that write nothing and are
 * rolled back.
 * @returns their plans, and the names of those for which there is nothing in the database yet.
 */
export async function lookAtPlans(db: Database): Promise<{ plans: PlanFinding[]; missing: string[] }> {
  const sample = await findSample(db);
  const tables = await listTableRows(db, growingTables);
  const plans: { name: string; plan: KnownPlan | string }[] = [];
  const missing: string[] = [];
  for (const { name, ask } of hotStatements) {
    const run = sample && ask(sample);
    if (run === undefined) missing.push(name);
    else plans.push({ name, plan: await planOf(db, { name, ask: run }, tables) });
  }
  return { plans: await withHistories(db, plans), missing };
}
