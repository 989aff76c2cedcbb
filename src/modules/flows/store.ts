import { sql } from "kysely";

import { moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A flow as those who write need it. */
export interface FlowRow {
  id: string;
  name: string;
  description: string;
  visibility: string;
  template: string;
  template_id: string;
  repo_url: string | null;
  space_id: string | null;
  archived_at: Timestamp | null;
}

const columns = [
  "id",
  "name",
  "description",
  "visibility",
  "template",
  "template_id",
  "repo_url",
  "space_id",
  "archived_at",
] as const;

/**
 * The id behind a flow's name, or behind one it had before it was renamed, as long as no other flow has that. Archived
 * flows are found by their archived name only.
 */
export async function findFlowId(db: Executor, orgId: string, name: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`/* find-flow-id */
    select id from (
      select f.id, 1 as choice from flows f where f.org_id = ${orgId} and f.name = ${name}
      union all
      select f.id, 2 from flow_former_names former
      join flows f on f.org_id = former.org_id and f.id = former.flow_id and f.archived_at is null
      where former.org_id = ${orgId} and former.name = ${name}
    ) as named order by choice limit 1`.execute(db);
  return rows[0]?.id;
}

/** The ids behind names of flows, as `findFlowId` finds them; what no flow is called is left out. */
export async function listFlowIds(db: Executor, orgId: string, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct on (name) id from (
      select f.name, f.id, 1 as choice from flows f where f.org_id = ${orgId} and f.name = any (${names}::text[])
      union all
      select former.name, f.id, 2 from flow_former_names former
      join flows f on f.org_id = former.org_id and f.id = former.flow_id and f.archived_at is null
      where former.org_id = ${orgId} and former.name = any (${names}::text[])
    ) as named order by name, choice`.execute(db);
  return rows.map(({ id }) => id);
}

function flowsOf(tx: Tx, orgId: string) {
  return tx.selectFrom("flows").select(columns).where("org_id", "=", orgId);
}

/**
 * The flow with this id, which must exist. It is neither renamed nor archived until the transaction ends: whoever does
 * is waited for.
 */
export function getFlowHeld(tx: Tx, orgId: string, id: string): Promise<FlowRow> {
  return flowsOf(tx, orgId).where("id", "=", id).forKeyShare().executeTakeFirstOrThrow();
}

/** The flow with this id, locked against other writers until the transaction ends. */
export function getFlowLocked(tx: Tx, orgId: string, id: string): Promise<FlowRow> {
  return flowsOf(tx, orgId).where("id", "=", id).forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** The flow that has this very name now, locked against other writers until the transaction ends. */
export function findFlowLocked(tx: Tx, orgId: string, name: string): Promise<FlowRow | undefined> {
  return flowsOf(tx, orgId).where("name", "=", name).forNoKeyUpdate().executeTakeFirst();
}

export interface NewFlow {
  id: string;
  name: string;
  description: string;
  visibility: string;
  template: string;
  template_id: string;
  repo_url: string | null;
  created_at: Timestamp;
  created_by_name: string;
}

/**
 * Inserts a flow unless its name is taken, waiting for others who are about to take it. The name is then no longer a
 * former name of another flow.
 * @returns whether it was inserted.
 */
export async function insertFlow(tx: Tx, orgId: string, flow: NewFlow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("flows")
    .values({ ...flow, org_id: orgId, created_at: moment(flow.created_at) })
    .onConflict((conflict) => conflict.columns(["org_id", "name"]).doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) return false;
  await deleteFormerName(tx, orgId, flow.name);
  return true;
}

/** Changes some columns of a flow. */
export async function updateFlow(
  tx: Tx,
  orgId: string,
  id: string,
  changes: Partial<Omit<FlowRow, "id" | "archived_at">>,
): Promise<void> {
  await tx.updateTable("flows").set(changes).where("org_id", "=", orgId).where("id", "=", id).execute();
}

/** Gives a flow another name, and remembers the one it had. The name must be free. */
export async function renameFlow(tx: Tx, orgId: string, flow: FlowRow, name: string): Promise<void> {
  await updateFlow(tx, orgId, flow.id, { name });
  await deleteFormerName(tx, orgId, name);
  await tx
    .insertInto("flow_former_names")
    .values({ org_id: orgId, name: flow.name, flow_id: flow.id })
    .onConflict((conflict) => conflict.columns(["org_id", "name"]).doUpdateSet({ flow_id: flow.id }))
    .execute();
}

async function deleteFormerName(tx: Tx, orgId: string, name: string): Promise<void> {
  await tx.deleteFrom("flow_former_names").where("org_id", "=", orgId).where("name", "=", name).execute();
}

/** Whether any flow, archived or not, has this very name. */
export async function isFlowNameTaken(db: Executor, orgId: string, name: string): Promise<boolean> {
  const row = await db
    .selectFrom("flows")
    .select("id")
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row !== undefined;
}

/** Archives a flow under another name, which must be free, and forgets its former ones. */
export async function updateFlowArchived(
  tx: Tx,
  orgId: string,
  flow: FlowRow,
  archived: { name: string; at: Timestamp },
): Promise<void> {
  await tx
    .updateTable("flows")
    .set({ name: archived.name, original_name: flow.name, archived_at: moment(archived.at) })
    .where("org_id", "=", orgId)
    .where("id", "=", flow.id)
    .execute();
  await tx
    .deleteFrom("flow_former_names")
    .where("org_id", "=", orgId)
    .where("flow_id", "=", flow.id)
    .execute();
}
