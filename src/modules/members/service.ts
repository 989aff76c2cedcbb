import type { Tx } from "../../db/connect.ts";
import { insertMembership, type NewMembership } from "./store.ts";

/** Makes a user a member of an organization they are not in yet. */
export function addMember(tx: Tx, membership: NewMembership): Promise<void> {
  return insertMembership(tx, membership);
}
