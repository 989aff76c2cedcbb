import { sql } from "kysely";

import type { Tx } from "../../db/connect.ts";

/**
 * Takes an environment out of all actions, because it is archived. An action that watched no other goes with it.
 * The actions are locked first, so that of two environments leaving at once the second sees that it was the last.
 */
export async function forgetEnvironment(tx: Tx, orgId: string, environmentId: string): Promise<void> {
  const { rows } = await sql<{ number: number }>`
    select a.number from actions a
    where a.org_id = ${orgId}::uuid and a.number in (
      select ae.action_number from action_environments ae
      where ae.org_id = ${orgId}::uuid and ae.environment_id = ${environmentId}::uuid)
    order by a.number for update`.execute(tx);
  if (rows.length === 0) return;
  const numbers = rows.map(({ number }) => number);
  await sql`
    delete from action_environments
    where org_id = ${orgId}::uuid and environment_id = ${environmentId}::uuid`.execute(tx);
  await sql`
    delete from actions a where a.org_id = ${orgId}::uuid and a.number = any(${numbers}::int[])
      and not exists (select 1 from action_environments ae
        where ae.org_id = a.org_id and ae.action_number = a.number)`.execute(tx);
}
