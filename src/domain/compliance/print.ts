import type { Timestamp } from "../../lib/clock.ts";
import { wireId, wireIdOrNull } from "../../lib/ids.ts";
import { listParts } from "../../lib/json-parts.ts";
import { TextBlocks } from "../../lib/text-blocks.ts";
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

function* printArtifact(
  { artifact_fingerprint, artifact_id, status, is_compliant, ...rest }: ArtifactStatus,
  evaluation: Record<string, unknown>,
): Steps<string[]> {
  const head = { artifact_fingerprint, artifact_id: wireIdOrNull(artifact_id), status, is_compliant };
  const rows = yield* listParts(rest.attestations_statuses, shownAttestation);
  // What is missing was not judged.
  const end = { unexpected: rest.unexpected, ...(status === "MISSING" ? {} : evaluation) };
  return [
    `${JSON.stringify(head).slice(0, -1)},"attestations_statuses":`,
    ...rows,
    `,${JSON.stringify(end).slice(1)}`,
  ];
}

/** What an artifact takes by itself, in rows. */
const weightOfArtifact = 9;

/**
 * Writes a verdict as JSON text, with ids in their wire form (contract flows 6.2), in parts that follow each other. Text, because an object
 * would not keep the order of artifacts whose names look like numbers.
 */
export function* printComplianceInSteps(
  compliance: TrailCompliance,
  { evaluated_at, trail_evaluated_at = evaluated_at, template_id }: Evaluation,
): Steps<readonly string[]> {
  const evaluation = { evaluated_at, flow_template_id: wireId(template_id) };
  const ofTrail = { ...evaluation, evaluated_at: trail_evaluated_at };
  const isEnough = portions();
  const { status, is_compliant } = compliance;
  const text = new TextBlocks();
  text.add(`${JSON.stringify({ status, is_compliant }).slice(0, -1)},"attestations_statuses":`);
  for (const part of yield* listParts(compliance.attestations_statuses, shownAttestation)) text.add(part);
  text.add(',"artifacts_statuses":{');
  let before = "";
  for (const [name, artifact] of compliance.artifacts_statuses) {
    if (isEnough(weightOfArtifact + artifact.attestations_statuses.length)) yield;
    text.add(`${before}${JSON.stringify(name)}:`);
    for (const part of yield* printArtifact(artifact, evaluation)) text.add(part);
    before = ",";
  }
  text.add(`},${JSON.stringify(ofTrail).slice(1)}`);
  return text.all;
}

/** Writes what a verdict says of each artifact in short, by its name, as JSON text in parts: see `KeptVerdict`. */
export function* printStatesInSteps({ artifacts_statuses }: TrailCompliance): Steps<readonly string[]> {
  const isEnough = portions();
  const text = new TextBlocks();
  let before = "{";
  for (const [name, { artifact_fingerprint, status }] of artifacts_statuses) {
    if (isEnough(1)) yield;
    const state: KeptVerdict["artifact_row"] = { artifact_fingerprint, status };
    text.add(`${before}${JSON.stringify(name)}:${JSON.stringify(state)}`);
    before = ",";
  }
  yield;
  text.add(before === "{" ? "{}" : "}");
  return text.all;
}

/** Does what `printComplianceInSteps` does, in one go. */
export function printCompliance(compliance: TrailCompliance, evaluation: Evaluation): string {
  return finish(printComplianceInSteps(compliance, evaluation)).join("");
}
