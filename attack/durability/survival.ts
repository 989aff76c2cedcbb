import { withDatabase } from "../../bench/data.ts";
import type { Database } from "../../src/db/connect.ts";
import type { Kept } from "../writer.ts";

/** What became of a server's data in a hardship. */
export interface Survival extends Kept {
  cycles: number;
  /** Missing numbers in what is numbered without gaps. */
  gaps: number;
  /** Rows with a time in the future. */
  ahead: number;
  /** From each strike or start until requests are served, in milliseconds. */
  readyMs: number[];
  /** Remarks for the table. */
  notes: string[];
  /** Broken promises, in words. */
  broken: string[];
  /** Why it could not be run on this machine. */
  skipped?: string;
}

/** The failure to run a hardship that this machine does not allow. */
export class Skipped extends Error {}

/** Makes a survival of which nothing is known yet. */
export function emptySurvival(): Survival {
  return {
    cycles: 0,
    acknowledged: 0,
    lost: [],
    changed: [],
    gaps: 0,
    ahead: 0,
    readyMs: [],
    notes: [],
    broken: [],
  };
}

/** Queries of everything that is numbered from 1 without gaps: the highest number less the count. */
const numbered = [
  "select max(number) - count(*) as missing from builds group by org_id",
  "select max(repo_number) - count(*) from builds where repo_id is not null group by org_id, repo_id",
  "select max(seq) - count(*) from audit_log group by org_id",
  "select max(index) - count(*) from snapshots group by org_id, environment_id",
];

const missing = `select coalesce(sum(missing), 0)::int as count from (${numbered.join(" union all ")}) as each`;

const dated = ["builds", "artifacts", "attestations", "trails", "snapshots", "environments"];
const late = dated.map((table) => `select created_at as at from ${table}`).join(" union all ");
const ahead = `select count(*)::int as count from (${late} union all select occurred_at from audit_log) as each
  where at > now() + interval '10 minutes'`;

async function countOf(db: Database, statement: string): Promise<number> {
  const { rows } = await db.pool.query<{ count: number }>(statement);
  return rows[0]!.count;
}

/** Looks for gaps in numbers and for times in the future. */
export async function inspect(db: Database, survival: Survival): Promise<void> {
  survival.gaps = await countOf(db, missing);
  survival.ahead = await countOf(db, ahead);
}

/** Looks for them in the managed database of a running server. */
export function inspectManaged(dataDir: string, survival: Survival): Promise<void> {
  return withDatabase(dataDir, (db) => inspect(db, survival));
}

/** Lists the broken promises, in words. */
export function brokenOf(survival: Survival): string[] {
  const { lost, changed, gaps, ahead, broken } = survival;
  return [
    ...broken,
    ...(lost.length > 0 ? [`${lost.length} writes lost (${lost[0]!})`] : []),
    ...(changed.length > 0 ? [`${changed.length} writes changed (${changed[0]!})`] : []),
    ...(gaps > 0 ? [`${gaps} gaps in numbers`] : []),
    ...(ahead > 0 ? [`${ahead} times that have not come yet`] : []),
  ];
}
