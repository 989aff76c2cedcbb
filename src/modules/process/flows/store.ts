import type { Executor, Tx } from "../../../db/connect.ts";
import { boolean, nullable, oneOf, type RowOf, text, timestamp, uuid } from "../../../db/row.ts";
import { identifier, join, moment, param, type Query, query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { flowIdNamed } from "./flow-name-sql.ts";

/** Columns of a flow that writers need. */
const flow = {
  id: uuid,
  name: text,
  description: text,
  visibility: oneOf(["public", "private"]),
  template: text,
  template_id: uuid,
  repo_url: nullable(text),
  space_id: nullable(uuid),
  archived_at: nullable(timestamp),
  /** The name it had until it was archived; null unless it is. */
  original_name: nullable(text),
};

export type FlowRow = RowOf<typeof flow>;

/** Finds the id of the flow that a name means, as `flowIdNamed` says. */
export async function findFlowId(db: Executor, orgId: string, name: string): Promise<string | undefined> {
  const found = await db.one(query("find-flow-id", { id: nullable(uuid) })`
    select ${flowIdNamed(param(orgId), param(name))} as id`);
  return found.id ?? undefined;
}

/** Lists the ids of the flows that names mean, in no order; names that mean none are left out. */
export async function listFlowIds(db: Executor, orgId: string, names: readonly string[]): Promise<string[]> {
  const rows = await db.all(query({ id: nullable(uuid) })`
    select distinct ${flowIdNamed(param(orgId), raw("asked.name"))} as id
    from unnest(${names}::text[]) as asked (name)`);
  return rows.flatMap(({ id }) => id ?? []);
}

const namedFlow = {
  /** The name asked for. */
  name: text,
  id: uuid,
  /** Whether the name asked for is its own, not a former one. */
  by_name: boolean,
  archived: boolean,
};

export type NamedFlow = RowOf<typeof namedFlow>;

/**
 * Lists the flows that names mean, and holds them: they keep their names until the transaction ends, and one that is being
 * renamed or archived is waited for. Everything that is written under a flow holds this lock anyway; taken first, it is
 * not waited for with the numbering already locked.
 */
export function listFlowsByName(tx: Tx, orgId: string, names: readonly string[]): Promise<NamedFlow[]> {
  const org = param(orgId);
  return tx.all(query("flows-by-name", namedFlow)`
    select asked.name, flow.id, flow.name = asked.name as by_name, flow.archived
    -- Not the parameter itself: its length would count in the plan, which would be made each time.
    from unnest((select ${names}::text[])) as asked (name)
    cross join lateral (
      select f.id, f.name, f.archived_at is not null as archived from flows f
      where f.org_id = ${org} and f.id = ${flowIdNamed(org, raw("asked.name"))}
      limit 1 for key share
    ) as flow`);
}

/** Selects flows as writers need them. */
function flowsOf(orgId: string, condition: Sql): Query<FlowRow> {
  return query(flow)`
    select id, name, description, visibility, template, template_id, repo_url, space_id, archived_at, original_name
    from flows where org_id = ${orgId} and ${condition}`;
}

/**
 * Reads the flow with this id, which must exist. It is neither renamed nor archived until the transaction ends: whoever
 * does is waited for.
 */
export function getFlowHeld(tx: Tx, orgId: string, id: string): Promise<FlowRow> {
  return tx.one(flowsOf(orgId, sql`id = ${id} for key share`));
}

/** Reads the flow with this id, which must exist, and locks it against other writers until the transaction ends. */
export function getFlowLocked(tx: Tx, orgId: string, id: string): Promise<FlowRow> {
  return tx.one(flowsOf(orgId, sql`id = ${id} for no key update`));
}

/** Finds the flow that has this very name now, and locks it against other writers until the transaction ends. */
export function findFlowLocked(tx: Tx, orgId: string, name: string): Promise<FlowRow | undefined> {
  return tx.first(flowsOf(orgId, sql`name = ${name} for no key update`));
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
  const inserted = await tx.run(sql`
    insert into flows (org_id, id, name, description, visibility, template, template_id, repo_url, created_at,
      created_by_name)
    values (${orgId}, ${flow.id}, ${flow.name}, ${flow.description}, ${flow.visibility}, ${flow.template},
      ${flow.template_id}, ${flow.repo_url}, ${moment(flow.created_at)}, ${flow.created_by_name})
    on conflict (org_id, name) do nothing`);
  if (inserted === 0) return false;
  await deleteFormerName(tx, orgId, flow.name);
  return true;
}

export type ReportedFlow = Omit<NewFlow, "visibility" | "template" | "repo_url">;

/**
 * Inserts flows with this template, passing over those that somebody else has inserted meanwhile. The names are then no
 * longer former names of other flows.
 */
export async function insertMissingFlows(
  tx: Tx,
  orgId: string,
  flows: readonly ReportedFlow[],
  template: string,
): Promise<void> {
  const inserted = await tx.all(query({ name: text })`
    insert into flows (org_id, id, name, description, template, template_id, created_at, created_by_name)
    select ${orgId}, id, name, description, ${template}, template_id, to_timestamp(created_at), created_by_name
    from jsonb_to_recordset(${JSON.stringify(flows)}::jsonb)
      as i (id uuid, name text, description text, template_id uuid, created_at float8, created_by_name text)
    order by name collate "C"
    on conflict (org_id, name) do nothing
    returning name`);
  if (inserted.length === 0) return;
  // A statement of its own, to see the name that a flow had until it was renamed while this waited for it.
  await tx.run(sql`
    delete from flow_former_names
    where org_id = ${orgId} and name = any(${inserted.map(({ name }) => name)}::text[])`);
}

export type FlowChanges = Partial<Omit<FlowRow, "id" | "archived_at" | "original_name">>;

/** Changes some columns of a flow, at least one. */
export async function updateFlow(tx: Tx, orgId: string, id: string, changes: FlowChanges): Promise<void> {
  const assignments = Object.entries(changes).map(([column, value]) => sql`${identifier(column)} = ${value}`);
  await tx.run(sql`update flows set ${join(assignments)} where org_id = ${orgId} and id = ${id}`);
}

/** Gives a flow another name, which must be free, and remembers the one it had. */
export async function updateFlowName(tx: Tx, orgId: string, flow: FlowRow, name: string): Promise<void> {
  await updateFlow(tx, orgId, flow.id, { name });
  await moveToFormerNames(tx, orgId, flow, name);
}

/** Remembers the name that a flow had, and forgets who had its new one before. */
async function moveToFormerNames(tx: Tx, orgId: string, flow: FlowRow, name: string): Promise<void> {
  await deleteFormerName(tx, orgId, name);
  await tx.run(sql`
    insert into flow_former_names (org_id, name, flow_id) values (${orgId}, ${flow.name}, ${flow.id})
    on conflict (org_id, name) do update set flow_id = excluded.flow_id`);
}

async function deleteFormerName(tx: Tx, orgId: string, name: string): Promise<void> {
  await tx.run(sql`delete from flow_former_names where org_id = ${orgId} and name = ${name}`);
}

/** Says whether any flow, archived or not, has this very name. */
export async function isFlowNameTaken(db: Executor, orgId: string, name: string): Promise<boolean> {
  const taken = await db.first(query({ id: uuid })`
    select id from flows where org_id = ${orgId} and name = ${name}`);
  return taken !== undefined;
}

/** Archives a flow under another name, which must be free, and forgets its former ones. */
export async function updateFlowArchived(
  tx: Tx,
  orgId: string,
  flow: FlowRow,
  archived: { name: string; at: Timestamp },
): Promise<void> {
  await tx.run(sql`
    update flows set name = ${archived.name}, original_name = ${flow.name}, archived_at = ${moment(archived.at)}
    where org_id = ${orgId} and id = ${flow.id}`);
  await tx.run(sql`delete from flow_former_names where org_id = ${orgId} and flow_id = ${flow.id}`);
}

/**
 * Finds the id of the flow that a name means to who takes flows out of the archive: its own, the one that was archived last under it, or a former
 * one. In one statement: between two of them somebody else may have taken it out.
 */
export async function findFlowIdToUnarchive(
  db: Executor,
  orgId: string,
  name: string,
): Promise<string | undefined> {
  const [org, asked] = [param(orgId), param(name)];
  const found = await db.one(query("find-flow-to-unarchive", { id: nullable(uuid) })`
    select coalesce(
      (select f.id from flows f where f.org_id = ${org} and f.name = ${asked}),
      -- A name that another flow had before it was renamed is still that of the one that was archived under it.
      (select f.id from flows f where f.org_id = ${org} and f.original_name = ${asked} and f.archived_at is not null
        order by f.archived_at desc limit 1),
      ${flowIdNamed(org, asked)}) as id`);
  return found.id ?? undefined;
}

/** Takes a flow out of the archive under a name, which must be free. The one it was archived under keeps leading to it. */
export async function updateFlowUnarchived(
  tx: Tx,
  orgId: string,
  flow: FlowRow,
  name: string,
): Promise<void> {
  await tx.run(sql`
    update flows set name = ${name}, original_name = null, archived_at = null
    where org_id = ${orgId} and id = ${flow.id}`);
  await moveToFormerNames(tx, orgId, flow, name);
}
