import type { allowlistEndpoints } from "../../contract/allowlists.ts";
import type { Handlers } from "../call.ts";
import { allowArtifact, disallowArtifact } from "./entry-service.ts";
import { listEntries } from "./store.ts";

export const allowlistHandlers: Handlers<typeof allowlistEndpoints> = {
  list_allowlist: async (deps, { org }) => ({ status: 200, body: await listEntries(deps.db.query, org.id) }),
  allow_artifact_for_env: async (deps, call) => {
    await allowArtifact(deps, call, call.params.env_name, call.body);
    return { status: 201, body: call.body };
  },
  disallow_artifact_for_env: async (deps, call) => {
    await disallowArtifact(deps, call, call.params.env_name, call.params.fingerprint);
    return { status: 200, body: "OK" };
  },
};
