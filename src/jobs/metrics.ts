import { Gauge } from "prom-client";

import type { Deps } from "../modules/kernel/deps.ts";
import { askedSoon } from "../modules/kernel/metrics.ts";
import { countStopped } from "./stopped-store.ts";

/** Shows how many background jobs are tried no more, counted whenever somebody looks. Once for a program. */
export function showStoppedJobs(deps: Pick<Deps, "db" | "metrics">): void {
  const gauge: Gauge<"reason"> = new Gauge({
    name: "waybill_jobs_stopped",
    help: "Background jobs that are tried no more, of all servers on the database: set aside because servers ended while they ran, or failed for good",
    labelNames: ["reason"],
    registers: [deps.metrics.registry],
    collect: async () => {
      const count = await askedSoon(() => countStopped(deps.db));
      gauge.set({ reason: "set_aside" }, count?.set_aside ?? Number.NaN);
      gauge.set({ reason: "failed" }, count?.failed ?? Number.NaN);
    },
  });
}
