import type { Deps } from "../deps.ts";
import { showGauge } from "../metrics.ts";

/** Shows in the metrics whether anything may be recorded now. */
export function showTime({ metrics, time }: Pick<Deps, "metrics" | "time">): void {
  const figure = {
    name: "waybill_time_right",
    help: "1 while the time is right, 0 while nothing is recorded because it is in doubt",
  };
  showGauge(metrics, figure, () => (time.refused === undefined ? 1 : 0));
}
