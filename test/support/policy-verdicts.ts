import { artifactJudge } from "../../src/domain/policy/evaluation/evaluate.ts";
import type {
  ArtifactVerdict,
  PolicySubject,
  PolicyVersion,
} from "../../src/domain/policy/evaluation/model.ts";
import { finish } from "../../src/lib/steps.ts";

/** Judges one artifact by policies at once; decisions come in the order of the policies. */
export function evaluateArtifact(
  subject: PolicySubject,
  policies: readonly PolicyVersion[],
): ArtifactVerdict {
  return finish(artifactJudge(policies)(subject));
}
