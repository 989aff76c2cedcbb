import type { organizationEndpoints } from "../../contract/organizations.ts";
import type { Handlers } from "../call.ts";
import { getOrganization } from "./store.ts";

export const organizationHandlers: Handlers<typeof organizationEndpoints> = {
  get_organization: async (deps, call) => ({
    status: 200,
    body: { ...(await getOrganization(deps.db.query, call.org.id)), experimental_features_enabled: false },
  }),
};
