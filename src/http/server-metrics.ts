import type { Deps } from "../modules/kernel/deps.ts";
import { showGauge } from "../modules/kernel/metrics.ts";

/** Shows how many servers answer requests on the database. Once for a program. */
export function showServers({ metrics }: Pick<Deps, "metrics">, count: () => number): void {
  const figure = {
    name: "waybill_servers",
    help: "Servers that answer requests on the database, which share the rate limits",
  };
  showGauge(metrics, figure, count);
}
