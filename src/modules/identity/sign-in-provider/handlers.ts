import type { identityEndpoints } from "../../../contract/identities.ts";
import type { Handlers } from "../../kernel/call.ts";
import { listIdentities } from "./store.ts";

export const identityHandlers: Handlers<typeof identityEndpoints> = {
  list_user_identities: async (deps, { principal }) => ({
    status: 200,
    body: principal.kind === "user" ? await listIdentities(deps.db, principal.id) : [],
  }),
};
