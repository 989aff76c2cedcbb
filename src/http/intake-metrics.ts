import { Counter, Gauge, type Registry } from "prom-client";

import type { Exhausted, Owner } from "./body-budget.ts";
import type { CutReason } from "./body-watch.ts";

/** Why a connection was refused: too many in all, or from its address. */
export type RefusedConnection = "all" | "address";

/** What the server refused to take, and what it has taken. */
export interface IntakeMetrics {
  refusedBodies: Counter<"reason">;
  refusedConnections: Counter<"reason">;
  refusedRequests: Counter;
  showBodies(used: (pool: Owner["pool"]) => number): void;
  showConnections(count: () => number): void;
}

const bodyReasons: readonly (Exhausted | CutReason)[] = [
  "callers_full",
  "callers_share",
  "strangers_full",
  "strangers_share",
  "stalled",
  "slow",
  "long",
];
const connectionReasons: readonly RefusedConnection[] = ["all", "address"];
const pools: readonly Owner["pool"][] = ["callers", "strangers"];

function refusals(
  registry: Registry,
  name: string,
  help: string,
  reasons: readonly string[],
): Counter<"reason"> {
  const counter = new Counter({ name, help, labelNames: ["reason"], registers: [registry] });
  // Shown before the first one, so that an increase is seen from the beginning.
  for (const reason of reasons) counter.inc({ reason }, 0);
  return counter;
}

/** Figures of one server, all of them zero. */
export function createIntakeMetrics(registry: Registry): IntakeMetrics {
  return {
    refusedBodies: refusals(
      registry,
      "waybill_refused_bodies_total",
      "Bodies that were not received to their end, by reason",
      bodyReasons,
    ),
    refusedConnections: refusals(
      registry,
      "waybill_refused_connections_total",
      "Connections that were refused, by reason",
      connectionReasons,
    ),
    refusedRequests: new Counter({
      name: "waybill_refused_pipelined_requests_total",
      help: "Requests that were refused because too many on their connection were under way",
      registers: [registry],
    }),
    showBodies: (used) =>
      void new Gauge({
        name: "waybill_body_bytes",
        help: "Bytes in memory of bodies whose requests are not answered yet",
        labelNames: ["of"],
        registers: [registry],
        collect() {
          for (const pool of pools) this.set({ of: pool }, used(pool));
        },
      }),
    showConnections: (count) =>
      void new Gauge({
        name: "waybill_connections",
        help: "Connections that are open",
        registers: [registry],
        collect() {
          this.set(count());
        },
      }),
  };
}
