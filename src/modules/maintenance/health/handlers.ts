import type { healthEndpoints } from "../../../contract/health.ts";
import type { Handlers } from "../../kernel/call.ts";

export const healthHandlers: Handlers<typeof healthEndpoints> = {
  instance_health: async (deps) => ({ status: 200, body: await deps.health.report() }),
};
