import type { Batcher } from "../lib/batcher.ts";
import type { Deps } from "./deps.ts";

/**
 * Keeps the queues in which reports of each organization wait to be written together, for as long as the program runs.
 * @param create makes a queue.
 * @returns what finds the queue of an organization.
 */
export function createReportQueues<Org extends { id: string }, Report, Result>(
  create: (deps: Deps, org: Org) => Batcher<Report, Result>,
): (deps: Deps, org: Org) => Batcher<Report, Result> {
  const queues = new WeakMap<Deps, Map<string, Batcher<Report, Result>>>();
  return (deps, org) => {
    const ofDeps = queues.get(deps) ?? new Map<string, Batcher<Report, Result>>();
    queues.set(deps, ofDeps);
    const queue = ofDeps.get(org.id) ?? create(deps, org);
    ofDeps.set(org.id, queue);
    return queue;
  };
}
