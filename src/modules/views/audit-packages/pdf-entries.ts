import type { PdfEntry, PdfTone } from "../../../lib/pdf.ts";
import { utcText } from "../../../lib/iso-time.ts";
import type {
  ArtifactRow,
  ArtifactStatus,
  AttestationRow,
  AttestationStatus,
  ReportRow,
  ShownEvent,
  Slot,
  SlotCount,
} from "./pdf-store.ts";

/** Prints a verdict. */
function verdictText(is_compliant: boolean | null): "COMPLIANT" | "NON-COMPLIANT" {
  return is_compliant === true ? "COMPLIANT" : "NON-COMPLIANT";
}

const tones: Record<string, PdfTone> = { COMPLIANT: "good", "NON-COMPLIANT": "bad" };

/** Gives a verdict its color. */
export function verdictOf(text: string): NonNullable<PdfEntry["verdict"]> {
  return { text, tone: tones[text] ?? "open" };
}

/** Prints the verdict on a place. */
function slotVerdict({ kind, status, is_compliant }: Omit<SlotCount, "count">): string {
  if (status === "MISSING") return "MISSING";
  return kind === "artifact" ? status : verdictText(is_compliant);
}

/** Prints what verdicts places have, a line for each. */
export function countLines(counts: readonly SlotCount[]): string[] {
  const lines = new Map<string, number>();
  for (const { count, ...slot } of counts) {
    const name = `${slot.kind === "artifact" ? "Artifacts" : "Attestations"} ${slotVerdict(slot)}`;
    lines.set(name, (lines.get(name) ?? 0) + count);
  }
  return Array.from(lines, ([name, count]) => `${name}: ${count}`).sort();
}

/** The reports that places rest on, by wire id. */
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

/** Prints a place as an entry of the document. */
export function slotEntry(slot: Slot, reports: SlotReports): PdfEntry {
  if (slot.kind === "artifact") {
    const verdict = verdictOf(
      slotVerdict({ kind: slot.kind, status: slot.status.status, is_compliant: null }),
    );
    return { title: `Artifact ${slot.artifact}`, verdict, lines: artifactLines(slot.status, reports) };
  }
  const { attestation_name, status, is_compliant } = slot.status;
  const verdict = verdictOf(slotVerdict({ kind: slot.kind, status, is_compliant }));
  const title = slot.artifact === null ? attestation_name : `${slot.artifact}: ${attestation_name}`;
  return { title: `Attestation ${title}`, verdict, lines: attestationLines(slot.status, reports) };
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

/** Prints an event in one line. */
export function eventLine(event: ShownEvent): string {
  const by = event.reported_by === null ? "" : `, by ${event.reported_by}`;
  const file =
    event.file_sha256 === null ? "" : `, with the file ${event.file_name} (SHA-256 ${event.file_sha256})`;
  return `${utcText(event.occurred_at)}  ${whatHappened(event)}${by}${file}`;
}
