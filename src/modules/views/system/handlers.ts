import type { systemEndpoints } from "../../../contract/system.ts";
import { environmentPolicyJsonSchema } from "../../../domain/policy/format.ts";
import { flowTemplateJsonSchema } from "../../../domain/template/format.ts";
import type { Handlers } from "../../kernel/call.ts";

export const systemHandlers: Handlers<typeof systemEndpoints> = {
  flow_template_schema_v1: async (deps) => ({
    status: 200,
    body: flowTemplateJsonSchema(deps.links.api("/schemas/flow-template/v1")),
  }),
  environment_policy_schema_v1: async (deps) => ({
    status: 200,
    body: environmentPolicyJsonSchema(deps.links.api("/schemas/environment-policy/v1")),
  }),
};
