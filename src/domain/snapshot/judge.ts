import { evaluateSnapshot } from "../policy/evaluation/evaluate.ts";
import type { AppliedPolicy, ArtifactVerdict, PolicyVersion } from "../policy/evaluation/model.ts";
import { type ComparedArtifact, findingsText } from "./annotate.ts";
import { type FlowFact, knownFlow } from "./provenance.ts";
import { artifactKey, type RunningArtifact } from "./running.ts";
import { logicalVerdict } from "./union.ts";

/** Everything that decides on what runs in an environment. */
export interface RuntimeCase {
  running: readonly RunningArtifact[];
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
  verdict: ArtifactVerdict;
  /** The versions of policies that led to the verdict, in order, by name, number and id. */
  policies: readonly string[];
}

export interface RuntimeVerdict {
  /** Null: unknown. */
  state: boolean | null;
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
    verdict,
    policies,
  };
}

/** Judges what runs in an environment by its policies, and a logical one by those of its members too. */
export function judgeRuntime({ running, facts, policies, allowed, members }: RuntimeCase): RuntimeVerdict {
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
