import type { Template, TemplateAttestation } from "../template/model.ts";
import type {
  ArtifactReport,
  ArtifactStatus,
  AttestationReport,
  ComplianceState,
  TrailCompliance,
  TrailReports,
} from "./model.ts";
import { judgeRows, type Rows } from "./rows.ts";

/** One failure decides; without one, anything missing leaves the question open. */
function stateOf(rows: Pick<Rows, "failed" | "missing">): ComplianceState {
  if (rows.failed) return "NON-COMPLIANT";
  return rows.missing ? "INCOMPLETE" : "COMPLIANT";
}

function isOnTrail(report: AttestationReport): boolean {
  return report.artifact_fingerprint === null && (report.target_artifacts ?? []).length === 0;
}

function isFor(report: AttestationReport, name: string): boolean {
  return report.target_artifacts?.includes(name) === true;
}

/**
 * The attestations that count for the artifact last reported under a name: those bound to its fingerprint, and those
 * made for the name and its commit. While there is no artifact yet, all that wait for the name.
 */
function reportsFor(name: string, artifact: ArtifactReport | undefined, all: readonly AttestationReport[]) {
  return all.filter((report) => {
    if (report.artifact_fingerprint !== null) return report.artifact_fingerprint === artifact?.fingerprint;
    if (!isFor(report, name)) return false;
    return (
      artifact === undefined || (report.git_commit !== null && report.git_commit === artifact.git_commit)
    );
  });
}

interface JudgedArtifact {
  status: ArtifactStatus;
  rows: Rows;
}

function judgeArtifact(
  name: string,
  expected: readonly TemplateAttestation[] | undefined,
  reports: TrailReports,
): JudgedArtifact {
  const artifact = reports.artifacts.findLast((report) => report.template_reference_name === name);
  const rows = judgeRows(expected ?? [], reportsFor(name, artifact, reports.attestations));
  const state = artifact === undefined ? "MISSING" : stateOf(rows);
  const status: ArtifactStatus = {
    artifact_fingerprint: artifact?.fingerprint ?? null,
    artifact_id: artifact?.artifact_id ?? null,
    status: state,
    is_compliant: artifact === undefined ? null : state === "COMPLIANT",
    attestations_statuses: rows.statuses,
    unexpected: expected === undefined,
  };
  return { status, rows };
}

/** Artifact names that were reported, or that attestations wait for, in the order in which they first came up. */
function reportedNames(reports: TrailReports): string[] {
  const mentions = [
    ...reports.artifacts.map((report) => ({ name: report.template_reference_name, at: report.reported_at })),
    ...reports.attestations
      .filter((report) => report.artifact_fingerprint === null)
      .flatMap((report) => (report.target_artifacts ?? []).map((name) => ({ name, at: report.reported_at }))),
  ];
  // Sorting keeps the order of what came at the same moment.
  return [...new Set(mentions.sort((a, b) => a.at - b.at).map(({ name }) => name))];
}

/**
 * Judges a trail by its template and everything reported on it. Pure: the same reports give the same verdict, whenever
 * and wherever it is computed.
 *
 * A trail is COMPLIANT when everything the template asks for was reported and nothing that was reported failed,
 * NON-COMPLIANT when something reported failed, INCOMPLETE when only something is missing. Failing beats missing.
 */
export function evaluateTrail(template: Template, reports: TrailReports): TrailCompliance {
  const onTrail = judgeRows(template.trail.attestations, reports.attestations.filter(isOnTrail));
  const expected = new Map(template.trail.artifacts.map(({ name, attestations }) => [name, attestations]));
  const names = new Set([...expected.keys(), ...reportedNames(reports)]);
  let { failed, missing } = onTrail;
  const artifacts = new Map<string, ArtifactStatus>();
  for (const name of names) {
    const { status, rows } = judgeArtifact(name, expected.get(name), reports);
    artifacts.set(name, status);
    failed ||= rows.failed;
    missing ||= expected.has(name) && (status.status === "MISSING" || rows.missing);
  }
  const status = stateOf({ failed, missing });
  return {
    status,
    is_compliant: status === "COMPLIANT",
    attestations_statuses: onTrail.statuses,
    artifacts_statuses: artifacts,
  };
}

/**
 * The state of an artifact as an artifact: its own row and the attestations its trail needs, together.
 * @param name the template name the artifact was reported under.
 */
export function artifactState(
  compliance: Pick<TrailCompliance, "attestations_statuses" | "artifacts_statuses">,
  name: string,
): ComplianceState {
  const artifact = compliance.artifacts_statuses.get(name);
  const rows = [...compliance.attestations_statuses, ...(artifact?.attestations_statuses ?? [])];
  const failed = artifact?.status === "NON-COMPLIANT" || rows.some((row) => row.is_compliant === false);
  const missing = rows.some((row) => row.status === "MISSING");
  return stateOf({ failed, missing });
}
