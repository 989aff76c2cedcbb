import type { Tx } from "../../../db/connect.ts";
import { notedTogether } from "../../../db/statement-trace.ts";
import { isConnectionFailure } from "../../../db/sqlstate.ts";
import { overloaded } from "../../../domain/errors.ts";
import type { Actor, Org } from "../../../domain/principal.ts";
import { type Batcher, createBatcher, type QueueLimits } from "../../../lib/batcher.ts";
import type { Span } from "../../../lib/tracing/tracing.ts";
import { mebibyte } from "../../../lib/units.ts";
import { zip } from "../../../lib/zip.ts";
import { recordedTogether } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { keptByProgram, sharedDeps } from "../../kernel/program-deps.ts";
import { tracedTogether } from "../../kernel/traced-deps.ts";
import { rememberedPlaces } from "./remembered-places.ts";

/** Reports written in one transaction at most: enough to spread its cost, few enough to keep it short. */
const maxReportsInBatch = 200;

/**
 * Limits the queue of one organization's reports. They are small as a rule, and may be large: both together must fit into
 * memory, and into one statement.
 */
const limits: QueueLimits<QueuedReport> = {
  maxWaiting: 10_000,
  weigh: ({ bodyBytes }) => bodyBytes,
  maxBatchWeight: 16 * mebibyte,
  maxWaitingWeight: 64 * mebibyte,
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

/** Spans of the requests that brought reports, where they are recorded. */
type SpansOfReports = WeakMap<QueuedReport, Span>;

function createQueue<Report extends QueuedReport>(
  shared: Deps,
  org: Org,
  { resourceType, resourceOf, trailOf, write, writeAtOnce }: ReportSort<Report>,
  spans: SpansOfReports,
): Batcher<Report, string> {
  const writeTogether = async (
    deps: Deps,
    reports: readonly Report[],
    onSent: () => void,
  ): Promise<string[]> => {
    const ids = await recordedTogether(
      deps,
      org.id,
      async (tx, record) => {
        const written = await write(deps, tx, org, reports);
        for (const [report, id] of zip(reports, written))
          record(report.actor, resourceType, resourceOf(report, id));
        return written;
      },
      { beginsWithReads: true, onSent },
    );
    for (const report of reports)
      rememberedPlaces(deps).forgetTrail(org.id, { flow_name: report.flow_name, name: trailOf(report) });
    return ids;
  };
  return createBatcher<Report, string>({
    maxItems: maxReportsInBatch,
    concurrency: 1,
    subjectOf: (report) => `${report.flow_name}/${trailOf(report)}`,
    limits,
    isShared: isConnectionFailure,
    write: (reports, onSent) =>
      tracedTogether(
        shared,
        "write reports",
        reports.flatMap((report) => spans.get(report) ?? []),
        async (deps) =>
          (await writeAtOnce?.(deps, org, reports, onSent)) ?? writeTogether(deps, reports, onSent),
      ),
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
  const queues = keptByProgram(() => new Map<string, Batcher<Report, string>>());
  const spans: SpansOfReports = new WeakMap();
  return (given, org, report) => {
    // What is written for several requests is nobody's own.
    const deps = sharedDeps(given);
    const ofProgram = queues(deps);
    const queue = ofProgram.get(org.id) ?? createQueue(deps, org, sort, spans);
    ofProgram.set(org.id, queue);
    deps.metrics.queues.reports.add(queue);
    const written = (): Promise<string> => queue.submit(report);
    const trace = given.request?.trace;
    if (trace?.span !== undefined) spans.set(report, trace.span);
    return trace === undefined ? written() : notedTogether(trace, "reports written together", written);
  };
}
