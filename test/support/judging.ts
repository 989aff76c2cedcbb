import {
  concludeRuntime,
  type FailingArtifact,
  failedPolicies,
  type JudgedArtifact,
  runtimeJudge,
  type RuntimeRules,
  type RuntimeVerdict,
} from "../../src/domain/snapshot/judge.ts";
import type { KeptArtifact } from "../../src/domain/snapshot/judging-plan.ts";
import type { FlowFact } from "../../src/domain/snapshot/provenance.ts";
import { artifactKey, type RunningArtifact } from "../../src/domain/snapshot/running.ts";

import { finish } from "../../src/lib/steps.ts";

/** Everything that decides on what runs in an environment. */
export interface JudgedCase extends RuntimeRules {
  running: readonly RunningArtifact[];
  /** What of it need not be judged, by `artifactKey`. */
  kept?: ReadonlyMap<string, KeptArtifact>;
  /** By fingerprint. */
  facts: ReadonlyMap<string, readonly FlowFact[]>;
}

/** Judges what runs in an environment, one artifact after the other, and concludes what the environment is worth. A version's id is its place. */
export function judgeRuntime(given: JudgedCase): RuntimeVerdict & { artifacts: JudgedArtifact[] } {
  const { running, kept = new Map<string, KeptArtifact>(), facts, policies, members } = given;
  const judge = runtimeJudge(given);
  const artifacts = running
    .filter((artifact) => !kept.has(artifactKey(artifact)))
    .map((artifact) => finish(judge(artifact, facts.get(artifact.fingerprint) ?? [])));
  const failing = new Map<string, FailingArtifact>();
  const note = (key: string, policies: ReadonlySet<string>): void => {
    const version = running.findIndex((artifact) => artifactKey(artifact) === key);
    if (policies.size > 0) failing.set(key, { version, policies });
  };
  for (const [key, known] of kept) note(key, known.failing);
  for (const artifact of artifacts) note(artifactKey(artifact), failedPolicies(artifact));
  const verdict = finish(concludeRuntime({ running, failing, policies, ...(members && { members }) }));
  return { ...verdict, artifacts };
}
