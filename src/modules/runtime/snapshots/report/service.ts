import type { Tx } from "../../../../db/connect.ts";
import { invalid, invalidInput } from "../../../../domain/errors.ts";
import { judgingLimits } from "../../../../domain/judging.ts";
import type { Org, OrgScope } from "../../../../domain/principal.ts";
import { flattenReport } from "../../../../domain/snapshot/flatten.ts";
import type { Report } from "../../../../domain/snapshot/report.ts";
import type { ReportSummary } from "../../../../domain/snapshot/summary.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import { paced } from "../../../../lib/steps.ts";
import { recorded } from "../../../kernel/audit/service.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { requireLive } from "../../environments/service.ts";
import { continueRhythm } from "../../silence/service.ts";
import { appendSnapshots, refuse } from "./append-service.ts";
import {
  getReportedRecord,
  lockReportedEnvironment,
  type RememberedReport,
  type ReportedRecord,
  updateReported,
} from "./environment-store.ts";
import { refreshGroups } from "./evaluate-service.ts";
import { earlierFromSummaries } from "./targets.ts";
import { listWhatRuns } from "./versions-service.ts";

/** Different artifacts in a report at most: what one transaction can write in reasonable time. */
const maxArtifacts = 10_000;

/** Bytes that say where they run at most: what the members of a logical environment may have together, and is read at once. */
const maxPlaceBytes = judgingLimits.memberBytes;

/** A report, which is read only where its summary does not tell enough. */
export interface ReceivedReport {
  summary: ReportSummary;
  read(): Promise<Report>;
}

/**
 * Checks that a report is not too large.
 * @throws AppError invalid for too many artifacts, and for too much that would be stored with them.
 */
function checkSize({ artifacts, place_bytes }: ReportSummary): void {
  if (artifacts > maxArtifacts)
    throw invalidInput({
      artifacts: `Report should name at most ${maxArtifacts} artifacts [input: ${artifacts}]`,
    });
  if (place_bytes > maxPlaceBytes)
    throw invalidInput({
      artifacts: `Report should say where its artifacts run in at most ${maxPlaceBytes} bytes, those of an item once for each of its digests [input: ${place_bytes}]`,
    });
}

/**
 * Finds the live environment a report is for, and locks its row.
 * @returns its id.
 * @throws AppError not_found for an unknown or archived one, invalid for one of another type (R4).
 */
async function lockTarget(tx: Tx, org: Org, name: string, type: string): Promise<string> {
  const found = requireLive(org, name, await lockReportedEnvironment(tx, org.id, name));
  if (found.type !== type)
    throw invalid(
      `Environment '${name}' is of type '${found.type}' and cannot take a report of type '${type}'`,
    );
  return found.id;
}

/** A report to an environment whose row is locked. */
interface Reporting {
  deps: Deps;
  tx: Tx;
  org: Org;
  environment: ReportedRecord;
  report: ReceivedReport;
  at: Timestamp;
  remembered: RememberedReport;
}

/** What became of a report. */
interface Outcome {
  /** Of the new snapshot; undefined when there is no reason for one. */
  index?: number | undefined;
  /** Whether flows know something else of what runs than the latest snapshot says. */
  is_stale: boolean;
}

/** Judges what a report brings that was not judged before. */
async function judgeReport(reporting: Reporting): Promise<Outcome> {
  const { deps, tx, org, environment, report, at, remembered } = reporting;
  const isSame = environment.snapshot_count > 0 && environment.report_digest === remembered.digest;
  if (isSame && !environment.has_news) return { is_stale: environment.is_stale };
  const mayBeStale = environment.has_news || environment.is_stale;
  const summaries = await listWhatRuns(deps, tx, org.id, environment, mayBeStale);
  const is_stale = summaries.some((version) => version.is_stale);
  if (isSame && !is_stale) return { is_stale };
  const running = await paced(flattenReport(await report.read()));
  const earlier = earlierFromSummaries(summaries);
  const [snapshot] = await appendSnapshots(tx, org, {
    cause: "report",
    targets: [{ environment, running, earlier, summaries, report: remembered }],
    at,
    onTooMuch: refuse,
  });
  return snapshot === undefined ? { is_stale } : { index: snapshot.index, is_stale: false };
}

/**
 * Takes a report of everything that runs in an environment (contract 3). It makes a snapshot when it is the first one,
 * when something started or exited, or when what is known of something that runs has changed. Idempotent: repeating it
 * only moves `last_reported_at` and `last_modified_at`, in three statements.
 * @returns whether there is a new snapshot.
 * @throws AppError not_found for an unknown or archived environment, invalid for one of another type, for too many
 * artifacts or bytes of where they run, and for more than can be judged at once, there or in a logical environment around.
 */
export async function reportSnapshot(
  deps: Deps,
  scope: OrgScope,
  name: string,
  report: ReceivedReport,
): Promise<boolean> {
  const { org } = scope;
  const { type, digest } = report.summary;
  checkSize(report.summary);
  return recorded(deps, scope, async (tx, record) => {
    const environment_id = await lockTarget(tx, org, name, type);
    const environment = await getReportedRecord(tx, org.id, environment_id);
    const at = deps.clock.now();
    const rhythm = await continueRhythm(tx, org, environment, at);
    const remembered = { digest, seen_seq: environment.audit_seq, ...rhythm };
    const { index, is_stale } = await judgeReport({ deps, tx, org, environment, report, at, remembered });
    if (index === undefined) {
      await updateReported(tx, org.id, { environment_id, at, ...remembered, is_stale });
      return false;
    }
    await refreshGroups(deps, tx, org, { memberIds: [environment_id], at, onTooMuch: refuse });
    record("snapshot", `${environment.name}#${index}`);
    return true;
  });
}
