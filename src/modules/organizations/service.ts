import type { Tx } from "../../db/connect.ts";
import type { Deps } from "../deps.ts";
import { addMember } from "../members/service.ts";
import { insertOrganization } from "./store.ts";

export interface OrganizationInput {
  name: string;
  kind: "personal" | "shared";
  /** Becomes the first admin. */
  owner_user_id: string;
}

/** Creates an organization whose owner is its admin. The name must be free. @returns its id. */
export async function createOrganization(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  input: OrganizationInput,
): Promise<string> {
  const created_at = deps.clock.now();
  const id = deps.ids.next();
  await insertOrganization(tx, { id, ...input, created_at });
  await addMember(tx, { org_id: id, user_id: input.owner_user_id, role: "admin", created_at });
  return id;
}
