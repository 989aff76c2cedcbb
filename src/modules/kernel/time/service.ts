import { Gauge } from "prom-client";

import type { Deps } from "../deps.ts";

/** Shows in the metrics whether anything may be recorded now. */
export function showTime(deps: Pick<Deps, "metrics" | "time">): void {
  const gauge = new Gauge({
    name: "waybill_time_right",
    help: "1 while the time is right, 0 while nothing is recorded because it is in doubt",
    registers: [],
    collect() {
      this.set(deps.time.refused === undefined ? 1 : 0);
    },
  });
  deps.metrics.registry.registerMetric(gauge);
}
