import type { Template } from "../template/model.ts";
import type { ArtifactReport, AttestationReport, TrailReports } from "./model.ts";
import { artifactPlace } from "./places.ts";
import { readRows } from "./rows.ts";

/** What counts for an artifact. */
export interface ArtifactEvidence {
  /** The attestations that count, one for each name: expected ones in the template's order, then others. */
  attestations: AttestationReport[];
  /** The last thing reported of it: an attestation, or the artifact itself. */
  last_reported_at: number;
}

/** The evidence on an artifact, without its trail's. */
export function evidenceOf(
  template: Template,
  reports: TrailReports,
  artifact: ArtifactReport,
): ArtifactEvidence {
  const place = artifactPlace(template, reports, artifact);
  return {
    attestations: readRows(place).flatMap((row) => row.contradiction ?? row.current ?? []),
    last_reported_at: place.reports.reduce(
      (latest, { reported_at }) => Math.max(latest, reported_at),
      artifact.reported_at,
    ),
  };
}
