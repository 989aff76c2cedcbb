import type { Executor } from "../../../db/connect.ts";
import { uuid } from "../../../db/row.ts";
import { query } from "../../../db/sql.ts";

const home = { id: uuid };

/** Finds the organization that is a user's alone. */
export async function findHome(db: Executor, userId: string): Promise<string | undefined> {
  const found = await db.first(query(home)`
    select id from organizations where owner_user_id = ${userId} and kind = 'personal' limit 1`);
  return found?.id;
}
