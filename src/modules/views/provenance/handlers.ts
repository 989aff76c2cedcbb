import type { provenanceEndpoints } from "../../../contract/provenance.ts";
import type { Handlers } from "../../kernel/call.ts";
import { readProvenance } from "./service.ts";

export const provenanceHandlers: Handlers<typeof provenanceEndpoints> = {
  get_provenance: async (deps, { org, params }) => ({
    status: 200,
    body: await readProvenance(deps, org, params.fingerprint),
  }),
};
