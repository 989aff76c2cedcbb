import {
  concludeRuntime,
  failedPolicies,
  type JudgedArtifact,
  runtimeJudge,
  type RuntimeRules,
  type RuntimeVerdict,
} from "../../src/domain/snapshot/judge.ts";
import type { FlowFact } from "../../src/domain/snapshot/provenance.ts";
import { artifactKey, type RunningArtifact } from "../../src/domain/snapshot/running.ts";
import type { Settled } from "../../src/domain/snapshot/settle.ts";
import { finish } from "../../src/lib/steps.ts";

/** Everything that decides on what runs in an environment. */
export interface JudgedCase extends RuntimeRules {
  running: readonly RunningArtifact[];
  /** What of it is judged already, by `artifactKey`. */
  settled?: ReadonlyMap<string, Settled>;
  /** By fingerprint. */
  facts: ReadonlyMap<string, readonly FlowFact[]>;
}

/** Judges what runs in an environment, one artifact after the other, and concludes what the environment is worth. */
export function judgeRuntime(given: JudgedCase): RuntimeVerdict & { artifacts: JudgedArtifact[] } {
  const { running, settled = new Map<string, Settled>(), facts, policies, members } = given;
  const judge = runtimeJudge(given);
  const artifacts = running
    .filter((artifact) => !settled.has(artifactKey(artifact)))
    .map((artifact) => finish(judge(artifact, facts.get(artifact.fingerprint) ?? [])));
  const failing = new Map<string, ReadonlySet<string>>();
  for (const [key, known] of settled) failing.set(key, known.failing);
  for (const artifact of artifacts) failing.set(artifactKey(artifact), failedPolicies(artifact));
  const verdict = finish(concludeRuntime({ running, failing, policies, ...(members && { members }) }));
  return { ...verdict, artifacts };
}
