import type {
  ArtifactComplianceStatus,
  AttestationComplianceStatus,
  TrailComplianceStatus,
} from "../../contract/trails.ts";
import type { z } from "zod";
import type { PdfEntry, PdfTone } from "../../lib/pdf.ts";
import { utcText } from "../../lib/iso-time.ts";
import { verdictText } from "./pdf-events.ts";
import type { ArtifactRow, AttestationRow, ReportRow } from "./pdf-store.ts";

type AttestationStatus = z.output<typeof AttestationComplianceStatus>;
type ArtifactStatus = z.output<typeof ArtifactComplianceStatus>;

/** A place of the verdict: one attestation name on the trail or on an artifact, or an artifact name. */
export type Slot =
  | { kind: "attestation"; artifact: string | null; status: AttestationStatus }
  | { kind: "artifact"; name: string; status: ArtifactStatus };

/** The places of a verdict: attestations of the trail, then each artifact followed by its attestations. */
export function slotsOf(verdict: z.output<typeof TrailComplianceStatus>): Slot[] {
  const attestations = (artifact: string | null, statuses: AttestationStatus[]) =>
    statuses.map((status): Slot => ({ kind: "attestation", artifact, status }));
  return [
    ...attestations(null, verdict.attestations_statuses),
    ...Object.entries(verdict.artifacts_statuses).flatMap(([name, status]): Slot[] => [
      { kind: "artifact", name, status },
      ...attestations(name, status.attestations_statuses),
    ]),
  ];
}

const tones: Record<string, PdfTone> = { COMPLIANT: "good", "NON-COMPLIANT": "bad" };

/** A verdict in its color. */
export function verdictOf(text: string): NonNullable<PdfEntry["verdict"]> {
  return { text, tone: tones[text] ?? "open" };
}

/** The verdict on a place. */
export function slotVerdict({ kind, status }: Slot): string {
  if (status.status === "MISSING") return "MISSING";
  return kind === "artifact" ? status.status : verdictText(status.is_compliant);
}

/** What is known of the reports that places rest on, by wire id. */
export interface SlotReports {
  attestations: ReadonlyMap<string, AttestationRow>;
  artifacts: ReadonlyMap<string, ArtifactRow>;
}

function reported({ created_at, created_by_name, wire_id }: ReportRow): string {
  return `Reported ${utcText(created_at)} by ${created_by_name}, id ${wire_id}`;
}

function fileLine({ file_name, file_size, file_sha256 }: AttestationRow): string {
  return file_sha256 === null
    ? "No file attached"
    : `Attached file: ${file_name}, ${file_size} bytes, SHA-256 ${file_sha256}`;
}

function overrideLines(row: AttestationRow, replaced: AttestationRow | undefined): string[] {
  if (!row.is_override) return [];
  if (replaced === undefined) return ["Override: nothing was reported under this name before"];
  const { is_compliant, created_at, created_by_name, wire_id } = replaced;
  const lines = [
    `Override: takes the place of ${verdictText(is_compliant)}, reported ${utcText(created_at)} by ${created_by_name}, id ${wire_id}`,
  ];
  return replaced.file_sha256 === null ? lines : [...lines, `Overridden report: ${fileLine(replaced)}`];
}

function expectation(unexpected: boolean): string {
  return unexpected ? "Not expected by the template" : "Expected by the template";
}

function attestationLines(status: AttestationStatus, { attestations }: SlotReports): string[] {
  const type = `Type ${status.attestation_type}. ${expectation(status.unexpected)}`;
  const row = status.attestation_id === null ? undefined : attestations.get(status.attestation_id);
  if (row === undefined) return [type];
  return [
    type,
    reported(row),
    fileLine(row),
    ...(row.override_reason === null ? [] : [`Reason of the override: ${row.override_reason}`]),
    ...overrideLines(row, attestations.get(status.overridden_attestation_id ?? "")),
    ...(row.description ? [`Description: ${row.description}`] : []),
  ];
}

function artifactLines(status: ArtifactStatus, { artifacts }: SlotReports): string[] {
  const row = status.artifact_id === null ? undefined : artifacts.get(status.artifact_id);
  return [
    ...(status.artifact_fingerprint === null ? [] : [`Fingerprint (SHA-256) ${status.artifact_fingerprint}`]),
    ...(row === undefined ? [] : [`File ${row.filename}`]),
    ...(row?.git_commit ? [`Commit ${row.git_commit}`] : []),
    ...(row === undefined ? [] : [reported(row)]),
    expectation(status.unexpected),
  ];
}

/** A place as an entry of the document. */
export function slotEntry(slot: Slot, reports: SlotReports): PdfEntry {
  const verdict = verdictOf(slotVerdict(slot));
  if (slot.kind === "artifact")
    return { title: `Artifact ${slot.name}`, verdict, lines: artifactLines(slot.status, reports) };
  const { attestation_name } = slot.status;
  const title = slot.artifact === null ? attestation_name : `${slot.artifact}: ${attestation_name}`;
  return { title: `Attestation ${title}`, verdict, lines: attestationLines(slot.status, reports) };
}
