import { sql } from "kysely";

import type { Tx } from "../../db/connect.ts";
import type { ActionType } from "../../domain/actions.ts";
import { lockActions } from "./store.ts";
import { subjectTables } from "./subjects-store.ts";

/**
 * Takes one environment or flow out of every action, and deletes the actions that watched nothing else. The caller
 * has written the record itself before, so nobody can make a new action for it meanwhile.
 */
async function forgetSubject(tx: Tx, orgId: string, type: ActionType, subjectId: string): Promise<void> {
  const { links, id } = subjectTables[type];
  const watched = await sql`
    select from ${links} where org_id = ${orgId} and ${id} = ${subjectId} limit 1`.execute(tx);
  if (watched.rows.length === 0) return;
  await lockActions(tx, orgId);
  await sql`
    with gone as (
      delete from ${links} where org_id = ${orgId} and ${id} = ${subjectId} returning action_number
    )
    delete from actions using gone
    where actions.org_id = ${orgId} and actions.number = gone.action_number and not exists (
      select from ${links} as rest
      where rest.org_id = ${orgId} and rest.action_number = gone.action_number and rest.${id} <> ${subjectId}
    )`.execute(tx);
}

/**
 * Takes an environment that is being archived out of every action, and deletes the actions that watched nothing else.
 * Call it after the archiving has been written.
 */
export function forgetEnvironment(tx: Tx, orgId: string, environmentId: string): Promise<void> {
  return forgetSubject(tx, orgId, "env", environmentId);
}

/**
 * Takes a flow that is being archived out of every action, and deletes the actions that watched nothing else.
 * Call it after the archiving has been written.
 */
export function forgetFlow(tx: Tx, orgId: string, flowId: string): Promise<void> {
  return forgetSubject(tx, orgId, "flow", flowId);
}
