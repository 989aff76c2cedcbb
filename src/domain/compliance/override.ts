import type { Template, TemplateAttestation } from "../template/model.ts";
import type { AttestationReport, TrailReports } from "./model.ts";
import { placesOfReport } from "./places.ts";
import { meetsType, rowOf } from "./rows.ts";

/**
 * Finds the type that an override needs to decide on a name in a place. Evidence goes before what overrode it, and the last before the
 * first.
 * @param group what is under the name there.
 */
function typeAmong(
  group: readonly AttestationReport[],
  entry: TemplateAttestation | undefined,
  { name, type: stated }: AttestationReport,
): string {
  const [evidence, overrides] = [false, true].map((is_override) =>
    group.filter((one) => one.is_override === is_override).map(({ type }) => type),
  ) as [string[], string[]];
  const { current, contradiction } = rowOf(name, entry, group);
  const decides =
    meetsType(entry, stated) || (contradiction?.type === stated && current?.is_compliant === true);
  // There may be reports of several types, and the caller means one of them.
  if (decides && (evidence.length > 0 ? evidence : overrides).includes(stated)) return stated;
  const types = [...evidence.toReversed(), ...overrides.toReversed(), stated];
  return types.find((type) => meetsType(entry, type)) ?? types[0] ?? stated;
}

/**
 * Finds the type of an override: that of the report whose verdict it replaces, whatever its caller said (contract flows 7.5). It is that of
 * the report that meets what the template asks for, and the stated one where nothing was reported under the name in its place. Where
 * reports of several types count there, the one that is stated is kept.
 * @param override as it was stated. One that is for several artifacts has the type of the first that has a report of its name.
 * @param reports those before it, in the order in which they were made.
 */
export function typeOfOverride(
  template: Template,
  reports: TrailReports,
  override: AttestationReport,
): string {
  for (const place of placesOfReport(template, reports, override)) {
    const group = place.reports.filter(({ name }) => name === override.name);
    const entry = place.entries.find(({ name }) => name === override.name);
    if (group.length > 0) return typeAmong(group, entry, override);
  }
  return override.type;
}
