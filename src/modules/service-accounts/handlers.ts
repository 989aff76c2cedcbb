import type { serviceAccountEndpoints } from "../../contract/service-accounts.ts";
import type { Handlers } from "../call.ts";

export const serviceAccountHandlers: Handlers<typeof serviceAccountEndpoints> = {};
