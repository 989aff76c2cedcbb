import type { serviceAccountEndpoints } from "../../../contract/service-accounts.ts";
import type { Handlers } from "../../kernel/call.ts";
import {
  createAccountKey,
  getAccountKey,
  listAccountKeys,
  revokeAccountKey,
  rotateAccountKey,
} from "./key-service.ts";
import {
  changeServiceAccount,
  createServiceAccount,
  getServiceAccount,
  removeServiceAccount,
  showAccount,
} from "./service.ts";
import { listServiceAccounts } from "./store.ts";

export const serviceAccountHandlers: Handlers<typeof serviceAccountEndpoints> = {
  list_service_accounts: async (deps, call) => ({
    status: 200,
    body: (await listServiceAccounts(deps.db, call.org.id)).map(showAccount),
  }),

  create_service_account: async (deps, call) => ({
    status: 201,
    body: await createServiceAccount(deps, call, call.body),
  }),

  get_service_account: async (deps, call) => ({
    status: 200,
    body: showAccount(await getServiceAccount(deps.db, call.org.id, call.params.name)),
  }),

  update_service_account: async (deps, call) => ({
    status: 200,
    body: await changeServiceAccount(deps, call, { ...call.body, name: call.params.name }),
  }),

  delete_service_account: async (deps, call) => {
    await removeServiceAccount(deps, call, call.params.name);
    return { status: 200, body: "OK" };
  },

  list_service_account_api_keys: async (deps, call) => ({
    status: 200,
    body: await listAccountKeys(deps, call, call.params.name),
  }),

  create_service_account_api_key: async (deps, call) => ({
    status: 201,
    body: await createAccountKey(deps, call, { ...call.body, name: call.params.name }),
  }),

  get_service_account_api_key: async (deps, call) => ({
    status: 200,
    body: await getAccountKey(deps, call, call.params),
  }),

  delete_service_account_api_key: async (deps, call) => {
    await revokeAccountKey(deps, call, call.params);
    return { status: 200, body: "revoked" };
  },

  rotate_service_account_api_key: async (deps, call) => ({
    status: 201,
    body: await rotateAccountKey(deps, call, { ...call.body, ...call.params }),
  }),
};
