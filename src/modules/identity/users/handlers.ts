import type { userEndpoints } from "../../../contract/users.ts";
import { listKeys } from "../../kernel/access/key-service.ts";
import type { Handlers } from "../../kernel/call.ts";
import {
  getDefaultOrganization,
  getProfile,
  issueUserKey,
  type OwnScope,
  requireProviderForKeys,
  requireUser,
  revokeUserKey,
  setDefaultOrganization,
} from "./service.ts";

/** A caller, and their own keys. @throws AppError forbidden for a service account. */
function ownKeys({ principal, actor }: OwnScope) {
  return { ...requireUser(principal), by: principal, actor };
}

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
    const scope = ownKeys(call);
    await requireProviderForKeys(deps, call.principal);
    const input = { ...call.body, created_by_name: call.actor.name };
    return { status: 201, body: await issueUserKey(deps, scope, input) };
  },

  delete_user_api_key: async (deps, call) => {
    await revokeUserKey(deps, ownKeys(call), call.params.key_id);
    return { status: 200, body: "revoked" };
  },
};
