import type { qualityEndpoints } from "../../contract/quality.ts";
import type { Handlers } from "../call.ts";

export const qualityHandlers: Handlers<typeof qualityEndpoints> = {};
