import type { Tx } from "../../../db/connect.ts";
import { isConnectionFailure } from "../../../db/sqlstate.ts";
import { overloaded } from "../../../domain/errors.ts";
import type { Actor, Org } from "../../../domain/principal.ts";
import { type Batcher, createBatcher, type QueueLimits } from "../../../lib/batcher.ts";
import { zip } from "../../../lib/zip.ts";
import { recordedTogether } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";

/** Reports written in one transaction at most: enough to spread its cost, few enough to keep it short. */
const maxReportsInBatch = 200;

const megabyte = 1024 * 1024;

/**
 * Limits the queue of one organization's reports. They are small as a rule, and may be large: both together must fit into
 * memory, and into one statement.
 */
const limits: QueueLimits<QueuedReport> = {
  maxWaiting: 10_000,
  weigh: ({ bodyBytes }) => bodyBytes,
  maxBatchWeight: 16 * megabyte,
  maxWaitingWeight: 64 * megabyte,
  refusal: overloaded,
};

/** What every report says: who reports, and to which flow. */
interface QueuedReport {
  flow_name: string;
  actor: Actor;
  /** How much was sent. */
  bodyBytes: number;
}

/** What is particular to a sort of reports. */
interface ReportSort<Report> {
  /** What the audit log calls a thing of this sort. */
  resourceType: string;
  /** Names the thing for the audit log. @param id of the report. */
  resourceOf(report: Report, id: string): string;
  /** Names the trail that the report belongs to. */
  trailOf(report: Report): string;
  /** Writes all of an organization, beginning with reads or locks. @returns their ids, in their order. */
  write(deps: Deps, tx: Tx, org: Org, reports: readonly Report[]): Promise<string[]>;
  /**
   * Writes all of an organization in one statement, the audit log with it, where it is simple enough.
   * @param onSent see `TransactionOptions`.
   * @returns their ids, in their order; undefined when nothing was written and `write` has to.
   */
  writeAtOnce?(
    deps: Deps,
    org: Org,
    reports: readonly Report[],
    onSent: () => void,
  ): Promise<string[] | undefined>;
}

function createQueue<Report extends QueuedReport>(
  deps: Deps,
  org: Org,
  { resourceType, resourceOf, trailOf, write, writeAtOnce }: ReportSort<Report>,
): Batcher<Report, string> {
  const writeTogether = (reports: readonly Report[], onSent: () => void): Promise<string[]> =>
    recordedTogether(
      deps,
      org.id,
      async (tx, record) => {
        const ids = await write(deps, tx, org, reports);
        for (const [report, id] of zip(reports, ids))
          record(report.actor, resourceType, resourceOf(report, id));
        return ids;
      },
      { beginsWithReads: true, onSent },
    );
  return createBatcher<Report, string>({
    maxItems: maxReportsInBatch,
    concurrency: 1,
    subjectOf: (report) => `${report.flow_name}/${trailOf(report)}`,
    limits,
    isShared: isConnectionFailure,
    write: async (reports, onSent) =>
      (await writeAtOnce?.(deps, org, reports, onSent)) ?? writeTogether(reports, onSent),
  });
}

/**
 * Makes a function that reports one thing of a sort. Reports that arrive while others of their organization are being
 * written share a transaction; each is durable, and on the audit log, when its own promise resolves with its id.
 */
export function createReporter<Report extends QueuedReport>(
  sort: ReportSort<Report>,
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
