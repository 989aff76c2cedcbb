import type { Tx } from "../../db/connect.ts";
import { archivedEnvironment, unknownEnvironment } from "../../domain/environments.ts";
import { invalid, invalidInput, notFound } from "../../domain/errors.ts";
import { flattenReport, reportedFingerprints, reportedKeys } from "../../domain/snapshot/flatten.ts";
import type { Report } from "../../domain/snapshot/report.ts";
import { sha256 } from "../../lib/hash.ts";
import { recorded, type Scope } from "../audit/service.ts";
import type { Deps } from "../deps.ts";
import type { Org } from "../environments/find-service.ts";
import { appendSnapshots } from "./append-service.ts";
import { refreshGroups } from "./group-service.ts";
import { continueRhythm } from "../silence/report-service.ts";
import { getReportStanding, lockReportedEnvironment, updateReported } from "./timeline-store.ts";

interface OrgScope extends Scope {
  org: Org;
}

/** Different artifacts in a report at most: what one transaction can write in reasonable time. */
const maxArtifacts = 10_000;

/**
 * What a report is recognised by: which artifacts run. Times, numbers of instances and places do not count.
 * @throws AppError invalid for too many artifacts.
 */
function digestOf(report: Report): string {
  const keys = reportedKeys(report);
  if (keys.size > maxArtifacts)
    throw invalidInput({
      artifacts: `Report should name at most ${maxArtifacts} artifacts [input: ${keys.size}]`,
    });
  return sha256(JSON.stringify([...keys].sort())).toString("base64");
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

/**
 * Takes a report of everything that runs in an environment (contract 3). It makes a snapshot when it is the first one,
 * when something started or exited, or when what is known of something that runs has changed. Idempotent: repeating it
 * only moves `last_reported_at` and `last_modified_at`, in three statements.
 * @returns whether there is a new snapshot.
 * @throws AppError not_found for an unknown or archived environment, invalid for one of another type and for too many
 * artifacts.
 */
export async function reportSnapshot(
  deps: Pick<Deps, "db" | "clock">,
  scope: OrgScope,
  name: string,
  report: Report,
): Promise<boolean> {
  const { org } = scope;
  const digest = digestOf(report);
  const fingerprints = reportedFingerprints(report);
  return recorded(deps, scope, async (tx, record) => {
    const environment_id = await lockTarget(tx, org, name, report.type);
    const standing = await getReportStanding(tx, org.id, environment_id, [...fingerprints]);
    const facts_digest = standing.present_facts_digest;
    const at = deps.clock.now();
    const rhythm = await continueRhythm(tx, org, standing, at);
    const known = { environment_id, at, digest, facts_digest, ...rhythm };
    const isKnown = standing.report_digest === digest && standing.facts_digest === facts_digest;
    if (standing.snapshot_count > 0 && isKnown) {
      await updateReported(tx, org.id, known);
      return false;
    }
    const running = flattenReport(report);
    const target = { standing, running, report: { digest, facts_digest, ...rhythm } };
    const [snapshot] = await appendSnapshots(tx, org, { cause: "report", targets: [target], at });
    if (snapshot === undefined) {
      await updateReported(tx, org.id, known);
      return false;
    }
    await refreshGroups(tx, org, [environment_id], at);
    record("snapshot", `${standing.name}#${snapshot.index}`);
    return true;
  });
}
