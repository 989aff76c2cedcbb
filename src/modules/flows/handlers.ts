import type { flowEndpoints } from "../../contract/flows.ts";
import type { Handlers } from "../call.ts";

export const flowHandlers: Handlers<typeof flowEndpoints> = {};
