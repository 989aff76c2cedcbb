import type { assertEndpoints } from "../../../contract/asserts.ts";
import type { Handlers } from "../../kernel/call.ts";
import { assertArtifact } from "./service.ts";

export const assertHandlers: Handlers<typeof assertEndpoints> = {
  assert_artifact: async (deps, { org, params, query }) => ({
    status: 200,
    body: await assertArtifact(deps, org, params.fingerprint, query),
  }),
};
