import type { NonEmpty } from "../../lib/group.ts";
import { grouped, inOneGo, sorted, type Steps } from "../../lib/steps.ts";
import { artifactKey, byName, type Pods, type RunningArtifact } from "./running.ts";

/** A member of a logical environment, with what runs there. */
export interface Member {
  environment: string;
  artifacts: readonly RunningArtifact[];
}

interface Part {
  environment: string;
  artifact: RunningArtifact;
}

function newest({ artifact }: Part): number {
  return artifact.creationTimestamp.at(-1) ?? -Infinity;
}

/** Puts pods together. Clusters may have pods of the same name, even in namespaces of the same name. */
function* mergePods(parts: readonly Part[]): Steps<Pods | null> {
  // Without a prototype, in which a name may mean something, so that one after the other can be set.
  const pods = Object.create(null) as Pods;
  let count = 0;
  for (const { environment, artifact } of parts)
    for (const [name, pod] of Object.entries(artifact.pods ?? {})) {
      pods[name in pods ? `${environment}/${name}` : name] = pod;
      count += 1;
      if (count % inOneGo === 0) yield;
    }
  return count === 0 ? null : pods;
}

/** Makes one artifact of the same one in several members. Contexts are those of the instance that started last. */
function* merge(parts: Readonly<NonEmpty<Part>>): Steps<RunningArtifact> {
  // Most run in one.
  if (parts.length === 1) return parts[0].artifact;
  const latest = parts.reduce((best, part) => (newest(part) > newest(best) ? part : best));
  return {
    ...latest.artifact,
    creationTimestamp: yield* sorted(
      parts.flatMap(({ artifact }) => artifact.creationTimestamp),
      (left, right) => left - right,
    ),
    pods: yield* mergePods(parts),
  };
}

function* partsOf(members: readonly Member[]): Generator<Part> {
  for (const { environment, artifacts } of members)
    for (const artifact of artifacts) yield { environment, artifact };
}

/**
 * Lists what runs in a logical environment: all that runs in its members, each artifact once. Ordered by name, then
 * fingerprint, like a report.
 */
export function* uniteRunning(members: readonly Member[]): Steps<RunningArtifact[]> {
  const united: RunningArtifact[] = [];
  const groups = yield* grouped(partsOf(members), ({ artifact }) => artifactKey(artifact));
  for (const parts of groups.values()) {
    united.push(yield* merge(parts));
    if (united.length % inOneGo === 0) yield;
  }
  return yield* sorted(united, byName);
}

/**
 * Finds what a logical environment, or an artifact in one, is worth: false when any member says so or its own policies
 * do; true when its own policies do, or without any when all members do; else unknown.
 * @param members their verdicts; of an artifact, those of the members it runs in.
 * @param own by the policies attached to the logical environment itself; null without any.
 */
export function logicalVerdict(members: readonly (boolean | null)[], own: boolean | null): boolean | null {
  if (own === false || members.includes(false)) return false;
  if (own === true) return true;
  return members.length > 0 && members.every((verdict) => verdict === true) ? true : null;
}
