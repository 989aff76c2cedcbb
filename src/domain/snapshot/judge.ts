import { evaluateSnapshot } from "../policy/evaluation/evaluate.ts";
import type { AppliedPolicy, ArtifactVerdict, PolicyVersion } from "../policy/evaluation/model.ts";
import { type ComparedArtifact, findingsText } from "./annotate.ts";
import { documentFormat } from "./print.ts";
import { factsText, type FlowFact, knownFlow } from "./provenance.ts";
import { artifactKey, type RunningArtifact } from "./running.ts";
import type { Settled } from "./settle.ts";
import { logicalVerdict } from "./union.ts";

/** Everything that decides on what runs in an environment. */
export interface RuntimeCase {
  running: readonly RunningArtifact[];
  /** What of it is judged already, by `artifactKey`. */
  settled?: ReadonlyMap<string, Settled>;
  /** By fingerprint; the flow that knew it first comes first. */
  facts: ReadonlyMap<string, readonly FlowFact[]>;
  policies: readonly PolicyVersion[];
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

export interface RuntimeVerdict {
  /** Null: unknown. */
  state: boolean | null;
  /** Without what was judged already. */
  artifacts: JudgedArtifact[];
  applied_policies: AppliedPolicy[];
}

const nothing: readonly FlowFact[] = [];

function judged(
  running: RunningArtifact,
  facts: readonly FlowFact[],
  verdict: ArtifactVerdict,
  policies: readonly string[],
): JudgedArtifact {
  const { name, fingerprint, creationTimestamp } = running;
  const { compliant, policy_decisions } = verdict;
  const flows = facts.map(({ compliance_state }) => ({
    artifact_compliance_in_flow: compliance_state === "COMPLIANT",
  }));
  return {
    name,
    fingerprint,
    creationTimestamp,
    compliant,
    provenance: facts.map(({ trail_id }) => trail_id),
    findings: findingsText({ policy_decisions, flows }),
    running,
    facts,
    facts_text: factsText(facts),
    verdict,
    policies,
  };
}

/** Everything but facts that verdicts in an environment rest on, as a text to compare. */
export function judgedBy({ policies, allowed }: Pick<RuntimeCase, "policies" | "allowed">): string {
  const versions = policies.map(({ id, name, version }) => [id, name, version]);
  return JSON.stringify([documentFormat, versions, [...allowed].sort()]);
}

/** What a verdict on some of what runs comes to together with what was judged already. */
function withSettled(
  { running, settled }: Pick<RuntimeCase, "running"> & { settled: ReadonlyMap<string, Settled> },
  { state, artifacts, applied_policies }: RuntimeVerdict,
): RuntimeVerdict {
  const failing = new Map<string, ReadonlySet<string>>();
  for (const [key, known] of settled) failing.set(key, known.failing);
  for (const { name, fingerprint, verdict } of artifacts) {
    const failed = verdict.policy_decisions.filter(({ status }) => status === "NON-COMPLIANT");
    const key = artifactKey({ name, fingerprint });
    failing.set(key, new Set(failed.map(({ policy_name }) => policy_name)));
  }
  const failingOf = (policy: string): string[] => [
    ...new Set(
      running.flatMap((artifact) =>
        failing.get(artifactKey(artifact))?.has(policy) === true ? artifact.fingerprint : [],
      ),
    ),
  ];
  return {
    state: state && [...settled.values()].every(({ compliant }) => compliant === true),
    artifacts,
    applied_policies: applied_policies.map((policy) => ({
      ...policy,
      failing_artifacts: failingOf(policy.name),
    })),
  };
}

/** Judges what runs in an environment by its policies, as far as that was not done already. */
export function judgeRuntime(given: RuntimeCase): RuntimeVerdict {
  const { settled } = given;
  if (settled === undefined || settled.size === 0) return judgeAll(given);
  const running = given.running.filter((artifact) => !settled.has(artifactKey(artifact)));
  return withSettled({ running: given.running, settled }, judgeAll({ ...given, running }));
}

/** Judges everything that runs, in a logical environment by the policies of its members too. */
function judgeAll({ running, facts, policies, allowed, members }: RuntimeCase): RuntimeVerdict {
  const known = running.map(({ fingerprint }) => facts.get(fingerprint) ?? nothing);
  const subjects = running.map(({ name, fingerprint }, index) => ({
    name,
    fingerprint,
    allow_listed: allowed.has(fingerprint),
    flows: known[index]!.map(knownFlow),
  }));
  const { state, artifacts, applied_policies } = evaluateSnapshot(subjects, policies);
  const versions = policies.map(({ id, name, version }) => `${name} ${version} ${id}`);
  const verdicts = artifacts.map((verdict, index) => {
    if (members === undefined) return verdict;
    const theirs = members.verdicts.get(artifactKey(running[index]!)) ?? [];
    return { ...verdict, compliant: logicalVerdict(theirs, verdict.compliant) };
  });
  return {
    state: members === undefined ? state : logicalVerdict(members.states, state),
    artifacts: running.map((artifact, index) => judged(artifact, known[index]!, verdicts[index]!, versions)),
    applied_policies,
  };
}
