import type { memberEndpoints } from "../../contract/members.ts";
import type { Handlers } from "../call.ts";

export const memberHandlers: Handlers<typeof memberEndpoints> = {};
