import { transaction } from "../../src/db/transaction.ts";
import type { Occurrence, OccurrenceFacts } from "../../src/domain/notifications/occurrence.ts";
import { notify } from "../../src/modules/notices/notifications/service.ts";
import { flowAction } from "./actions.ts";
import type { TestApp, TestOrg } from "./app.ts";
import { runPendingJobs } from "./jobs.ts";

export type Json = Record<string, unknown>;

/** The id of an environment or a flow. */
async function idOf(app: TestApp, org: TestOrg, table: "environments" | "flows", name: string) {
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    `select id from ${table} where org_id = $1 and name = $2`,
    [org.id, name],
  );
  return rows[0]!.id;
}

/** Something that happened in environment `prod`. */
export async function inProd(
  app: TestApp,
  org: TestOrg,
  trigger: string,
  facts: OccurrenceFacts = {},
): Promise<Occurrence> {
  const id = await idOf(app, org, "environments", "prod");
  return { trigger, subject: { kind: "environment", id, name: "prod" }, at: app.clock.now(), facts };
}

/** Lets things happen, in a transaction of their own. */
export function happen(app: TestApp, org: TestOrg, ...occurrences: Occurrence[]): Promise<void> {
  return transaction(app.deps.db, (tx) => notify(tx, org.id, occurrences));
}

/** Makes a flow action. @returns its number. */
export async function watchFlow(org: TestOrg, change: Json): Promise<number> {
  const answer = await org.member.put(`/actions/${org.name}/flows`, flowAction(change));
  if (answer.status !== 201) throw new Error(answer.text);
  return (await org.member.get(`/actions/${org.name}`)).json[0].number;
}

/** An action's newest hundred deliveries as they are listed. */
export async function deliveriesOf(org: TestOrg, action = 1): Promise<Json[]> {
  return (await org.member.get(`/actions/${org.name}/${action}/deliveries?per_page=100`)).json.deliveries;
}

/** Makes every attempt that is due, and those that are to be made later. */
export async function runAllAttempts(app: TestApp, org: TestOrg): Promise<void> {
  await app.deps.db.pool.query(
    "update graphile_worker._private_jobs set run_at = now() where payload ->> 'org_id' = $1",
    [org.id],
  );
  await runPendingJobs(app);
}

/** Forgets what earlier tests left to be attempted. */
export async function forgetAttempts(app: TestApp): Promise<void> {
  await app.deps.db.pool.query("delete from graphile_worker._private_jobs");
}
