import type { auditEndpoints } from "../../contract/audit.ts";
import type { Handlers } from "../call.ts";

export const auditHandlers: Handlers<typeof auditEndpoints> = {};
