import type { Deps } from "../../kernel/deps.ts";
import { askedSoon, showGauge } from "../../kernel/metrics.ts";
import { countWaiting } from "./delivery-store.ts";

/** Counts the deliveries that wait for their first or next attempt, of all servers on the database. */
export function countWaitingDeliveries({ db }: Pick<Deps, "db">): Promise<number> {
  return countWaiting(db);
}

/** Shows how many deliveries wait, counted whenever somebody looks. Once for a program. */
export function showWaitingDeliveries(deps: Deps): void {
  const figure = {
    name: "waybill_notifications_waiting",
    help: "Deliveries of notifications that wait for their first or next attempt, of all servers on the database",
  };
  showGauge(
    deps.metrics,
    figure,
    async () => (await askedSoon(() => countWaitingDeliveries(deps))) ?? Number.NaN,
  );
}
