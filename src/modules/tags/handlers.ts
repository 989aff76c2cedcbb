import type { tagEndpoints } from "../../contract/tags.ts";
import type { Handlers } from "../call.ts";

export const tagHandlers: Handlers<typeof tagEndpoints> = {};
