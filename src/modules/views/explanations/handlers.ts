import type { explanationEndpoints } from "../../../contract/explanations.ts";
import type { Handlers } from "../../kernel/call.ts";
import { readArtifactExplanation, readTrailExplanation } from "./service.ts";

export const explanationHandlers: Handlers<typeof explanationEndpoints> = {
  explain_trail: async (deps, { org, params }) => ({
    status: 200,
    body: await readTrailExplanation(deps, org, params),
  }),
  explain_artifact: async (deps, { org, params, query }) => ({
    status: 200,
    body: await readArtifactExplanation(deps, org, { ...params, ...query }),
  }),
};
