import { setTimeout as delay } from "node:timers/promises";

import { Gauge } from "prom-client";

import type { Deps } from "../deps.ts";
import { countWaiting } from "./delivery-store.ts";

/** Whoever reads figures does not wait longer for one of them, in milliseconds. */
const patienceMs = 1000;

/** As many as can be told: not a number while the database does not say. */
async function waitingNow(deps: Deps): Promise<number> {
  const silence = new AbortController();
  const unknown = delay(patienceMs, Number.NaN, { signal: silence.signal, ref: false });
  try {
    return await Promise.race([countWaiting(deps.db.query), unknown]);
  } catch {
    return Number.NaN;
  } finally {
    silence.abort();
    unknown.catch(() => {});
  }
}

/** Shows how many deliveries wait, counted whenever somebody looks. Once for a program. */
export function showWaitingDeliveries(deps: Deps): void {
  const gauge: Gauge = new Gauge({
    name: "waybill_notifications_waiting",
    help: "Deliveries of notifications that wait for their first or next attempt, of all servers on the database",
    registers: [deps.metrics.registry],
    collect: async () => gauge.set(await waitingNow(deps)),
  });
}
