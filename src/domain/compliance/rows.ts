import { grouped, portions, type Steps } from "../../lib/steps.ts";
import type { TemplateAttestation } from "../template/model.ts";
import type { AttestationReport, AttestationStatus } from "./model.ts";
import type { Place } from "./places.ts";

/** Says whether a report of `type` is what a template entry asks for; without an entry any is. */
export function meetsType(entry: TemplateAttestation | undefined, type: string): boolean {
  if (entry === undefined) return true;
  const { type: expected } = entry;
  return expected === "*" || expected === type || (expected === "decision" && type === "system:decision");
}

/** One attestation name in one place. */
export interface Row {
  name: string;
  /** What the template asks for under the name; undefined when it does not. */
  entry: TemplateAttestation | undefined;
  /** The report that counts: the latest, or the latest of the type that is asked for. */
  current: AttestationReport | undefined;
  /** The report whose verdict the current one replaces. */
  overridden: AttestationReport | undefined;
  /** A failed report after the current one, of a type that is not asked for: evidence of failure counts anyway. */
  contradiction: AttestationReport | undefined;
}

/** Says what became of a row. A failed one may be missing what was asked for, too. */
export function outcomeOf({ current, contradiction }: Row): "met" | "missing" | "failed" {
  if (current?.is_compliant === false || contradiction !== undefined) return "failed";
  return current === undefined ? "missing" : "met";
}

/** The report whose verdict an override replaces: the last one before it of its type, or of any, if one of its type was never there. */
function overriddenBy(
  override: AttestationReport,
  before: readonly AttestationReport[],
): AttestationReport | undefined {
  return (
    before.findLast(({ is_override, type }) => !is_override && type === override.type) ??
    before.findLast(({ is_override }) => !is_override)
  );
}

/** Makes the row of a name. @param group all reports under it in its place. */
export function rowOf(
  name: string,
  entry: TemplateAttestation | undefined,
  group: readonly AttestationReport[],
): Row {
  const at = group.findLastIndex((report) => meetsType(entry, report.type));
  const current = group[at];
  const last = group.at(-1);
  return {
    name,
    entry,
    current,
    overridden: current?.is_override === true ? overriddenBy(current, group.slice(0, at)) : undefined,
    contradiction: at < group.length - 1 && last?.is_compliant === false ? last : undefined,
  };
}

/**
 * Reads the attestations of one place, a row for each name: expected ones in the template's order, then the others in
 * the order of their first report. Of the reports under one name the latest counts; where the template asks for a type,
 * the latest of that type meets the expectation, and a later one of another type still counts when it failed.
 */
export function* readRowsInSteps({ entries, reports }: Pick<Place, "entries" | "reports">): Steps<Row[]> {
  const isEnough = portions();
  const groups = yield* grouped(reports, ({ name }) => name);
  const expected = new Set<string>();
  const rows: Row[] = [];
  for (const entry of entries) {
    if (isEnough(1)) yield;
    expected.add(entry.name);
    rows.push(rowOf(entry.name, entry, groups.get(entry.name) ?? []));
  }
  for (const [name, group] of groups) {
    if (isEnough(1)) yield;
    if (!expected.has(name)) rows.push(rowOf(name, undefined, group));
  }
  return rows;
}

/** Says whether a template entry is without a report of its type. */
export function isMissing(row: Row): boolean {
  return row.current === undefined;
}

/** Makes of a row what verdicts show. */
export function statusOf({ name, entry, current, overridden }: Row): AttestationStatus {
  return {
    attestation_name: name,
    attestation_type: current?.type ?? entry?.type ?? "*",
    attestation_id: current?.attestation_id ?? null,
    overridden_attestation_id: overridden?.attestation_id ?? null,
    status: current === undefined ? "MISSING" : "COMPLETE",
    is_compliant: current?.is_compliant ?? null,
    unexpected: entry === undefined,
  };
}
