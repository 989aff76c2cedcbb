import type { Verdict } from "./verdict.ts";

/** What a policy asks for, as explanations and snapshots tell it. */
export interface RuleLike {
  type: string;
  definition: unknown;
}

interface Definition {
  required?: boolean;
  name?: string;
  type?: string;
  for_control?: string | null;
  must_be_compliant?: boolean;
}

const isDefinition = (value: unknown): value is Definition => typeof value === "object" && value !== null;

/** Says what a rule asks for: `Attestation unit-tests of type junit, compliant`. */
export function ruleWords({ type, definition }: RuleLike): string {
  const {
    name = "*",
    type: kind = "*",
    for_control,
    must_be_compliant,
  } = isDefinition(definition) ? definition : {};
  if (type === "provenance") return "Known origin";
  if (type === "trail-compliance") return "Compliant trail";
  const what = kind === "*" ? "Attestation" : `Attestation of type ${kind}`;
  const named =
    name === "*" ? what : kind === "*" ? `Attestation ${name}` : `Attestation ${name} of type ${kind}`;
  const control = for_control === null || for_control === undefined ? "" : `, for control ${for_control}`;
  return `${named}${control}${must_be_compliant === false ? ", in any state" : ""}`;
}

export type Outcome = "met" | "missing" | "failed" | "not_applicable";

/** How outcomes look, and their words. */
export const outcomes: Readonly<Record<Outcome, { verdict: Verdict; words: string }>> = {
  met: { verdict: "compliant", words: "Met" },
  missing: { verdict: "missing", words: "Missing" },
  failed: { verdict: "non-compliant", words: "Failed" },
  not_applicable: { verdict: "unknown", words: "Does not apply" },
};

interface RequirementLike {
  policy_name: string;
  policy_version: number;
  rule_index: number;
  outcome: Outcome;
}

/** The requirements of one policy: what decides, and what does not apply. */
export interface PolicyRequirements<R> {
  policy_name: string;
  policy_version: number;
  isMet: boolean;
  deciding: R[];
  idle: R[];
}

const urgency: Readonly<Record<Outcome, number>> = { failed: 0, missing: 1, met: 2, not_applicable: 3 };

function groupOf<R extends RequirementLike>(group: readonly R[]): PolicyRequirements<R> {
  const sorted = group.toSorted(
    (a, b) => urgency[a.outcome] - urgency[b.outcome] || a.rule_index - b.rule_index,
  );
  const deciding = sorted.filter(({ outcome }) => outcome !== "not_applicable");
  return {
    policy_name: group[0]?.policy_name ?? "",
    policy_version: group[0]?.policy_version ?? 0,
    isMet: deciding.every(({ outcome }) => outcome === "met"),
    deciding,
    idle: sorted.filter(({ outcome }) => outcome === "not_applicable"),
  };
}

/** Groups requirements by policy, those with something amiss first; within a policy likewise. A rule has to be met in every flow. */
export function byPolicy<R extends RequirementLike>(requirements: readonly R[]): PolicyRequirements<R>[] {
  const groups = new Map<string, R[]>();
  for (const requirement of requirements) {
    const { policy_name } = requirement;
    groups.set(policy_name, [...(groups.get(policy_name) ?? []), requirement]);
  }
  return [...groups.values()].map(groupOf).toSorted((a, b) => Number(a.isMet) - Number(b.isMet));
}

interface PlacedLike {
  /** Null for what the template does not ask for. */
  template_path: string | null;
  /** Null for the trail. */
  artifact_name: string | null;
}

/** What is asked of the trail or of one artifact, or came there unasked. */
export interface PlaceRequirements<R> {
  artifact: string | null;
  isAsked: boolean;
  requirements: R[];
}

/** Groups what a trail needs by what it is about, as its template has it; what came unasked is in groups behind those. */
export function inTemplateOrder<R extends PlacedLike>(requirements: readonly R[]): PlaceRequirements<R>[] {
  const groups = new Map<string, PlaceRequirements<R>>();
  for (const requirement of requirements) {
    const { artifact_name: artifact, template_path } = requirement;
    const isAsked = template_path !== null;
    const key = JSON.stringify([artifact, isAsked]);
    const group = groups.get(key) ?? { artifact, isAsked, requirements: [] };
    group.requirements.push(requirement);
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((a, b) => Number(b.isAsked) - Number(a.isAsked));
}
