import type { environmentExplanationEndpoints } from "../../../contract/environment-explanations.ts";
import type { Handlers } from "../../kernel/call.ts";
import { readEnvironmentExplanation } from "./service.ts";

export const environmentExplanationHandlers: Handlers<typeof environmentExplanationEndpoints> = {
  explain_environment: async (deps, { org, params, query }) => ({
    status: 200,
    body: await readEnvironmentExplanation(deps, org, params.env_name, query),
  }),
};
