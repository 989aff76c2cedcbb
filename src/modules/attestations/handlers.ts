import type { attestationEndpoints } from "../../contract/attestations.ts";
import type { Handlers } from "../call.ts";

export const attestationHandlers: Handlers<typeof attestationEndpoints> = {};
