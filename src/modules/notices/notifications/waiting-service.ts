import { Gauge } from "prom-client";

import type { Deps } from "../../kernel/deps.ts";
import { askedSoon } from "../../kernel/metrics.ts";
import { countWaiting } from "./delivery-store.ts";

/** Shows how many deliveries wait, counted whenever somebody looks. Once for a program. */
export function showWaitingDeliveries(deps: Deps): void {
  const gauge: Gauge = new Gauge({
    name: "waybill_notifications_waiting",
    help: "Deliveries of notifications that wait for their first or next attempt, of all servers on the database",
    registers: [deps.metrics.registry],
    collect: async () => gauge.set((await askedSoon(() => countWaiting(deps.db))) ?? Number.NaN),
  });
}
