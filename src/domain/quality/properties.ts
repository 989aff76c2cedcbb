import { type Analysis, NoPlan } from "./payload.ts";

/** Prefixes of scanner properties that address us, the stronger first. Scanners forward only `sonar.analysis.`. */
const prefixes = ["sonar.analysis.waybill_", "sonar.analysis.kosli_"] as const;

/** What a scanner may ask for. */
type PropertyName =
  | "flow"
  | "flow_description"
  | "trail"
  | "trail_description"
  | "attestation"
  | "git_commit"
  | "artifact_fingerprint";

/**
 * Reads the scanner's property of this name, without blanks around it. One that is empty counts as not given: that is what
 * becomes of an unset variable in a pipeline.
 * @throws NoPlan when the value is not text.
 */
export function property(analysis: Analysis, name: PropertyName): string | undefined {
  const properties = analysis.properties ?? {};
  for (const prefix of prefixes) {
    const value = properties[prefix + name] ?? "";
    if (typeof value !== "string") throw new NoPlan(`Property ${prefix}${name} should be text`);
    const trimmed = value.trim();
    if (trimmed !== "") return trimmed;
  }
  return undefined;
}
