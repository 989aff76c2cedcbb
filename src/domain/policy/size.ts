import { programSize } from "./expression/regex.ts";
import type { BooleanRule, Condition, Policy } from "./model.ts";
import { policyDump } from "./print.ts";

/** Rules of one policy at most, each exception counted as one: many times what anybody wants to keep in mind. */
export const maxRules = 500;

/** Cost of judging one artifact by a policy. */
export interface PolicySize {
  /** Rules and exceptions, long conditions counted more than once; at least one. */
  rules: number;
  /** Instructions of all regular expressions. */
  patterns: number;
  /** The same of the rule that has most, all exceptions of a kind counted as one rule: it is evaluated in one go. */
  patternsOfOne: number;
  /** Characters of its text in each snapshot that it is applied in. */
  printed: number;
}

/** Characters of a condition that cost as much as a rule. */
const conditionLength = 1000;

/** Lists the conditions of each rule. */
function conditionsOf({ artifacts }: Policy): (readonly (Condition | null)[])[] {
  const { provenance, trail_compliance, attestations } = artifacts;
  return [
    provenance.exceptions,
    trail_compliance.exceptions,
    ...attestations.map(({ condition }) => [condition]),
  ];
}

function countBoolean({ required, exceptions }: BooleanRule): number {
  return exceptions.length + (required ? 1 : 0);
}

/** Counts the rules that are in force, and all exceptions. */
export function countRules({ artifacts }: Policy): number {
  const { provenance, trail_compliance, attestations } = artifacts;
  return countBoolean(provenance) + countBoolean(trail_compliance) + attestations.length;
}

const known = new WeakMap<Policy, PolicySize>();

/** Measures a policy, once. */
export function sizeOfPolicy(policy: Policy): PolicySize {
  const size = known.get(policy) ?? measure(policy);
  known.set(policy, size);
  return size;
}

function measure(policy: Policy): PolicySize {
  let [rules, patterns, patternsOfOne] = [countRules(policy), 0, 0];
  for (const conditions of conditionsOf(policy)) {
    let ofRule = 0;
    for (const condition of conditions) {
      if (condition === null) continue;
      rules += Math.floor(condition.text.length / conditionLength);
      ofRule += programSize(condition.expression);
    }
    patterns += ofRule;
    patternsOfOne = Math.max(patternsOfOne, ofRule);
  }
  const printed = JSON.stringify(policyDump(policy)).length;
  return { rules: Math.max(1, rules), patterns, patternsOfOne, printed };
}
