import type { actionEndpoints } from "../../contract/actions.ts";
import type { Handlers } from "../call.ts";

export const actionHandlers: Handlers<typeof actionEndpoints> = {};
