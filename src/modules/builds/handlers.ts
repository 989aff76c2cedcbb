import type { buildEndpoints } from "../../contract/builds.ts";
import type { Handlers } from "../call.ts";

export const buildHandlers: Handlers<typeof buildEndpoints> = {};
