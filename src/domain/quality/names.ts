import { attestationNamePattern, flowNamePattern, maxNameLength, trailNamePattern } from "../names.ts";
import { type Analysis, NoPlan, quoted } from "./payload.ts";
import { property } from "./properties.ts";

/** What of a project its flow is named after. */
export const flowNameBases = ["key", "name"] as const;

/** How a flow is named when the scanner does not say: an integration's settings. */
export interface FlowNameOptions {
  flow_name_base: (typeof flowNameBases)[number];
  flow_name_prefix: string;
  flow_name_suffix: string;
}

function isName(pattern: RegExp, name: string): boolean {
  return name.length <= maxNameLength && pattern.test(name);
}

/** Joins prefix, project and suffix, and replaces every character that flow names do not know by a hyphen. */
function defaultFlowName(analysis: Analysis, options: FlowNameOptions): string {
  const base = options.flow_name_base;
  const project = analysis.project?.[base] ?? "";
  if (project === "") throw new NoPlan(`Field project.${base} is missing and no flow is named`);
  const name = (options.flow_name_prefix + project + options.flow_name_suffix)
    .replace(/[^a-zA-Z0-9._~-]/gu, "-")
    // A name begins with a letter or digit.
    .replace(/^[^a-zA-Z0-9]+/, "");
  if (!isName(flowNamePattern, name))
    throw new NoPlan(`Project ${base} ${quoted(project)} gives no flow name`);
  return name;
}

/**
 * Names the flow to record in: the scanner's, else one named after the project.
 * @throws NoPlan when that is no flow name.
 */
export function flowName(analysis: Analysis, options: FlowNameOptions): string {
  const given = property(analysis, "flow");
  if (given === undefined) return defaultFlowName(analysis, options);
  if (!isName(flowNamePattern, given)) throw new NoPlan(`Flow name ${quoted(given)} is not valid`);
  return given;
}

/**
 * Names the trail to record on: the scanner's, else the revision that was analysed.
 * @throws NoPlan when there is neither, or it is no trail name.
 */
export function trailName(analysis: Analysis): string {
  const name = property(analysis, "trail") ?? analysis.revision?.trim() ?? "";
  if (name === "") throw new NoPlan("The analysis has no revision and no trail is named");
  if (!isName(trailNamePattern, name)) throw new NoPlan(`Trail name ${quoted(name)} is not valid`);
  return name;
}

/** An attestation's name, and the artifact of the flow's template it is about, if any. */
export interface AttestationName {
  name: string;
  target_artifact: string | null;
}

/**
 * Reads the scanner's `name` or `artifact.name`; `sonar` when it says nothing.
 * @throws NoPlan when that is no attestation name.
 */
export function attestationName(analysis: Analysis): AttestationName {
  const given = property(analysis, "attestation") ?? "sonar";
  const parts = given.split(".");
  if (parts.length > 2 || !parts.every((part) => isName(attestationNamePattern, part)))
    throw new NoPlan(`Attestation name ${quoted(given)} is not valid`);
  const [name = "", target_artifact = null] = parts.toReversed();
  return { name, target_artifact };
}
