import { Gauge } from "prom-client";

import type { Deps } from "../modules/kernel/deps.ts";

/** Shows how many servers answer requests on the database. Once for a program. */
export function showServers({ metrics }: Pick<Deps, "metrics">, count: () => number): void {
  metrics.registry.registerMetric(
    new Gauge({
      name: "waybill_servers",
      help: "Servers that answer requests on the database, which share the rate limits",
      registers: [],
      collect() {
        this.set(count());
      },
    }),
  );
}
