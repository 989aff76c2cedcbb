import { utcText } from "../../lib/iso-time.ts";
import type { ShownEvent } from "./pdf-store.ts";

/** A verdict as documents print it. */
export function verdictText(is_compliant: boolean | null): "COMPLIANT" | "NON-COMPLIANT" {
  return is_compliant === true ? "COMPLIANT" : "NON-COMPLIANT";
}

function placeOf(event: ShownEvent): string {
  const { artifact_fingerprint, artifact_name, target_artifact } = event;
  if (artifact_fingerprint !== null)
    return ` on the artifact ${artifact_name ?? target_artifact ?? ""} ${artifact_fingerprint}`;
  return target_artifact === null ? " on the trail" : ` for the artifact ${target_artifact}`;
}

function whatHappened(event: ShownEvent): string {
  switch (event.type) {
    case "trail_reported":
      return "Trail begun";
    case "trail_updated":
      return `Trail updated: ${(event.changes ?? []).join(", ")}`;
    case "artifact_creation_reported":
      return `Artifact ${event.name} reported: ${event.artifact_name} ${event.artifact_fingerprint}`;
    default: {
      const again = event.is_reattestation === true ? " again" : "";
      const verdict = verdictText(event.is_compliant);
      return `Attestation ${event.name} of type ${event.attestation_type} reported${again}${placeOf(event)}: ${verdict}`;
    }
  }
}

/** One event in one line. */
export function eventLine(event: ShownEvent): string {
  const by = event.reported_by === null ? "" : `, by ${event.reported_by}`;
  const file =
    event.file_sha256 === null ? "" : `, with the file ${event.file_name} (SHA-256 ${event.file_sha256})`;
  return `${utcText(event.occurred_at)}  ${whatHappened(event)}${by}${file}`;
}
