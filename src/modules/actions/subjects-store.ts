import { type RawBuilder, sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
import type { ActionType } from "../../domain/actions.ts";

/** Where what an action watches is kept, by the action's type. */
interface SubjectTables {
  things: RawBuilder<unknown>;
  formerNames: RawBuilder<unknown>;
  links: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
}

export const subjectTables: Record<ActionType, SubjectTables> = {
  env: {
    things: sql.table("environments"),
    formerNames: sql.table("environment_former_names"),
    links: sql.table("action_environments"),
    id: sql.ref("environment_id"),
  },
  flow: {
    things: sql.table("flows"),
    formerNames: sql.table("flow_former_names"),
    links: sql.table("action_flows"),
    id: sql.ref("flow_id"),
  },
};

/**
 * The environments or flows with these names, current or former, archived ones left out. They stay as they are until
 * the transaction ends: one that is being archived is waited for, and then is not found.
 * @returns for each name the id, or undefined.
 */
export async function findSubjects(
  tx: Tx,
  orgId: string,
  type: ActionType,
  names: string[],
): Promise<(string | undefined)[]> {
  const { things, formerNames, id } = subjectTables[type];
  const { rows } = await sql<{ position: number; id: string }>`
    select given.position::integer as position, thing.id
    from unnest(${names}::text[]) with ordinality as given (name, position)
    join ${things} as thing on thing.org_id = ${orgId} and thing.archived_at is null and thing.id = coalesce(
      (select live.id from ${things} as live where live.org_id = ${orgId} and live.name = given.name),
      (select former.${id} from ${formerNames} as former where former.org_id = ${orgId} and former.name = given.name))
    order by thing.id
    for key share of thing`.execute(tx);
  const found = new Map(rows.map((row) => [row.position, row.id]));
  return names.map((_, index) => found.get(index + 1));
}

/** The ids of what an action watches, in order. */
export async function listSubjects(
  tx: Tx,
  orgId: string,
  type: ActionType,
  number: number,
): Promise<string[]> {
  const { links, id } = subjectTables[type];
  const { rows } = await sql<{ id: string }>`
    select ${id} as id from ${links} where org_id = ${orgId} and action_number = ${number} order by position
  `.execute(tx);
  return rows.map((row) => row.id);
}

/** Makes an action watch exactly these, in this order. */
export async function replaceSubjects(
  tx: Tx,
  orgId: string,
  action: { type: ActionType; number: number },
  ids: string[],
): Promise<void> {
  const { links, id } = subjectTables[action.type];
  await sql`delete from ${links} where org_id = ${orgId} and action_number = ${action.number}`.execute(tx);
  await sql`
    insert into ${links} (org_id, action_number, position, ${id})
    select ${orgId}, ${action.number}, given.position, given.id
    from unnest(${ids}::uuid[]) with ordinality as given (id, position)`.execute(tx);
}
