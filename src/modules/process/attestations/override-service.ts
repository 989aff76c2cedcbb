import type { AttestationReport } from "../../../domain/compliance/model.ts";
import { typeOfOverride } from "../../../domain/compliance/override.ts";
import { addTo, type NonEmpty } from "../../../lib/group.ts";
import { knownTemplates } from "../flows/known-templates.ts";
import type { OverrideCase } from "./override-store.ts";
import type { NewAttestation } from "./store.ts";

/** Takes the row of an attestation for the report that trails are judged by. */
export function reportOf(row: NewAttestation): AttestationReport {
  const { name, type, is_compliant, is_override, artifact_fingerprint, target_artifacts } = row;
  return {
    attestation_id: row.id,
    name,
    type,
    is_compliant,
    is_override,
    artifact_fingerprint,
    target_artifacts,
    git_commit: row.git_commit_info?.sha1 ?? null,
    reported_at: row.created_at,
  };
}

/** Puts reports in the order of the database: another server's clock may be ahead. */
export function inOrder(reports: AttestationReport[]): AttestationReport[] {
  return reports.sort((a, b) => (a.attestation_id < b.attestation_id ? -1 : 1));
}

/**
 * Gives those of some new attestations that are overrides the type of what they override, which may be among those before them.
 * @param caseOf what was on the trail of an override before all of these; called for each in their order.
 * @returns all of them, in their order.
 */
export async function withTypes(
  orgId: string,
  rows: readonly NewAttestation[],
  caseOf: (override: NewAttestation) => OverrideCase,
): Promise<readonly NewAttestation[]> {
  if (!rows.some(({ is_override }) => is_override)) return rows;
  const cases = new Map(rows.filter(({ is_override }) => is_override).map((row) => [row, caseOf(row)]));
  const templateOf = await knownTemplates(
    orgId,
    [...cases.values()].map(({ template }) => template),
  );
  const typeBy = (
    { template, artifacts, attestations }: OverrideCase,
    more: readonly AttestationReport[],
    row: NewAttestation,
  ): string => {
    const reports = { artifacts, attestations: inOrder([...attestations, ...more]) };
    return typeOfOverride(templateOf(template), reports, reportOf(row));
  };
  const before = new Map<string, NonEmpty<AttestationReport>>();
  return rows.map((row) => {
    const found = cases.get(row);
    const key = `${row.trail_id}/${row.name}`;
    const typed = found === undefined ? row : { ...row, type: typeBy(found, before.get(key) ?? [], row) };
    addTo(before, key, reportOf(typed));
    return typed;
  });
}
