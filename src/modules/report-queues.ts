import type { Tx } from "../db/connect.ts";
import { isConnectionFailure } from "../db/sqlstate.ts";
import { overloaded } from "../domain/errors.ts";
import { writeJson } from "../lib/exact-json.ts";
import { type Batcher, createBatcher, type Room } from "../lib/batcher.ts";
import { recordedTogether, type SharedRecorder } from "./audit/service.ts";
import type { Deps } from "./deps.ts";

/** Reports written in one transaction at most: enough to spread its cost, few enough to keep it short. */
const maxReportsInBatch = 200;

const megabyte = 1024 * 1024;

/**
 * Room for the reports of one organization. They are small as a rule, and may be large: both together must fit into
 * memory, and into one statement.
 */
function roomFor<Report>(payload: (report: Report) => unknown): Room<Report> {
  return {
    maxWaiting: 10_000,
    weigh: (report) => writeJson(payload(report)).length,
    maxBatchWeight: 16 * megabyte,
    maxWaitingWeight: 64 * megabyte,
    full: overloaded,
  };
}

/** The transaction that some reports of an organization share. */
export interface SharedWrite<Org> {
  deps: Deps;
  org: Org;
  tx: Tx;
  record: SharedRecorder;
}

/** What is particular to a sort of reports. */
export interface ReportSort<Org, Report> {
  /** Name of the trail it belongs to. */
  trailOf(report: Report): string;
  /** What of it makes its size. */
  payload(report: Report): unknown;
  /** Writes them all, beginning with reads or locks. @returns their ids, in their order. */
  write(shared: SharedWrite<Org>, reports: readonly Report[]): Promise<string[]>;
}

function createQueue<Org extends { id: string }, Report extends { flow_name: string }>(
  deps: Deps,
  org: Org,
  { trailOf, payload, write }: ReportSort<Org, Report>,
): Batcher<Report, string> {
  return createBatcher({
    maxItems: maxReportsInBatch,
    concurrency: 1,
    subjectOf: (report) => `${report.flow_name}/${trailOf(report)}`,
    room: roomFor(payload),
    isShared: isConnectionFailure,
    write: (reports, onSent) =>
      recordedTogether(deps, org.id, (tx, record) => write({ deps, org, tx, record }, reports), {
        beginsWithReads: true,
        onSent,
      }),
  });
}

/**
 * Makes a function that reports one thing of a sort. Reports that arrive while others of their organization are being written
 * share a transaction; each is durable, and on the audit log, when its own promise resolves with its id.
 */
export function createReporter<Org extends { id: string }, Report extends { flow_name: string }>(
  sort: ReportSort<Org, Report>,
): (deps: Deps, org: Org, report: Report) => Promise<string> {
  /** By organization, for as long as the program runs. */
  const queues = new WeakMap<Deps, Map<string, Batcher<Report, string>>>();
  return (deps, org, report) => {
    const ofDeps = queues.get(deps) ?? new Map<string, Batcher<Report, string>>();
    queues.set(deps, ofDeps);
    const queue = ofDeps.get(org.id) ?? createQueue(deps, org, sort);
    ofDeps.set(org.id, queue);
    return queue.submit(report);
  };
}
