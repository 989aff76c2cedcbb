import type { complianceHistoryEndpoints } from "../../../contract/compliance-history.ts";
import type { Handlers } from "../../kernel/call.ts";
import { readEnvironmentHistory, readOrganizationHistory } from "./service.ts";

export const complianceHistoryHandlers: Handlers<typeof complianceHistoryEndpoints> = {
  get_environment_compliance_history: async (deps, { org, params, query }) => ({
    status: 200,
    body: await readEnvironmentHistory(deps, org, params.env_name, query),
  }),
  get_organization_compliance_history: async (deps, { org, query }) => ({
    status: 200,
    body: await readOrganizationHistory(deps, org, query),
  }),
};
