import type { Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface NewUser {
  id: string;
  name: string;
  email: string | null;
  display_name: string | null;
  instance_admin: boolean;
  created_at: Timestamp;
}

/** Inserts a user. Name and mail address must be free. */
export async function insertUser(tx: Tx, user: NewUser): Promise<void> {
  await tx
    .insertInto("users")
    .values({ ...user, created_at: moment(user.created_at) })
    .execute();
}
