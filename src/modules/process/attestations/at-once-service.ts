import { isConnectionFailure, sqlStateOf } from "../../../db/sqlstate.ts";
import type { Org } from "../../../domain/principal.ts";
import { addTo, type NonEmpty } from "../../../lib/group.ts";
import { wireId } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import { zip } from "../../../lib/zip.ts";
import { auditJson } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { judgeCases, type JudgedCase, type Verdict, writtenVerdicts } from "../compliance/service.ts";
import { seePlaces, type SeenPlaces, type SeenTrail } from "../intake/look-service.ts";
import { rememberedPlaces } from "../intake/remembered-places.ts";
import { writeAttestations } from "./at-once-store.ts";
import { inOrder, reportOf, withTypes } from "./override-service.ts";
import { newAttestation, originOf, placedAttestation, type ReportedAttestation } from "./new-attestation.ts";
import type { NewAttestation } from "./store.ts";

/** How the audit log names attestations. */
export const auditedAttestation = {
  resourceType: "attestation",
  resourceOf: (_: ReportedAttestation, id: string): string => wireId(id),
};

/** Makes rows of reports in their places; undefined when one is bound to an artifact that its trail does not have. */
async function rowsOf(
  deps: Deps,
  org: Org,
  reports: readonly ReportedAttestation[],
  { places, trails }: SeenPlaces,
): Promise<readonly NewAttestation[] | undefined> {
  const found = new Map(trails.map((trail) => [trail.move.id, trail.found]));
  const rows: NewAttestation[] = [];
  for (const [report, place] of zip(reports, places)) {
    const fingerprint = report.common.artifact_fingerprint;
    const artifact = fingerprint
      ? found.get(place.trail.id)?.artifacts.findLast((one) => one.fingerprint === fingerprint)
      : null;
    if (artifact === undefined) return undefined;
    const placed = placedAttestation(org, report, place, null);
    rows.push(newAttestation(deps, placed, artifact?.template_reference_name ?? null));
  }
  return withTypes(org.id, rows, ({ trail_id }) => present(found.get(trail_id), "its trail was seen"));
}

/** Adds new attestations to what was found of a trail. */
function caseOf({ found, move }: SeenTrail, added: readonly NewAttestation[]): JudgedCase {
  const { template, template_id, evaluated_at, own_digest, artifacts } = found;
  const attestations = inOrder([...found.attestations, ...added.map(reportOf)]);
  const last_modified_at = Math.max(found.last_modified_at ?? 0, move.last_modified_at);
  const verdict = { evaluated_at, own_digest, last_modified_at };
  return { trail_id: move.id, template, template_id, ...verdict, artifacts, attestations };
}

/** Remembers trails as they are after these reports. @param version of their rows. */
function remember(
  deps: Deps,
  orgId: string,
  { trails, repos }: SeenPlaces,
  written: { version: string; cases: readonly JudgedCase[]; verdicts: readonly Verdict[] },
): void {
  const remembered = rememberedPlaces(deps);
  for (const [{ found, move }, [judged, verdict]] of zip(trails, zip(written.cases, written.verdicts)))
    remembered.keepTrail(orgId, move, {
      ...found,
      trail_id: move.id,
      version: written.version,
      last_modified_at: judged.last_modified_at,
      evaluated_at: verdict.evaluated_at,
      own_digest: verdict.own_digest,
      attestations: judged.attestations,
    });
  for (const { reported, found, isRecalled } of repos)
    if (!isRecalled) remembered.keepRepo(orgId, reported, found);
}

/** Reports with their rows, in the same order, and where they go to. */
interface SeenReports {
  reports: readonly ReportedAttestation[];
  attestations: readonly NewAttestation[];
  seen: SeenPlaces;
}

/**
 * Writes what was reported on trails that were looked at, and remembers them.
 * @param onSent called when all was sent, and only answers are to come.
 * @returns whether it was written; otherwise nothing was.
 */
async function writeSeen(
  deps: Deps,
  org: Org,
  { reports, attestations, seen }: SeenReports,
  onSent: () => void,
): Promise<boolean> {
  const ofTrail = new Map<string, NonEmpty<NewAttestation>>();
  for (const row of attestations) addTo(ofTrail, row.trail_id, row);
  const cases = seen.trails.map((trail) => caseOf(trail, ofTrail.get(trail.move.id) ?? []));
  const own = new Set(attestations.flatMap((row) => (row.artifact_fingerprint === null ? row.trail_id : [])));
  const verdicts = await judgeCases(org.id, cases, { kind: "attestations", own });
  const entries = zip(reports, attestations).map(([report, { id }]) => ({
    actor: report.actor,
    resource_type: auditedAttestation.resourceType,
    resource: auditedAttestation.resourceOf(report, id),
  }));
  const writing = writeAttestations(deps.db, org.id, {
    repos: seen.repos.flatMap(({ found: { id, row_version: version }, isRecalled }) =>
      isRecalled ? { id, version } : [],
    ),
    trails: seen.trails.map(({ move }) => move),
    attestations,
    verdicts: await writtenVerdicts(cases, verdicts),
    entries: auditJson(entries),
    at: deps.clock.now(),
  });
  onSent();
  const version = await writing;
  if (version === null) return false;
  remember(deps, org.id, seen, { version, cases, verdicts });
  return true;
}

/**
 * Reports attestations in two statements without a transaction around them: one looks at everything that they depend on, the
 * other writes, if all is as it was. What this server wrote last is remembered, and not looked at: only if it is not as it was any more.
 * Reports that bring files, and what `seePlaces` gives up, are left to a transaction, and so is whatever fails.
 * @param onSent called when all was sent, and only answers are to come.
 * @returns ids, in their order; undefined when nothing was written.
 */
export async function writeAtOnce(
  deps: Deps,
  org: Org,
  reports: readonly ReportedAttestation[],
  onSent: () => void,
): Promise<string[] | undefined> {
  if (reports.some(({ attachment }) => attachment !== undefined)) return undefined;
  const now = deps.clock.now();
  const origins = reports.map((report) => originOf(report, now));
  const remembered = rememberedPlaces(deps);
  /** @returns what `writeAtOnce` does, and "refuted" when something that was recalled was not so any more. */
  const attempt = async (): Promise<string[] | "refuted" | undefined> => {
    const seen = await seePlaces(deps, org.id, origins);
    if (seen === undefined) return undefined;
    const attestations = await rowsOf(deps, org, reports, seen);
    if (attestations === undefined) return undefined;
    const isWritten = await writeSeen(deps, org, { reports, seen, attestations }, onSent);
    const isRecalled = [...seen.trails, ...seen.repos].some((one) => one.isRecalled);
    if (isWritten) {
      if (isRecalled) remembered.confirm(org.id);
      return attestations.map(({ id }) => id);
    }
    if (!isRecalled) return undefined;
    remembered.refute(org.id);
    return "refuted";
  };
  try {
    const first = await attempt();
    if (first !== "refuted") return first;
    const second = await attempt();
    return second === "refuted" ? undefined : second;
  } catch (error) {
    // What the database refused left nothing behind. Of what broke off, nobody knows.
    if (sqlStateOf(error) === undefined || isConnectionFailure(error)) throw error;
    return undefined;
  }
}
