import type { PolicyDecision, Resolution, RuleEvaluation, ShownRule } from "../policy/evaluation/model.ts";
import { flowMark } from "./print.ts";

/** A rule of a policy, said once. */
export interface NamedRule {
  policy_name: string;
  policy_version: number;
  /** Place of the rule among the policy's. */
  rule_index: number;
  rule: ShownRule;
}

/** The key of the number of a flow, while decisions are looked at without their flows. No text of a rule begins so. */
const flowKey = "\u0003";

type Numbered<T> = Omit<T, "flow_name" | "trail_name"> & Partial<T> & { [flowKey]?: number };

interface SharedEvaluation extends Omit<RuleEvaluation, "resolutions"> {
  resolutions: { type: Resolution["type"]; context: Numbered<Resolution["context"]> }[];
}

/** Decisions of policies that several artifacts have in common: with numbers in place of flows. */
export type SharedDecisions = readonly (Omit<PolicyDecision, "rule_evaluations"> & {
  rule_evaluations: SharedEvaluation[];
})[];

const marked = new RegExp(`${flowMark}(\\d+)${flowMark}`, "g");
const keyed = /"\\u0003":(\d+)/g;

/**
 * Parses what policies decided, with numbers in place of flows.
 * @param text JSON text with `flowMark` in it.
 */
export function parseDecisions(text: string): SharedDecisions {
  return JSON.parse(text.replace(marked, String.raw`"\u0003":$1`)) as SharedDecisions;
}

/**
 * Puts the flows of an artifact into what policies decided on it.
 * @param flows each as members of an object.
 */
export function decisionsOf(shared: SharedDecisions, flows: readonly string[]): PolicyDecision[] {
  const places = flows.map(
    (flow) => JSON.parse(`{${flow}}`) as Pick<Resolution["context"], "flow_name" | "trail_name">,
  );
  const resolve = ({ type, context }: SharedEvaluation["resolutions"][number]): Resolution => {
    const { [flowKey]: number, ...rest } = context;
    const place = number === undefined ? undefined : places[number];
    return { type, context: { ...place, ...rest } as Resolution["context"] };
  };
  return shared.map((decision) => ({
    ...decision,
    rule_evaluations: decision.rule_evaluations.map((evaluation) => ({
      ...evaluation,
      resolutions: evaluation.resolutions.map(resolve),
    })),
  }));
}

/** Lists the rules that were decided on. */
export function rulesIn(shared: SharedDecisions): NamedRule[] {
  return shared.flatMap(({ policy_name, policy_version, rule_evaluations }) =>
    rule_evaluations.map(({ rule }, rule_index) => ({ policy_name, policy_version, rule_index, rule })),
  );
}

/** Writes decisions as JSON text with `flowMark` in it, each rule by its index instead of in full. */
export function printWithoutRules(shared: SharedDecisions): string {
  const shorter = shared.map(({ rule_evaluations, ...decision }) => ({
    ...decision,
    rule_evaluations: rule_evaluations.map(({ rule: _rule, ...evaluation }, rule_index) => ({
      rule_index,
      ...evaluation,
    })),
  }));
  return JSON.stringify(shorter).replace(keyed, `${flowMark}$1${flowMark}`);
}

/** Gathers rules, each once, in the order in which they come. */
export class RuleBook {
  readonly #rules = new Map<string, NamedRule>();

  add(rules: readonly NamedRule[]): void {
    for (const rule of rules) this.#find(rule);
  }

  /**
   * Replaces the rules of decisions by those of this book: each is in memory once, however many decisions there are.
   */
  share(decisions: SharedDecisions): SharedDecisions {
    return decisions.map(({ rule_evaluations, ...decision }) => ({
      ...decision,
      rule_evaluations: rule_evaluations.map((evaluation, rule_index) => {
        const { policy_name, policy_version } = decision;
        const { rule } = this.#find({ policy_name, policy_version, rule_index, rule: evaluation.rule });
        return { ...evaluation, rule };
      }),
    }));
  }

  get rules(): NamedRule[] {
    return [...this.#rules.values()];
  }

  #find(rule: NamedRule): NamedRule {
    const key = `${rule.policy_name} ${rule.rule_index}`;
    const known = this.#rules.get(key);
    if (known !== undefined) return known;
    this.#rules.set(key, rule);
    return rule;
  }
}
