import type { spaceEndpoints } from "../../contract/spaces.ts";
import type { Handlers } from "../call.ts";

export const spaceHandlers: Handlers<typeof spaceEndpoints> = {};
