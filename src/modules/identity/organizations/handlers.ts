import type { organizationEndpoints } from "../../../contract/organizations.ts";
import { weakerRole } from "../../../domain/roles.ts";
import type { Handlers } from "../../kernel/call.ts";
import { changeOrganization, createSharedOrganization } from "./service.ts";
import { getOrganization, listOrganizationsOfServiceAccount, listOrganizationsOfUser } from "./store.ts";

const withoutExperiments = { experimental_features_enabled: false } as const;

export const organizationHandlers: Handlers<typeof organizationEndpoints> = {
  list_organizations: async (deps, call) => {
    const { kind, id, limits } = call.principal;
    const list = kind === "user" ? listOrganizationsOfUser : listOrganizationsOfServiceAccount;
    const organizations = await list(deps.db, id);
    const body = organizations.map((row) => ({
      ...row,
      role: weakerRole(row.role, limits.role),
      ...withoutExperiments,
    }));
    return { status: 200, body };
  },

  create_organization: async (deps, call) => {
    const { name, owner, display_name, description, public: isPublic } = call.body;
    const created = await createSharedOrganization(deps, call.actor, {
      name,
      owner: owner ?? call.principal.name,
      display_name: display_name ?? "",
      description: description ?? "",
      public: isPublic ?? false,
      source: "app",
    });
    return { status: 201, body: { ...created, ...withoutExperiments } };
  },

  get_organization: async (deps, call) => ({
    status: 200,
    body: { ...(await getOrganization(deps.db, call.org.id)), ...withoutExperiments },
  }),

  update_organization: async (deps, call) => ({
    status: 200,
    body: { ...(await changeOrganization(deps, call, call.body)), ...withoutExperiments },
  }),

  update_experimental_features: async () => ({ status: 200, body: "OK" }),
};
