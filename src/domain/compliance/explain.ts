import { finish, portions, type Steps } from "../../lib/steps.ts";
import type { Template } from "../template/model.ts";
import { stateOf } from "./evaluate.ts";
import type { ArtifactReport, AttestationReport, ComplianceState, TrailReports } from "./model.ts";
import { artifactPlace, artifactPlacesInSteps, type Place, trailPlace, weightOf } from "./places.ts";
import { type ProposedReport, proposeReportsInSteps } from "./propose.ts";
import { outcomeOf, readRowsInSteps, type Row } from "./rows.ts";

/** Something a verdict rests on: what the template asks for, or what was reported without being asked for. */
export interface Requirement {
  kind: "artifact" | "attestation";
  /** Where the template asks for it, as `trail.artifacts[0].attestations[1]`; null when it does not. */
  template_path: string | null;
  /** Template name of the artifact it is about; null for attestations of the trail. */
  artifact_name: string | null;
  /** The artifact that has the name now. */
  artifact_fingerprint: string | null;
  /** Null when this is about the artifact itself. */
  attestation_name: string | null;
  /** What the template asks for, `*` for any; the type that was reported when it asks for nothing. */
  attestation_type: string | null;
  outcome: "met" | "missing" | "failed";
  /** The artifact that meets it. */
  artifact: ArtifactReport | null;
  /** The attestation that decides: it meets the requirement, or it is why that failed. */
  attestation: AttestationReport | null;
  /** The attestation whose verdict that one replaced. */
  overridden: AttestationReport | null;
}

/** A verdict with everything it rests on. */
export interface Explanation {
  status: ComplianceState;
  requirements: Requirement[];
  /** Empty when it is compliant. */
  proposed_reports: ProposedReport[];
}

function pathOf(place: Place): string {
  return place.name === null ? "trail" : `trail.artifacts[${place.template_index}]`;
}

function aboutArtifact(place: Place): Requirement {
  return {
    kind: "artifact",
    template_path: pathOf(place),
    artifact_name: place.name,
    artifact_fingerprint: place.artifact?.fingerprint ?? null,
    attestation_name: null,
    attestation_type: null,
    outcome: place.artifact === undefined ? "missing" : "met",
    artifact: place.artifact ?? null,
    attestation: null,
    overridden: null,
  };
}

/** @param at which of the rows of the place it is: those that the template asks for come first, in its order. */
function aboutAttestation(place: Place, row: Row, at: number): Requirement {
  const decisive = row.contradiction ?? row.current;
  return {
    kind: "attestation",
    template_path: row.entry === undefined ? null : `${pathOf(place)}.attestations[${at}]`,
    artifact_name: place.name,
    artifact_fingerprint: place.artifact?.fingerprint ?? null,
    attestation_name: row.name,
    attestation_type: row.entry?.type ?? row.current?.type ?? null,
    outcome: outcomeOf(row),
    artifact: null,
    attestation: decisive ?? null,
    overridden: (decisive === row.current ? row.overridden : undefined) ?? null,
  };
}

function* requirementsOf(places: readonly Place[]): Steps<Requirement[]> {
  const isEnough = portions();
  const requirements: Requirement[] = [];
  for (const place of places) {
    if (isEnough(weightOf(place))) yield;
    if (place.template_index !== -1) requirements.push(aboutArtifact(place));
    for (const [at, row] of (yield* readRowsInSteps(place)).entries()) {
      if (isEnough(1)) yield;
      requirements.push(aboutAttestation(place, row, at));
    }
  }
  return requirements;
}

/** Explains what some places come to together. */
function* explainPlaces(places: readonly Place[]): Steps<Explanation> {
  const requirements = yield* requirementsOf(places);
  yield;
  const isAny = (outcome: Requirement["outcome"]) => requirements.some((one) => one.outcome === outcome);
  return {
    status: stateOf({ failed: isAny("failed"), missing: isAny("missing") }),
    requirements,
    proposed_reports: yield* proposeReportsInSteps(places),
  };
}

/** Explains why a trail has the verdict it has, and what would make it compliant. */
export function* explainTrailInSteps(template: Template, reports: TrailReports): Steps<Explanation> {
  const artifacts = yield* artifactPlacesInSteps(template, reports);
  return yield* explainPlaces([trailPlace(template, reports), ...artifacts]);
}

/** Does what `explainTrailInSteps` does, in one go. */
export function explainTrail(template: Template, reports: TrailReports): Explanation {
  return finish(explainTrailInSteps(template, reports));
}

/** The places that an artifact is judged by as an artifact: its trail's own, and its own. */
function placesFor(template: Template, reports: TrailReports, artifact: ArtifactReport): Place[] {
  return [trailPlace(template, reports), artifactPlace(template, reports, artifact)];
}

/** Lists what the state of an artifact rests on: what `explainArtifactInSteps` does, without what would make it compliant. */
export function* artifactRequirementsInSteps(
  template: Template,
  reports: TrailReports,
  artifact: ArtifactReport,
): Steps<Requirement[]> {
  yield;
  return yield* requirementsOf(placesFor(template, reports, artifact));
}

/**
 * Explains why an artifact has the state it has, its trail's attestations included, and what would make it compliant.
 * @param artifact one of the trail's; another one may have taken its name since.
 */
export function* explainArtifactInSteps(
  template: Template,
  reports: TrailReports,
  artifact: ArtifactReport,
): Steps<Explanation> {
  yield;
  return yield* explainPlaces(placesFor(template, reports, artifact));
}
