import type { Timestamp } from "../../lib/clock.ts";
import { wireId, wireIdOrNull } from "../../lib/ids.ts";
import { listParts } from "../../lib/json-parts.ts";
import { finish, portions, type Steps } from "../../lib/steps.ts";
import type { ArtifactStatus, AttestationStatus, KeptVerdict, TrailCompliance } from "./model.ts";

/** When and by which template a verdict was reached. */
interface Evaluation {
  /** The moment of the report that the artifacts were judged after. */
  evaluated_at: Timestamp;
  /** The moment at which the trail itself was last judged anew; the same unless said. */
  trail_evaluated_at?: Timestamp;
  /** As stored. */
  template_id: string;
}

function shownAttestation(row: AttestationStatus): AttestationStatus {
  return {
    ...row,
    attestation_id: wireIdOrNull(row.attestation_id),
    overridden_attestation_id: wireIdOrNull(row.overridden_attestation_id),
  };
}

function* printAttestations(rows: readonly AttestationStatus[]): Steps<string> {
  return (yield* listParts(rows, shownAttestation)).join("");
}

function* printArtifact(
  { artifact_fingerprint, artifact_id, status, is_compliant, ...rest }: ArtifactStatus,
  evaluation: Record<string, unknown>,
): Steps<string> {
  const head = { artifact_fingerprint, artifact_id: wireIdOrNull(artifact_id), status, is_compliant };
  const rows = yield* printAttestations(rest.attestations_statuses);
  // What is missing was not judged.
  const end = { unexpected: rest.unexpected, ...(status === "MISSING" ? {} : evaluation) };
  return `${JSON.stringify(head).slice(0, -1)},"attestations_statuses":${rows},${JSON.stringify(end).slice(1)}`;
}

/** What an artifact takes by itself, in rows. */
const weightOfArtifact = 9;

/**
 * Writes a verdict as JSON text, with ids in their wire form (contract flows 6.2). Text, because an object would not keep the
 * order of artifacts whose names look like numbers.
 */
export function* printComplianceInSteps(
  compliance: TrailCompliance,
  { evaluated_at, trail_evaluated_at = evaluated_at, template_id }: Evaluation,
): Steps<string> {
  const evaluation = { evaluated_at, flow_template_id: wireId(template_id) };
  const ofTrail = { ...evaluation, evaluated_at: trail_evaluated_at };
  const isEnough = portions();
  const artifacts: string[] = [];
  for (const [name, artifact] of compliance.artifacts_statuses) {
    if (isEnough(weightOfArtifact + artifact.attestations_statuses.length)) yield;
    artifacts.push(`${JSON.stringify(name)}:${yield* printArtifact(artifact, evaluation)}`);
  }
  yield;
  const { status, is_compliant } = compliance;
  const head = JSON.stringify({ status, is_compliant }).slice(0, -1);
  const rows = yield* printAttestations(compliance.attestations_statuses);
  yield;
  return `${head},"attestations_statuses":${rows},"artifacts_statuses":{${artifacts.join(",")}},${JSON.stringify(ofTrail).slice(1)}`;
}

/** Writes what a verdict says of each artifact in short, by its name, as JSON text: see `KeptVerdict`. */
export function* printStatesInSteps({ artifacts_statuses }: TrailCompliance): Steps<string> {
  const isEnough = portions();
  const states: string[] = [];
  for (const [name, { artifact_fingerprint, status }] of artifacts_statuses) {
    if (isEnough(1)) yield;
    const state: KeptVerdict["artifact_row"] = { artifact_fingerprint, status };
    states.push(`${JSON.stringify(name)}:${JSON.stringify(state)}`);
  }
  yield;
  return `{${states.join(",")}}`;
}

/** Does what `printComplianceInSteps` does, in one go. */
export function printCompliance(compliance: TrailCompliance, evaluation: Evaluation): string {
  return finish(printComplianceInSteps(compliance, evaluation));
}
