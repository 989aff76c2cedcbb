import { sql } from "kysely";

import { jsonb, moment } from "../../db/columns.ts";
import type { Executor, Tx } from "../../db/connect.ts";
import type { ActionType, OpenTarget } from "../../domain/actions.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** An action as it is shown. `environments` is null for flow actions, `flows` for environment actions. */
export interface ActionRow {
  number: number;
  name: string;
  type: ActionType;
  triggers: string[];
  targets: OpenTarget[];
  created_by: string;
  created_at: Timestamp;
  last_modified_at: Timestamp;
  environments: string[] | null;
  flows: string[] | null;
  /** Of the targets that something was sent to. */
  outcomes: ShownOutcome[];
}

/** When a target last got something, and last failed to. */
export interface ShownOutcome {
  position: number;
  last_success_at: Timestamp | null;
  last_failure_at: Timestamp | null;
}

/** Which actions are meant: of one type or of both, one of them or all. */
export interface ActionFilter {
  type?: ActionType;
  number?: number;
}

/** Actions with the present names of what they watch, newest first. One statement, however many there are. */
export async function listActions(db: Executor, orgId: string, filter: ActionFilter): Promise<ActionRow[]> {
  const { rows } = await sql<ActionRow>`
    select a.number, a.name, a.type, a.triggers, a.targets, a.created_by_name as created_by, a.created_at,
      a.last_modified_at,
      case a.type when 'env' then array(
        select e.name from action_environments as s
        join environments as e on e.org_id = s.org_id and e.id = s.environment_id
        where s.org_id = a.org_id and s.action_number = a.number order by s.position) end as environments,
      case a.type when 'flow' then array(
        select f.name from action_flows as s join flows as f on f.org_id = s.org_id and f.id = s.flow_id
        where s.org_id = a.org_id and s.action_number = a.number order by s.position) end as flows,
      (select coalesce(json_agg(json_build_object('position', o.position,
          'last_success_at', epoch(o.last_success_at), 'last_failure_at', epoch(o.last_failure_at))), '[]')
        from action_target_outcomes as o where o.org_id = a.org_id and o.action_number = a.number) as outcomes
    from actions as a
    where a.org_id = ${orgId}
      and (${filter.type ?? null}::text is null or a.type = ${filter.type ?? null})
      and (${filter.number ?? null}::integer is null or a.number = ${filter.number ?? null})
    order by a.number desc`.execute(db);
  return rows;
}

/** Whether an action has this number. */
export async function isAction(db: Executor, orgId: string, number: number): Promise<boolean> {
  const found = await db
    .selectFrom("actions")
    .select("number")
    .where("org_id", "=", orgId)
    .where("number", "=", number)
    .executeTakeFirst();
  return found !== undefined;
}

/** Makes the organization's other writers of actions wait until the transaction ends. Take it after other locks. */
export async function lockActions(tx: Tx, orgId: string): Promise<void> {
  await tx
    .selectFrom("org_counters")
    .select("org_id")
    .where("org_id", "=", orgId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/** What an action is compared by; what it watches is kept apart. */
export interface StoredAction {
  number: number;
  name: string;
  type: ActionType;
  triggers: string[];
  targets: OpenTarget[];
  target_secrets: Buffer;
}

function storedActions(tx: Tx, orgId: string, type: ActionType) {
  return tx
    .selectFrom("actions")
    .select(["number", "name", "triggers", "targets", "target_secrets"])
    .where("org_id", "=", orgId)
    .where("type", "=", type);
}

/** The newest action of this name. */
export async function findNewestAction(
  tx: Tx,
  orgId: string,
  type: ActionType,
  name: string,
): Promise<StoredAction | undefined> {
  const row = await storedActions(tx, orgId, type)
    .where("name", "=", name)
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, type, targets: row.targets as OpenTarget[] };
}

/** The action with this number. */
export async function findAction(
  tx: Tx,
  orgId: string,
  type: ActionType,
  number: number,
): Promise<StoredAction | undefined> {
  const row = await storedActions(tx, orgId, type).where("number", "=", number).executeTakeFirst();
  return row && { ...row, type, targets: row.targets as OpenTarget[] };
}

/** What a write stores. */
export interface ActionValues {
  name: string;
  triggers: string[];
  targets: OpenTarget[];
  target_secrets: Buffer;
}

/** Inserts an action under the organization's next number. @returns the number. */
export async function insertAction(
  tx: Tx,
  orgId: string,
  values: ActionValues & { type: ActionType; created_by_name: string },
  at: Timestamp,
): Promise<number> {
  const { action_number: number } = await tx
    .updateTable("org_counters")
    .set((eb) => ({ action_number: eb("action_number", "+", 1) }))
    .where("org_id", "=", orgId)
    .returning("action_number")
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("actions")
    .values({
      ...values,
      org_id: orgId,
      number,
      targets: jsonb(values.targets),
      created_at: moment(at),
      last_modified_at: moment(at),
    })
    .execute();
  return number;
}

/** Replaces what an action says. Its number, maker and time of making stay. */
export async function updateAction(
  tx: Tx,
  orgId: string,
  number: number,
  values: ActionValues,
  at: Timestamp,
): Promise<void> {
  await tx
    .updateTable("actions")
    .set({ ...values, targets: jsonb(values.targets), last_modified_at: moment(at) })
    .where("org_id", "=", orgId)
    .where("number", "=", number)
    .execute();
}

/** Deletes an action. @returns false when there is none with this number and type. */
export async function deleteAction(
  tx: Tx,
  orgId: string,
  number: number,
  type: ActionType | undefined,
): Promise<boolean> {
  const result = await tx
    .deleteFrom("actions")
    .where("org_id", "=", orgId)
    .where("number", "=", number)
    .$if(type !== undefined, (query) => query.where("type", "=", type!))
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
