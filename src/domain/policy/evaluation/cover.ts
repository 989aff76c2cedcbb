import { anything } from "../model.ts";

/** A rule of a policy: the policy, and the rule's place among its evaluations. */
export interface RuleReference {
  policy_name: string;
  rule_index: number;
}

/**
 * A compliant attestation that one rule asks for, or that several do. `*` and null leave a choice. Some rules would be
 * content with one that is not compliant, but as the latest of its kind it could fail others.
 */
export interface WantedAttestation {
  type: string;
  name: string;
  for_control: string | null;
  rules: readonly RuleReference[];
}

/** Ranks a wish by how much it leaves open. Sorting by it is what makes the cover the smallest: see `smallestCover`. */
function rank({ type, name, for_control }: WantedAttestation): number {
  if (type === anything) return 4;
  if (name === anything) return type === "decision" && for_control !== null ? 2 : 3;
  return type === "decision" && for_control === null ? 1 : 0;
}

/** Finds what fulfils both of two demands; undefined when nothing does. */
function both<T>(left: T, right: T, open: T): { value: T } | undefined {
  if (left === right || right === open) return { value: left };
  return left === open ? { value: right } : undefined;
}

/** Makes one wish of two; undefined when they contradict each other. */
function merge(left: WantedAttestation, right: WantedAttestation): WantedAttestation | undefined {
  const type = both(left.type, right.type, anything);
  const name = both(left.name, right.name, anything);
  const control = both(left.for_control, right.for_control, null);
  if (type === undefined || name === undefined || control === undefined) return undefined;
  return {
    type: type.value,
    name: name.value,
    for_control: control.value,
    rules: [...left.rules, ...right.rules],
  };
}

function covers(report: WantedAttestation, wish: WantedAttestation): boolean {
  return (
    (wish.type === anything || wish.type === report.type) &&
    (wish.name === anything || wish.name === report.name) &&
    (wish.for_control === null || wish.for_control === report.for_control)
  );
}

function place(reports: WantedAttestation[], wish: WantedAttestation): void {
  const fulfilling = reports.findIndex((report) => covers(report, wish));
  const fitting = reports.findIndex((report) => merge(report, wish) !== undefined);
  const at = fulfilling === -1 ? fitting : fulfilling;
  const report = reports[at];
  const merged = report && merge(report, wish);
  if (merged === undefined) reports.push(wish);
  else reports[at] = merged;
}

/**
 * Finds the fewest attestations that fulfil all wishes.
 *
 * Wishes that leave nothing open come first: each needs a report of its own, and others may find theirs among these.
 * Then follow, in turn, those that leave open a decision's control, its name, any name, any type. Each of these kinds
 * can only share a report with the kind before or after it, one with one, so taking partners as they come loses none.
 */
export function smallestCover(wishes: readonly WantedAttestation[]): WantedAttestation[] {
  const reports: WantedAttestation[] = [];
  for (const wish of wishes.toSorted((left, right) => rank(left) - rank(right))) place(reports, wish);
  return reports;
}
