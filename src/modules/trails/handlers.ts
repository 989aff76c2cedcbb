import type { trailEndpoints } from "../../contract/trails.ts";
import type { Handlers } from "../call.ts";

export const trailHandlers: Handlers<typeof trailEndpoints> = {};
