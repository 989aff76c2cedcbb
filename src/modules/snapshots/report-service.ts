import type { Tx } from "../../db/connect.ts";
import { archivedEnvironment, unknownEnvironment } from "../../domain/environments.ts";
import { invalid, invalidInput, notFound } from "../../domain/errors.ts";
import type { ReportBrief } from "../../domain/snapshot/brief.ts";
import { flattenReport } from "../../domain/snapshot/flatten.ts";
import type { Report } from "../../domain/snapshot/report.ts";
import type { Timestamp } from "../../lib/clock.ts";
import { paced } from "../../lib/steps.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { appendSnapshots, refuse } from "./append-service.ts";
import { refreshGroups } from "./group-service.ts";
import { continueRhythm } from "../silence/report-service.ts";
import {
  getReportStanding,
  listVersionBriefs,
  type Reported,
  type ReportStanding,
  updateReported,
} from "./standing-store.ts";
import { ranBriefly } from "./targets.ts";
import { lockReportedEnvironment } from "./timeline-store.ts";

interface OrgScope extends Scope {
  org: Org;
}

/** Different artifacts in a report at most: what one transaction can write in reasonable time. */
const maxArtifacts = 10_000;

/** A report, which is read only where what it amounts to does not tell enough. */
export interface ReceivedReport {
  brief: ReportBrief;
  read(): Promise<Report>;
}

/** @throws AppError invalid for too many artifacts. */
function checkSize({ artifacts }: ReportBrief): void {
  if (artifacts > maxArtifacts)
    throw invalidInput({
      artifacts: `Report should name at most ${maxArtifacts} artifacts [input: ${artifacts}]`,
    });
}

/**
 * The id of the live environment a report is for, with its row locked.
 * @throws AppError not_found for an unknown or archived one, invalid for one of another type (R4).
 */
async function lockTarget(tx: Tx, org: Org, name: string, type: string): Promise<string> {
  const found = await lockReportedEnvironment(tx, org.id, name);
  if (found === undefined) throw notFound(unknownEnvironment(name, org.name));
  if (found.archived) throw notFound(archivedEnvironment(name, org.name));
  if (found.type !== type)
    throw invalid(
      `Environment '${name}' is of type '${found.type}' and cannot take a report of type '${type}'`,
    );
  return found.id;
}

/** What is done with a report in an environment whose row is locked. */
interface Reporting {
  tx: Tx;
  org: Org;
  standing: ReportStanding;
  report: ReceivedReport;
  at: Timestamp;
  /** What is kept of it. */
  kept: Omit<Reported, "environment_id" | "at">;
}

/**
 * Judges what a report brings that was not judged before.
 * @returns the number of the new snapshot; undefined when there is nothing to record.
 */
async function judgeReport({ tx, org, standing, report, at, kept }: Reporting): Promise<number | undefined> {
  const isSame = standing.snapshot_count > 0 && standing.report_digest === kept.digest;
  if (isSame && !standing.has_news) return undefined;
  const briefs = await listVersionBriefs(tx, org.id, standing.id);
  if (isSame && !briefs.some(({ is_stale }) => is_stale)) return undefined;
  const running = await paced(flattenReport(await report.read()));
  const target = { standing, running, ran: ranBriefly(briefs), briefs, report: kept };
  const [snapshot] = await appendSnapshots(tx, org, {
    cause: "report",
    targets: [target],
    at,
    onTooMuch: refuse,
  });
  return snapshot?.index;
}

/**
 * Takes a report of everything that runs in an environment (contract 3). It makes a snapshot when it is the first one,
 * when something started or exited, or when what is known of something that runs has changed. Idempotent: repeating it
 * only moves `last_reported_at` and `last_modified_at`, in three statements.
 * @returns whether there is a new snapshot.
 * @throws AppError not_found for an unknown or archived environment, invalid for one of another type, for too many
 * artifacts, and for more than can be judged at once, there or in a logical environment around.
 */
export async function reportSnapshot(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  name: string,
  report: ReceivedReport,
): Promise<boolean> {
  const { org } = scope;
  const { type, digest } = report.brief;
  checkSize(report.brief);
  return recorded(deps, scope, async (tx, record) => {
    const environment_id = await lockTarget(tx, org, name, type);
    const standing = await getReportStanding(tx, org.id, environment_id);
    const at = deps.clock.now();
    const rhythm = await continueRhythm(tx, org, standing, at);
    const kept = { digest, seen_seq: standing.audit_seq, ...rhythm };
    const index = await judgeReport({ tx, org, standing, report, at, kept });
    if (index === undefined) {
      await updateReported(tx, org.id, { environment_id, at, ...kept });
      return false;
    }
    await refreshGroups(tx, org, { memberIds: [environment_id], at, onTooMuch: refuse });
    record("snapshot", `${standing.name}#${index}`);
    return true;
  });
}
