import type { backupEndpoints } from "../../../contract/backups.ts";
import type { Handlers } from "../../kernel/call.ts";
import { readBackups } from "./overview-service.ts";

export const backupHandlers: Handlers<typeof backupEndpoints> = {
  list_backups: async (deps) => ({ status: 200, body: await readBackups(deps) }),
};
