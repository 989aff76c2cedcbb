import type { Tx } from "../../../db/connect.ts";
import { integer, uuid } from "../../../db/row.ts";
import { query, raw, type Sql, sql } from "../../../db/sql.ts";
import type { ActionType } from "../../../domain/actions.ts";

/** Tables of what an action watches, and the column that refers to it. */
interface SubjectTables {
  subjects: Sql;
  formerNames: Sql;
  links: Sql;
  id: Sql;
}

const subjectTables: Record<ActionType, SubjectTables> = {
  env: {
    subjects: raw("environments"),
    formerNames: raw("environment_former_names"),
    links: raw("action_environments"),
    id: raw("environment_id"),
  },
  flow: {
    subjects: raw("flows"),
    formerNames: raw("flow_former_names"),
    links: raw("action_flows"),
    id: raw("flow_id"),
  },
};

/**
 * Finds the environments or flows with these names, current or former, archived ones left out. They stay as they are
 * until the transaction ends: one that is being archived is waited for, and then is not found.
 * @returns for each name the id, or undefined.
 */
export async function findSubjects(
  tx: Tx,
  orgId: string,
  type: ActionType,
  names: readonly string[],
): Promise<(string | undefined)[]> {
  const { subjects, formerNames, id } = subjectTables[type];
  const rows = await tx.all(query({ position: integer, id: uuid })`
    select given.position::integer as position, subject.id
    from unnest(${names}::text[]) with ordinality as given (name, position)
    join ${subjects} as subject on subject.org_id = ${orgId} and subject.archived_at is null and subject.id = coalesce(
      (select live.id from ${subjects} as live where live.org_id = ${orgId} and live.name = given.name),
      (select former.${id} from ${formerNames} as former where former.org_id = ${orgId} and former.name = given.name))
    order by subject.id
    for key share of subject`);
  const found = new Map(rows.map((row) => [row.position, row.id]));
  return names.map((_, index) => found.get(index + 1));
}

/** Lists the ids of what an action watches, in order. */
export async function listSubjects(
  tx: Tx,
  orgId: string,
  type: ActionType,
  number: number,
): Promise<string[]> {
  const { links, id } = subjectTables[type];
  const rows = await tx.all(query({ id: uuid })`
    select ${id} as id from ${links} where org_id = ${orgId} and action_number = ${number} order by position`);
  return rows.map((row) => row.id);
}

/** Makes an action watch exactly these, in this order. */
export async function replaceSubjects(
  tx: Tx,
  orgId: string,
  action: { type: ActionType; number: number },
  ids: readonly string[],
): Promise<void> {
  const { links, id } = subjectTables[action.type];
  await tx.run(sql`delete from ${links} where org_id = ${orgId} and action_number = ${action.number}`);
  await tx.run(sql`
    insert into ${links} (org_id, action_number, position, ${id})
    select ${orgId}, ${action.number}, given.position, given.id
    from unnest(${ids}::uuid[]) with ordinality as given (id, position)`);
}

/** Says whether any action watches this environment or flow. */
export async function isWatched(
  tx: Tx,
  orgId: string,
  type: ActionType,
  subjectId: string,
): Promise<boolean> {
  const { links, id } = subjectTables[type];
  const row = await tx.first(query({})`
    select from ${links} where org_id = ${orgId} and ${id} = ${subjectId} limit 1`);
  return row !== undefined;
}

/**
 * Takes an environment or flow out of every action, and deletes the actions that watched nothing else.
 * @returns the numbers of the actions that watched it, in order.
 */
export async function deleteSubject(
  tx: Tx,
  orgId: string,
  type: ActionType,
  subjectId: string,
): Promise<number[]> {
  const { links, id } = subjectTables[type];
  const rows = await tx.all(query({ number: integer })`
    with gone as (
      delete from ${links} where org_id = ${orgId} and ${id} = ${subjectId} returning action_number
    ), emptied as (
      delete from actions using gone
      where actions.org_id = ${orgId} and actions.number = gone.action_number and not exists (
        select from ${links} as rest
        where rest.org_id = ${orgId} and rest.action_number = gone.action_number and rest.${id} <> ${subjectId}
      )
    )
    select action_number as number from gone order by action_number`);
  return rows.map(({ number }) => number);
}
