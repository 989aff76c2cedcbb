import { AppError } from "./errors.ts";
import type { Policy } from "./policy/model.ts";
import { countRules, maxRules, type PolicySize, sizeOfPolicy } from "./policy/size.ts";

/**
 * Limits of what is judged at once: in an environment, and in trying a policy on several. They are the same for
 * everybody who judges, so that what may be stored can be judged, and what may be tried can be stored.
 */
export const judgingLimits = {
  /** Rules times artifacts times flows: ten thousand artifacts of two flows each under 50 rules are just possible. */
  evaluations: 1_000_000,
  /** Artifacts times flows, however few rules there are. */
  facts: 100_000,
  /** Rules times flows of one artifact, which is judged without a pause. */
  evaluationsOfOne: 50_000,
  /** Flows of one artifact. */
  flowsOfOne: 10_000,
  /** Instructions of regular expressions times characters of names: in turns, at worst some two minutes. */
  matching: 5_000_000_000,
  /** The same of one rule and one name, which is done without a pause: at worst some fifty milliseconds. */
  matchingOfOne: 2_100_000,
  /**
   * What members of a logical environment run, before equal ones are merged: artifacts, their instances, and bytes of what
   * says where these run. Each may be one artifact in all members, of which all is one row then. Several logical environments
   * that are judged one after the other may have no more together.
   */
  memberArtifacts: 100_000,
  memberInstances: 250_000,
  memberBytes: 64 * 1024 * 1024,
  /** Characters of policies in snapshots of several logical environments that are made together. */
  printed: 64 * 1024 * 1024,
} as const;

/** The size of what is to be judged. */
export interface JudgingSize {
  policies: readonly { name: string; policy: Policy }[];
  /** Artifacts times flows: each artifact counts as often as flows know it, but at least once. */
  facts: number;
  /** Flows of the artifact that most flows know. */
  mostFlows?: number;
  /** Characters in the names of all artifacts. */
  names?: number;
  /** Characters of the longest of these names. */
  longestName?: number;
}

/**
 * Measures what there is to judge.
 * @param artifacts those that run.
 * @param flows how many flows know each fingerprint; without them, each artifact is taken to be known to one.
 */
export function measureJudging(
  policies: JudgingSize["policies"],
  artifacts: readonly { name: string; fingerprint: string }[],
  flows?: ReadonlyMap<string, number>,
): JudgingSize {
  let [facts, mostFlows, names, longestName] = [0, 1, 0, 0];
  for (const { name, fingerprint } of artifacts) {
    const known = Math.max(1, flows?.get(fingerprint) ?? 0);
    facts += known;
    mostFlows = Math.max(mostFlows, known);
    names += name.length;
    longestName = Math.max(longestName, name.length);
  }
  return { policies, facts, mostFlows, names, longestName };
}

/** The error when judging an environment asks for more than is judged at once. */
export class TooMuchToJudge extends AppError {
  constructor(environment: string, problem: string) {
    super("invalid", `Environment '${environment}' cannot be judged: ${problem}`);
  }
}

function rulesProblem(policies: JudgingSize["policies"]): string | undefined {
  const large = policies.find(({ policy }) => countRules(policy) > maxRules);
  return (
    large &&
    `policy '${large.name}' has ${countRules(large.policy)} rules, more than ${maxRules}: detach it, or give it a shorter version`
  );
}

function tooMany(what: string, count: number, most: number): string | undefined {
  return count > most ? `${what} are ${count}, more than the ${most} that are possible at once` : undefined;
}

/** Adds up one size of policies. */
function sumOf(policies: JudgingSize["policies"], size: keyof PolicySize): number {
  return policies.reduce((sum, { policy }) => sum + sizeOfPolicy(policy)[size], 0);
}

/** Counts the evaluations: rules times artifacts times flows. */
export function countEvaluations({ policies, facts }: JudgingSize): number {
  return sumOf(policies, "rules") * facts;
}

/** Counts instructions of regular expressions times characters of names. */
function countMatching({ policies, names = 0 }: JudgingSize): number {
  return sumOf(policies, "patterns") * names;
}

/** Says why this cannot be judged at once, with its size and the limit; undefined when it can. */
export function judgingProblem(size: JudgingSize): string | undefined {
  const { policies, facts, mostFlows = 1, longestName = 0 } = size;
  const { evaluations, evaluationsOfOne, flowsOfOne, matching, matchingOfOne } = judgingLimits;
  const rules = sumOf(policies, "rules");
  const patternsOfOne = Math.max(0, ...policies.map(({ policy }) => sizeOfPolicy(policy).patternsOfOne));
  return (
    rulesProblem(policies) ??
    tooMany("its artifacts times flows", facts, judgingLimits.facts) ??
    tooMany("the flows of one of its artifacts", mostFlows, flowsOfOne) ??
    tooMany(`${rules} rules times ${facts} artifacts times flows`, countEvaluations(size), evaluations) ??
    tooMany(`${rules} rules times ${mostFlows} flows of an artifact`, rules * mostFlows, evaluationsOfOne) ??
    tooMany(
      "the regular expressions of its policies times the names they are tried on",
      countMatching(size),
      matching,
    ) ??
    tooMany(
      "the regular expressions of one of its rules times the longest name they are tried on",
      patternsOfOne * longestName,
      matchingOfOne,
    )
  );
}

/** Says whether several environments are more to judge, or to write, together than one may be. */
export function isTooMuchTogether(sizes: readonly JudgingSize[]): boolean {
  if (sizes.length < 2) return false;
  const total = (count: (size: JudgingSize) => number): number =>
    sizes.reduce((sum, size) => sum + count(size), 0);
  return (
    total(({ facts }) => facts) > judgingLimits.facts ||
    total(countEvaluations) > judgingLimits.evaluations ||
    total(countMatching) > judgingLimits.matching ||
    total(({ policies }) => sumOf(policies, "printed")) > judgingLimits.printed
  );
}

/** How much the members of logical environments run. */
export interface MembersSize {
  artifacts: number;
  instances: number;
  bytes: number;
}

/** Says why what members run cannot be put together at once, with its size and the limit; undefined when it can. */
export function membersProblem({ artifacts, instances, bytes }: MembersSize): string | undefined {
  const { memberArtifacts, memberInstances, memberBytes } = judgingLimits;
  const more = (what: string, limit: number): string =>
    `its members run ${what}, more than the ${limit} that are possible at once`;
  if (artifacts > memberArtifacts) return more(`${artifacts} artifacts`, memberArtifacts);
  if (instances > memberInstances) return more(`${instances} instances`, memberInstances);
  if (bytes > memberBytes) return more(`instances of ${bytes} bytes`, memberBytes);
  return undefined;
}

/** Adds up what members of several logical environments run. */
export function sumOfMembers(sizes: readonly MembersSize[]): MembersSize {
  const sum = { artifacts: 0, instances: 0, bytes: 0 };
  for (const { artifacts, instances, bytes } of sizes) {
    sum.artifacts += artifacts;
    sum.instances += instances;
    sum.bytes += bytes;
  }
  return sum;
}

/** Checks that an environment can be judged at once. @throws TooMuchToJudge */
export function requireJudgeable(environment: string, size: JudgingSize): void {
  const problem = judgingProblem(size);
  if (problem !== undefined) throw new TooMuchToJudge(environment, problem);
}
