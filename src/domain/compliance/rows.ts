import type { TemplateAttestation } from "../template/model.ts";
import type { AttestationReport, AttestationStatus } from "./model.ts";

/** Whether a report of `type` is what a template entry of type `expected` asks for. */
export function meetsType(expected: string, type: string): boolean {
  return expected === "*" || expected === type || (expected === "decision" && type === "system:decision");
}

/** The attestations of one place, judged. */
export interface Rows {
  statuses: AttestationStatus[];
  /** Something the template asks for was not reported. */
  missing: boolean;
  /** A current report is not compliant; also one of a type that does not meet the expectation of its name. */
  failed: boolean;
}

function reportedStatus(
  reports: readonly AttestationReport[],
  current: number,
  unexpected: boolean,
): AttestationStatus {
  const report = reports[current]!;
  const overridden = report.is_override
    ? reports.slice(0, current).findLast((earlier) => !earlier.is_override)
    : undefined;
  return {
    attestation_name: report.name,
    attestation_type: report.type,
    attestation_id: report.attestation_id,
    overridden_attestation_id: overridden?.attestation_id ?? null,
    status: "COMPLETE",
    is_compliant: report.is_compliant,
    unexpected,
  };
}

function missingStatus(expected: TemplateAttestation): AttestationStatus {
  return {
    attestation_name: expected.name,
    attestation_type: expected.type,
    attestation_id: null,
    overridden_attestation_id: null,
    status: "MISSING",
    is_compliant: null,
    unexpected: false,
  };
}

function groupByName(reports: readonly AttestationReport[]): Map<string, AttestationReport[]> {
  const groups = new Map<string, AttestationReport[]>();
  for (const report of reports) {
    const group = groups.get(report.name);
    if (group === undefined) groups.set(report.name, [report]);
    else group.push(report);
  }
  return groups;
}

/**
 * Judges the attestations of one place, a row for each name: expected ones in the template's order, then the others in
 * the order of their first report. Of the reports under one name the latest counts; where the template asks for a type,
 * the latest of that type meets the expectation, and a later one of another type still counts when it failed.
 * @param reports all of the place, in the order in which they were made.
 */
export function judgeRows(
  expected: readonly TemplateAttestation[],
  reports: readonly AttestationReport[],
): Rows {
  const groups = groupByName(reports);
  const rows: Rows = { statuses: [], missing: false, failed: false };
  const add = (status: AttestationStatus): void => {
    rows.statuses.push(status);
    if (status.status === "MISSING") rows.missing = true;
    if (status.is_compliant === false) rows.failed = true;
  };
  for (const entry of expected) {
    const group = groups.get(entry.name) ?? [];
    const current = group.findLastIndex((report) => meetsType(entry.type, report.type));
    add(current === -1 ? missingStatus(entry) : reportedStatus(group, current, false));
    if (group.slice(current + 1).at(-1)?.is_compliant === false) rows.failed = true;
    groups.delete(entry.name);
  }
  for (const group of groups.values()) add(reportedStatus(group, group.length - 1, true));
  return rows;
}
