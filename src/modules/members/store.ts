import type { Tx } from "../../db/connect.ts";
import { moment } from "../../db/columns.ts";
import type { Role } from "../../domain/roles.ts";
import type { Timestamp } from "../../lib/clock.ts";

export interface NewMembership {
  org_id: string;
  user_id: string;
  role: Role;
  created_at: Timestamp;
}

/** Makes a user a member of an organization they are not in yet. */
export async function insertMembership(tx: Tx, membership: NewMembership): Promise<void> {
  await tx
    .insertInto("memberships")
    .values({ ...membership, created_at: moment(membership.created_at) })
    .execute();
}
