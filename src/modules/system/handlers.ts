import type { systemEndpoints } from "../../contract/system.ts";
import type { Handlers } from "../call.ts";

export const systemHandlers: Handlers<typeof systemEndpoints> = {};
