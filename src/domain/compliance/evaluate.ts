import { areFew, collected, finish, portions, type Steps } from "../../lib/steps.ts";
import type { Template } from "../template/model.ts";
import type {
  ArtifactReport,
  ArtifactStatus,
  AttestationReport,
  AttestationStatus,
  ComplianceState,
  KeptVerdict,
  TrailCompliance,
  TrailReports,
} from "./model.ts";
import { artifactPlace, artifactPlacesInSteps, type Place, trailPlace, weightOf } from "./places.ts";
import { isMissing, outcomeOf, readRowsInSteps, type Row, statusOf } from "./rows.ts";

/** Whether anything among some rows failed, and whether anything is missing. */
interface Tally {
  failed: boolean;
  missing: boolean;
}

function tally(rows: readonly Row[]): Tally {
  return { failed: rows.some((row) => outcomeOf(row) === "failed"), missing: rows.some(isMissing) };
}

/** Decides on a tally: one failure decides; without one, anything missing leaves the question open. */
export function stateOf({ failed, missing }: Tally): ComplianceState {
  if (failed) return "NON-COMPLIANT";
  return missing ? "INCOMPLETE" : "COMPLIANT";
}

function* statusesOf(rows: readonly Row[]): Steps<AttestationStatus[]> {
  return areFew(rows.length) ? rows.map(statusOf) : yield* collected(rows, statusOf);
}

function* artifactStatus({ artifact, template_index }: Place, rows: readonly Row[]): Steps<ArtifactStatus> {
  const state = artifact === undefined ? "MISSING" : stateOf(tally(rows));
  return {
    artifact_fingerprint: artifact?.fingerprint ?? null,
    artifact_id: artifact?.artifact_id ?? null,
    status: state,
    is_compliant: artifact === undefined ? null : state === "COMPLIANT",
    attestations_statuses: yield* statusesOf(rows),
    unexpected: template_index === -1,
  };
}

/**
 * Judges a trail by its template and everything reported on it. Pure: the same reports give the same verdict, whenever
 * and wherever it is computed.
 *
 * A trail is COMPLIANT when everything the template asks for was reported and nothing that was reported failed,
 * NON-COMPLIANT when something reported failed, INCOMPLETE when only something is missing. Failing beats missing.
 */
export function* evaluateTrailInSteps(template: Template, reports: TrailReports): Steps<TrailCompliance> {
  const isEnough = portions();
  const onTrail = yield* readRowsInSteps(trailPlace(template, reports));
  const total = tally(onTrail);
  const own_state = stateOf(total);
  const artifacts = new Map<string, ArtifactStatus>();
  for (const place of yield* artifactPlacesInSteps(template, reports)) {
    if (isEnough(weightOf(place))) yield;
    const rows = yield* readRowsInSteps(place);
    const { failed, missing } = tally(rows);
    artifacts.set(place.name, yield* artifactStatus(place, rows));
    total.failed ||= failed;
    total.missing ||= place.template_index !== -1 && (place.artifact === undefined || missing);
  }
  const status = stateOf(total);
  return {
    status,
    is_compliant: status === "COMPLIANT",
    own_state,
    attestations_statuses: yield* statusesOf(onTrail),
    artifacts_statuses: artifacts,
  };
}

/** Does what `evaluateTrailInSteps` does, in one go. */
export function evaluateTrail(template: Template, reports: TrailReports): TrailCompliance {
  return finish(evaluateTrailInSteps(template, reports));
}

/**
 * Judges an artifact as an artifact: by the attestations on it and those its trail needs, together.
 * @param artifact one of the trail's; another one may have taken its name since.
 */
export function* evaluateArtifactInSteps(
  template: Template,
  reports: TrailReports,
  artifact: ArtifactReport,
): Steps<ComplianceState> {
  const onTrail = tally(yield* readRowsInSteps(trailPlace(template, reports)));
  const onArtifact = tally(yield* readRowsInSteps(artifactPlace(template, reports, artifact)));
  return stateOf({
    failed: onTrail.failed || onArtifact.failed,
    missing: onTrail.missing || onArtifact.missing,
  });
}

/**
 * Judges an artifact as an artifact by verdicts that are stored, which works while the artifact has its name.
 * @param trail the `own_state` of its trail.
 * @param artifact the status of the name it was reported under.
 */
export function artifactState(trail: ComplianceState, artifact: ComplianceState): ComplianceState {
  const isAny = (state: ComplianceState) => trail === state || artifact === state;
  return stateOf({ failed: isAny("NON-COMPLIANT"), missing: isAny("INCOMPLETE") });
}

/**
 * Judges an artifact as an artifact by what is stored of the verdict on its trail; undefined when that says nothing of it,
 * because another artifact has taken its name.
 */
export function keptState({
  fingerprint,
  trail_state,
  artifact_row,
}: KeptVerdict): ComplianceState | undefined {
  if (trail_state === null || artifact_row?.artifact_fingerprint !== fingerprint) return undefined;
  return artifact_row.status === "MISSING" ? undefined : artifactState(trail_state, artifact_row.status);
}

/** The evidence on an artifact. */
export interface ArtifactEvidence {
  /** The attestations that count, one for each name: expected ones in the template's order, then others. */
  attestations: AttestationReport[];
  /** The last thing reported of it: an attestation, or the artifact itself. */
  last_reported_at: number;
}

/** Finds the evidence on an artifact, without its trail's. */
export function* evidenceInSteps(
  template: Template,
  reports: TrailReports,
  artifact: ArtifactReport,
): Steps<ArtifactEvidence> {
  const place = artifactPlace(template, reports, artifact);
  const rows = yield* readRowsInSteps(place);
  return {
    attestations: yield* collected(rows, (row) => row.contradiction ?? row.current),
    last_reported_at: place.reports.reduce(
      (latest, { reported_at }) => Math.max(latest, reported_at),
      artifact.reported_at,
    ),
  };
}
