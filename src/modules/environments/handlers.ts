import type { environmentEndpoints } from "../../contract/environments.ts";
import type { Handlers } from "../call.ts";

export const environmentHandlers: Handlers<typeof environmentEndpoints> = {};
