import { appliedPolicy, artifactJudge } from "../policy/evaluation/evaluate.ts";
import type { AppliedPolicy, ArtifactVerdict, PolicyVersion } from "../policy/evaluation/model.ts";
import { digestOfTexts } from "../../lib/hash-in-turns.ts";
import { collected, sorted, type Steps } from "../../lib/steps.ts";
import { compareUnits } from "../../lib/text.ts";
import { type ComparedArtifact, findingsText } from "./annotate.ts";
import { documentFormat } from "./print.ts";
import { factsText, type FlowFact, knownFlow } from "./provenance.ts";
import { artifactKey, type RunningArtifact } from "./running.ts";
import { logicalVerdict } from "./union.ts";

/** Everything that the artifacts of an environment are judged by. */
export interface RuntimeRules {
  policies: readonly PolicyVersion[];
  /** Fingerprints that are trusted, of what runs at least. */
  allowed: ReadonlySet<string>;
  /** Of a logical environment: what its members are worth, and what each artifact is in them, by `artifactKey`. */
  members?: {
    states: readonly (boolean | null)[];
    verdicts: ReadonlyMap<string, readonly (boolean | null)[]>;
  };
}

/** A running artifact with everything that was found out about it. */
export interface JudgedArtifact extends ComparedArtifact {
  running: RunningArtifact;
  facts: readonly FlowFact[];
  /** See `factsText`. */
  facts_text: string;
  verdict: ArtifactVerdict;
  /** The versions of policies that led to the verdict, in order, by name, number and id. */
  policies: readonly string[];
}

/** Judges what runs in an environment, one artifact at a time. */
export type RuntimeJudge = (running: RunningArtifact, facts: readonly FlowFact[]) => Steps<JudgedArtifact>;

/** Prepares the rules for any number of artifacts; in a logical environment those of its members count too. */
export function runtimeJudge({ policies, allowed, members }: RuntimeRules): RuntimeJudge {
  const judge = artifactJudge(policies);
  const versions = policies.map(({ id, name, version }) => `${name} ${version} ${id}`);
  return function* judgeOne(running, facts) {
    const { name, fingerprint, creationTimestamp } = running;
    const subject = {
      name,
      fingerprint,
      allow_listed: allowed.has(fingerprint),
      flows: facts.map(knownFlow),
    };
    const own = yield* judge(subject);
    const theirs = members?.verdicts.get(artifactKey(running)) ?? [];
    const compliant = members === undefined ? own.compliant : logicalVerdict(theirs, own.compliant);
    const { policy_decisions } = own;
    const flows = facts.map(({ compliance_state }) => ({
      artifact_compliance_in_flow: compliance_state === "COMPLIANT",
    }));
    const findings = findingsText({ policy_decisions, flows });
    yield;
    return {
      name,
      fingerprint,
      creationTimestamp,
      compliant,
      provenance: facts.map(({ trail_id }) => trail_id),
      findings,
      running,
      facts,
      facts_text: factsText(facts),
      verdict: { ...own, compliant },
      policies: versions,
    };
  };
}

const nothing: ReadonlySet<string> = new Set();

/** Lists the names of the policies that an artifact does not comply with. */
export function failedPolicies({ verdict }: Pick<JudgedArtifact, "verdict">): ReadonlySet<string> {
  const failed = verdict.policy_decisions.filter(({ status }) => status === "NON-COMPLIANT");
  return failed.length === 0 ? nothing : new Set(failed.map(({ policy_name }) => policy_name));
}

/** Names versions of policies: their ids, names and numbers. */
function versionsOf(policies: readonly PolicyVersion[]) {
  return policies.map(({ id, name, version }) => [id, name, version] as const);
}

/**
 * Writes everything but facts that verdicts on some fingerprints rest on, as a text to compare: what else is trusted does
 * not matter to them. It does not grow with what is trusted. Former texts name all that was trusted: where anything was,
 * none of these is equal to one.
 */
export function* judgedBy(
  { policies, allowed }: Pick<RuntimeRules, "policies" | "allowed">,
  fingerprints: ReadonlySet<string>,
): Steps<string> {
  const trusted = yield* collected(allowed, (each) => (fingerprints.has(each) ? each : undefined));
  const digests = trusted.length === 0 ? [] : [yield* digestOfTexts(yield* sorted(trusted, compareUnits))];
  return JSON.stringify([documentFormat, versionsOf(policies), digests]);
}

/**
 * Says whether verdicts that rest on what `judgedBy` wrote were reached by these versions of policies, in any order. So they
 * were as far as anybody knows when the text is empty.
 */
export function judgedBySamePolicies(text: string, policies: readonly PolicyVersion[]): boolean {
  if (text === "") return true;
  const [, before] = JSON.parse(text) as [unknown, ReturnType<typeof versionsOf>];
  const written = (versions: typeof before) => versions.map(([id, , version]) => `${id} ${version}`).sort();
  return written(before).join() === written(versionsOf(policies)).join();
}

/** An environment of which all artifacts were judged. */
interface RuntimeCase extends Pick<RuntimeRules, "policies" | "members"> {
  /** In the order in which they are named. */
  running: readonly RunningArtifact[];
  /** Those that do not comply, by `artifactKey`. */
  failing: ReadonlyMap<string, FailingArtifact>;
}

/** An artifact that does not comply with some policies. */
export interface FailingArtifact {
  /** The id of its version. */
  version: number;
  /** The names of those policies. */
  policies: ReadonlySet<string>;
}

export interface RuntimeVerdict {
  /** Null: unknown. */
  state: boolean | null;
  applied_policies: AppliedPolicy[];
  /** For each of these policies the versions that do not comply, in the order of the artifacts: the first one of each fingerprint. */
  failing_versions: number[][];
}

/** Artifacts that are looked at before somebody else may do something. */
const inOneGo = 1000;

/**
 * Finds what an environment is worth. One where nothing runs fulfils any policy; without policies that is unknown, in a
 * logical one the members say.
 */
export function* concludeRuntime({
  running,
  failing,
  policies,
  members,
}: RuntimeCase): Steps<RuntimeVerdict> {
  const failed: ({ fingerprint: string } & FailingArtifact)[] = [];
  for (const [at, artifact] of running.entries()) {
    const found = failing.get(artifactKey(artifact));
    if (found !== undefined) failed.push({ fingerprint: artifact.fingerprint, ...found });
    if (at % inOneGo === 0) yield;
  }
  const own = policies.length === 0 ? null : failed.length === 0;
  const applied_policies: AppliedPolicy[] = [];
  const failing_versions: number[][] = [];
  for (const policy of policies) {
    const versions = new Map<string, number>();
    for (const { fingerprint, version, policies: failedBy } of failed)
      if (failedBy.has(policy.name) && !versions.has(fingerprint)) versions.set(fingerprint, version);
    applied_policies.push(appliedPolicy(policy));
    failing_versions.push([...versions.values()]);
    yield;
  }
  return {
    state: members === undefined ? own : logicalVerdict(members.states, own),
    applied_policies,
    failing_versions,
  };
}
