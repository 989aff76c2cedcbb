import type { overviewEndpoints } from "../../../contract/overview.ts";
import { trailWindow } from "../../../domain/overview.ts";
import type { Handlers } from "../../kernel/call.ts";
import { countTrails, getTallies, listAttention } from "./store.ts";

export const overviewHandlers: Handlers<typeof overviewEndpoints> = {
  get_overview: async ({ db, clock }, { org }) => {
    const now = clock.now();
    const since = now - trailWindow;
    const [tallies, trails, attention] = await Promise.all([
      getTallies(db, org.id, now),
      countTrails(db, org.id, since),
      listAttention(db, org.id, now),
    ]);
    const { total, compliant, non_compliant, unknown, stale, never_reported } = tallies;
    const { artifacts, unproven, failing, allowed } = tallies;
    return {
      status: 200,
      body: {
        environments: { total, compliant, non_compliant, unknown, stale, never_reported },
        running: { artifacts, unproven, non_compliant: failing, allow_listed: allowed },
        trails: { since, ...trails },
        attention,
      },
    };
  },
};
