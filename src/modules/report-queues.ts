import type { Batcher } from "../lib/batcher.ts";
import type { Deps } from "./deps.ts";

/**
 * Queues of each organization: so many transactions write its reports at the same time. Its counter is locked last, so one
 * prepares what it writes while the other reaches the disk; a third would only wait for its turn.
 */
const queuesEach = 2;

/** Always the same for a trail. */
function queueOf(trailName: string): number {
  let sum = 0;
  for (let index = 0; index < trailName.length; index += 1) sum += trailName.charCodeAt(index);
  return sum % queuesEach;
}

/**
 * Keeps the queues in which reports of organizations wait to be written together, for as long as the program runs. Reports
 * on one trail wait in one queue: in two, each transaction would wait for the trail's row until the other ended.
 * @param create makes a queue, which writes one transaction at a time.
 * @returns what finds the queue for a report on a trail.
 */
export function createReportQueues<Org extends { id: string }, Report, Result>(
  create: (deps: Deps, org: Org) => Batcher<Report, Result>,
): (deps: Deps, org: Org, trailName: string) => Batcher<Report, Result> {
  const queues = new WeakMap<Deps, Map<string, Batcher<Report, Result>>>();
  return (deps, org, trailName) => {
    const ofDeps = queues.get(deps) ?? new Map<string, Batcher<Report, Result>>();
    queues.set(deps, ofDeps);
    const key = `${org.id}/${queueOf(trailName)}`;
    const queue = ofDeps.get(key) ?? create(deps, org);
    ofDeps.set(key, queue);
    return queue;
  };
}
