import type { repoEndpoints } from "../../contract/repos.ts";
import type { Handlers } from "../call.ts";

export const repoHandlers: Handlers<typeof repoEndpoints> = {};
