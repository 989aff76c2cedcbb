import type { Tx } from "../../db/connect.ts";
import type { Deps } from "../deps.ts";
import { createOrganization } from "../organizations/service.ts";
import { insertUser } from "./store.ts";

export interface UserInput {
  name: string;
  email?: string | undefined;
  display_name?: string | undefined;
  instance_admin?: boolean;
}

/** A user and the personal organization that came with them. */
export interface CreatedUser {
  user_id: string;
  org_id: string;
}

/** Creates a user together with their personal organization, of the same name, whose admin they are (I2). */
export async function createUser(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  input: UserInput,
): Promise<CreatedUser> {
  const user_id = deps.ids.next();
  await insertUser(tx, {
    id: user_id,
    name: input.name,
    email: input.email ?? null,
    display_name: input.display_name ?? null,
    instance_admin: input.instance_admin ?? false,
    created_at: deps.clock.now(),
  });
  const org_id = await createOrganization(deps, tx, {
    name: input.name,
    kind: "personal",
    owner_user_id: user_id,
  });
  return { user_id, org_id };
}
