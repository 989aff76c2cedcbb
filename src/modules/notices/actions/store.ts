import type { Executor, Tx } from "../../../db/connect.ts";
import {
  boolean,
  bytes,
  integer,
  json,
  nullable,
  oneOf,
  type RowOf,
  text,
  texts,
  timestamp,
  uuid,
} from "../../../db/row.ts";
import { constant, empty, jsonb, moment, query, sql } from "../../../db/sql.ts";
import { type ActionType, actionTypes, type OpenTarget } from "../../../domain/actions.ts";
import type { Timestamp } from "../../../lib/clock.ts";

/** When a target last got something, and last failed to. */
export interface ShownOutcome {
  position: number;
  last_success_at: Timestamp | null;
  last_failure_at: Timestamp | null;
}

/** An action as it is shown. */
const action = {
  number: integer,
  name: text,
  type: oneOf(actionTypes),
  triggers: texts,
  targets: json<OpenTarget[]>(),
  /** Has targets whose addresses were forgotten. */
  addresses_forgotten: boolean,
  created_by: text,
  created_at: timestamp,
  last_modified_at: timestamp,
  /** Null for flow actions. */
  environments: nullable(texts),
  /** Null for environment actions. */
  flows: nullable(texts),
  /** Of the targets that something was sent to. */
  outcomes: json<ShownOutcome[]>(),
};
export type ActionRow = RowOf<typeof action>;

/** Which actions are meant: of one type or of both, some of them or all. */
interface ActionFilter {
  type?: ActionType | undefined;
  numbers?: readonly number[];
}

/** Bytes of an action beside its targets, and of the name of each environment or flow that it watches: more or less. */
const [ownBytes, nameBytes] = [constant(500), constant(50)];

/** Lists the numbers of all actions, of one type or of both, newest first, and about how many bytes each has. */
export async function listActionKeys(
  db: Executor,
  orgId: string,
  type: ActionType | undefined,
): Promise<[number: number, bytes: number][]> {
  const rows = await db.all(query({ number: integer, bytes: integer })`
    select a.number, octet_length(a.targets::text) + ${ownBytes} + ${nameBytes} * (
      (select count(*) from action_environments s where s.org_id = ${orgId} and s.action_number = a.number)
      + (select count(*) from action_flows s where s.org_id = ${orgId} and s.action_number = a.number)) as bytes
    from actions a
    where a.org_id = ${orgId} and (${type ?? null}::text is null or a.type = ${type ?? null})
    order by a.number desc`);
  return rows.map(({ number, bytes: weight }) => [number, weight]);
}

/** Lists actions with the present names of what they watch, newest first. One statement, however many there are. */
export function listActions(db: Executor, orgId: string, filter: ActionFilter): Promise<ActionRow[]> {
  return db.all(query(action)`
    select a.number, a.name, a.type, a.triggers, a.targets,
      a.target_secrets is null and jsonb_path_exists(a.targets, '$[*] ? (@.type != "EMAIL")') as addresses_forgotten,
      a.created_by_name as created_by, a.created_at, a.last_modified_at,
      case a.type when 'env' then array(
        select e.name from action_environments as s
        join environments as e on e.org_id = s.org_id and e.id = s.environment_id
        where s.org_id = ${orgId} and s.action_number = a.number order by s.position) end as environments,
      case a.type when 'flow' then array(
        select f.name from action_flows as s join flows as f on f.org_id = s.org_id and f.id = s.flow_id
        where s.org_id = ${orgId} and s.action_number = a.number order by s.position) end as flows,
      (select coalesce(json_agg(json_build_object('position', o.position,
          'last_success_at', epoch(o.last_success_at), 'last_failure_at', epoch(o.last_failure_at))), '[]')
        from action_target_outcomes as o where o.org_id = ${orgId} and o.action_number = a.number) as outcomes
    from actions as a
    where a.org_id = ${orgId}
      and (${filter.type ?? null}::text is null or a.type = ${filter.type ?? null})
      and (${filter.numbers ?? null}::integer[] is null or a.number = any(${filter.numbers ?? null}::integer[]))
    order by a.number desc`);
}

/** Says whether an action has this number. */
export async function isAction(db: Executor, orgId: string, number: number): Promise<boolean> {
  const found = await db.first(query({ number: integer })`
    select number from actions where org_id = ${orgId} and number = ${number}`);
  return found !== undefined;
}

/** Makes the organization's other writers of actions wait until the transaction ends. Take it after other locks. */
export async function lockActions(tx: Tx, orgId: string): Promise<void> {
  await tx.one(query({ org_id: uuid })`
    select org_id from org_counters where org_id = ${orgId} for no key update`);
}

/** What an action is compared by; what it watches is kept apart. */
const storedAction = {
  number: integer,
  name: text,
  triggers: texts,
  targets: json<OpenTarget[]>(),
  /** Null when they were forgotten. */
  target_secrets: nullable(bytes),
};
export type StoredAction = RowOf<typeof storedAction>;

/** Finds the newest action of this type and name. */
export function findNewestAction(
  tx: Tx,
  orgId: string,
  type: ActionType,
  name: string,
): Promise<StoredAction | undefined> {
  return tx.first(query(storedAction)`
    select number, name, triggers, targets, target_secrets from actions
    where org_id = ${orgId} and type = ${type} and name = ${name} order by number desc limit 1`);
}

/** Finds the action of this type and number. */
export function findAction(
  tx: Tx,
  orgId: string,
  type: ActionType,
  number: number,
): Promise<StoredAction | undefined> {
  return tx.first(query(storedAction)`
    select number, name, triggers, targets, target_secrets from actions
    where org_id = ${orgId} and type = ${type} and number = ${number}`);
}

/** What a write stores. */
interface ActionValues {
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
  const { action_number: number } = await tx.one(query({ action_number: integer })`
    update org_counters set action_number = action_number + 1 where org_id = ${orgId} returning action_number`);
  const { type, name, triggers, targets, target_secrets, created_by_name } = values;
  await tx.run(sql`
    insert into actions (org_id, number, type, name, triggers, targets, target_secrets, created_by_name, created_at,
      last_modified_at)
    values (${orgId}, ${number}, ${type}, ${name}, ${triggers}, ${jsonb(targets)}, ${target_secrets},
      ${created_by_name}, ${moment(at)}, ${moment(at)})`);
  return number;
}

/** Replaces what an action says. Its number, maker and time of making stay. */
export async function updateAction(
  tx: Tx,
  orgId: string,
  number: number,
  { name, triggers, targets, target_secrets }: ActionValues,
  at: Timestamp,
): Promise<void> {
  await tx.run(sql`
    update actions
    set name = ${name}, triggers = ${triggers}, targets = ${jsonb(targets)}, target_secrets = ${target_secrets},
      last_modified_at = ${moment(at)}
    where org_id = ${orgId} and number = ${number}`);
}

/** Deletes an action. @returns false when there is none with this number and type. */
export async function deleteAction(
  tx: Tx,
  orgId: string,
  number: number,
  type: ActionType | undefined,
): Promise<boolean> {
  const ofType = type === undefined ? empty : sql`and type = ${type}`;
  return (
    (await tx.run(sql`delete from actions where org_id = ${orgId} and number = ${number} ${ofType}`)) > 0
  );
}
