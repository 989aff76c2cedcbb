import type { Timestamp } from "../../lib/clock.ts";
import { wireId } from "../../lib/ids.ts";
import { finish, type Steps } from "../../lib/steps.ts";
import type { ArtifactStatus, AttestationStatus, TrailCompliance } from "./model.ts";
import { placesInOneGo } from "./places.ts";

/** When and by which template a verdict was reached. */
interface Evaluation {
  /** The moment of the report that the artifacts were judged after. */
  evaluated_at: Timestamp;
  /** The moment at which the trail itself was last judged anew; the same unless said. */
  trail_evaluated_at?: Timestamp;
  /** As stored. */
  template_id: string;
}

function shownId(id: string | null): string | null {
  return id === null ? null : wireId(id);
}

function shownAttestation(row: AttestationStatus): AttestationStatus {
  return {
    ...row,
    attestation_id: shownId(row.attestation_id),
    overridden_attestation_id: shownId(row.overridden_attestation_id),
  };
}

function printArtifact(artifact: ArtifactStatus, evaluation: Record<string, unknown>): string {
  return JSON.stringify({
    ...artifact,
    artifact_id: shownId(artifact.artifact_id),
    attestations_statuses: artifact.attestations_statuses.map(shownAttestation),
    // What is missing was not judged.
    ...(artifact.status === "MISSING" ? {} : evaluation),
  });
}

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
  const artifacts: string[] = [];
  for (const [name, artifact] of compliance.artifacts_statuses) {
    if (artifacts.length % placesInOneGo === 0) yield;
    artifacts.push(`${JSON.stringify(name)}:${printArtifact(artifact, evaluation)}`);
  }
  yield;
  const { status, is_compliant } = compliance;
  const attestations_statuses = compliance.attestations_statuses.map(shownAttestation);
  const before = JSON.stringify({ status, is_compliant, attestations_statuses }).slice(0, -1);
  return `${before},"artifacts_statuses":{${artifacts.join(",")}},${JSON.stringify(ofTrail).slice(1)}`;
}

/** Does what `printComplianceInSteps` does, in one go. */
export function printCompliance(compliance: TrailCompliance, evaluation: Evaluation): string {
  return finish(printComplianceInSteps(compliance, evaluation));
}
