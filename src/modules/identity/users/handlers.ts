import type { userEndpoints } from "../../../contract/users.ts";
import { listKeys } from "../../kernel/access/key-service.ts";
import { parseWireId } from "../../../lib/ids.ts";
import type { Handlers } from "../../kernel/call.ts";
import {
  getDefaultOrganization,
  getProfile,
  issueUserKey,
  requireProviderForKeys,
  requireUser,
  requireWholeKey,
  revokeUserKey,
  setDefaultOrganization,
} from "./service.ts";

export const userHandlers: Handlers<typeof userEndpoints> = {
  get_user: async (deps, call) => ({ status: 200, body: await getProfile(deps, call.principal) }),

  get_user_default_org: async (deps, call) => ({
    status: 200,
    body: { default_org_name: await getDefaultOrganization(deps, call.principal) },
  }),

  put_user_default_org: async (deps, call) => {
    await setDefaultOrganization(deps, call, call.params.org);
    return { status: 200, body: "OK" };
  },

  list_user_api_keys: async (deps, call) => ({
    status: 200,
    body: await listKeys(deps, deps.db, requireUser(call.principal)),
  }),

  create_user_api_key: async (deps, call) => {
    const scope = { ...requireUser(call.principal), actor: call.actor };
    requireWholeKey(call.principal);
    await requireProviderForKeys(deps, call.principal);
    const input = { ...call.body, created_by_name: call.actor.name };
    return { status: 201, body: await issueUserKey(deps, scope, input) };
  },

  delete_user_api_key: async (deps, call) => {
    const scope = { ...requireUser(call.principal), actor: call.actor };
    if (parseWireId(call.params.key_id) !== call.principal.api_key_id) requireWholeKey(call.principal);
    await revokeUserKey(deps, scope, call.params.key_id);
    return { status: 200, body: "revoked" };
  },
};
