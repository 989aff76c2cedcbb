import { setTimeout as delay } from "node:timers/promises";

import type { Executor } from "../connect.ts";
import { text, texts } from "../row.ts";
import { query } from "../sql.ts";

/** Lists transactions of Citus that are prepared on the node that has an organization, and wait to be committed there. */
async function listPrepared(db: Executor, orgId: string): Promise<string[]> {
  // Run there, whatever the table has of the organization.
  const { prepared } = await db.one(query("prepared-transactions", { prepared: texts })`
    select array(select gid from pg_prepared_xact() where starts_with(gid, 'citus_')) as prepared
    from org_counters where org_id = ${orgId} having true`);
  return prepared;
}

/** Lists those of some transactions that are committed on the coordinator. */
async function listCommitted(db: Executor, transactions: readonly string[]): Promise<string[]> {
  const rows = await db.all(query("committed-transactions", { gid: text })`
    select gid from pg_dist_transaction where gid = any(${transactions}::text[])`);
  return rows.map(({ gid }) => gid);
}

/** Between two looks, in milliseconds. */
const lookEveryMs = 20;

/**
 * Waits until whatever the coordinator of a distributed database has committed by now is committed on the node that has an
 * organization, too. That takes a moment, unless a node has just ended: Citus then commits it there within a minute of its return.
 * @param patienceMs how long to wait, in milliseconds.
 * @throws Error when that was not enough.
 */
export async function waitForCommits(db: Executor, orgId: string, patienceMs = 2_000): Promise<void> {
  const prepared = await listPrepared(db, orgId);
  if (prepared.length === 0) return;
  let waiting = await listCommitted(db, prepared);
  const since = performance.now();
  while (waiting.length > 0) {
    if (performance.now() - since >= patienceMs)
      throw new Error(
        "What was committed on the coordinator is not yet committed on the organization's node",
      );
    await delay(lookEveryMs);
    const still = new Set(await listPrepared(db, orgId));
    waiting = waiting.filter((gid) => still.has(gid));
  }
}
