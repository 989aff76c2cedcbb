import { grouped, sorted, type Steps } from "../../lib/steps.ts";
import { artifactKey, byName, type Pod, type Pods, type RunningArtifact } from "./running.ts";

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
function mergePods(parts: readonly Part[]): Pods | null {
  const pods = new Map<string, Pod>();
  for (const { environment, artifact } of parts)
    for (const [name, pod] of Object.entries(artifact.pods ?? {}))
      pods.set(pods.has(name) ? `${environment}/${name}` : name, pod);
  return pods.size === 0 ? null : Object.fromEntries(pods);
}

/** Makes one artifact of the same one in several members. Contexts are those of the instance that started last. */
function merge(parts: readonly Part[]): RunningArtifact {
  const latest = parts.reduce((best, part) => (newest(part) > newest(best) ? part : best));
  return {
    ...latest.artifact,
    creationTimestamp: parts
      .flatMap(({ artifact }) => artifact.creationTimestamp)
      .sort((left, right) => left - right),
    pods: mergePods(parts),
  };
}

/** Artifacts that are looked at before somebody else may do something. */
const inOneGo = 500;

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
    united.push(merge(parts));
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
