import type { FastifyReply } from "fastify";
import { Counter } from "prom-client";

import type { Endpoint } from "../contract/endpoint.ts";
import type { ReplicaState } from "../db/replica.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { showGauge } from "../modules/kernel/metrics.ts";

/** Chooses what a request is answered from: the primary, or a replica in its place. */
export type Source = (endpoint: Endpoint, reply: FastifyReply) => Promise<Deps> | Deps;

const states: readonly ReplicaState[] = ["current", "behind", "away"];

function createCounter({ metrics, replica }: Deps): (state: ReplicaState) => void {
  const reads = new Counter({
    name: "waybill_replica_reads_total",
    help: "Reads that may be answered from the replica, by how it was found: current, and answered them; behind, or away",
    labelNames: ["replica"],
    registers: [metrics.registry],
  });
  for (const state of states) reads.inc({ replica: state }, 0);
  const lag = {
    name: "waybill_replica_lag_bytes",
    help: "Bytes of the log that the replica had not replayed when it was last looked at",
  };
  showGauge(metrics, lag, () => replica?.lag() ?? Number.NaN);
  return (state) => reads.inc({ replica: state });
}

/**
 * Makes what chooses between primary and replica. A read goes to the replica only if that has all that was acknowledged
 * before the request came, whoever wrote it and through whichever server; its answer says as of when.
 */
export function createSource(deps: Deps): Source {
  const { replica } = deps;
  if (replica === undefined) return () => deps;
  const fromReplica: Deps = { ...deps, db: replica.db };
  const count = createCounter(deps);
  return async (endpoint, reply) => {
    if (endpoint.fromReplica !== true) return deps;
    const asOf = deps.clock.now();
    const state = await replica.state();
    count(state);
    if (state !== "current") return deps;
    reply.header("x-waybill-as-of", String(asOf));
    return fromReplica;
  };
}
