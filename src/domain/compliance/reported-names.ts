import type { Timestamp } from "../../lib/clock.ts";
import { portions, sorted, type Steps } from "../../lib/steps.ts";
import type { ArtifactReport, AttestationReport, TrailReports } from "./model.ts";

/** When an artifact name came up. */
interface Mention {
  name: string;
  at: Timestamp;
}

/** Finds the first mention of each name. */
function* firstMentions(mentions: Iterable<Mention>): Steps<Mention[]> {
  const isEnough = portions();
  const first = new Map<string, Mention>();
  for (const mention of mentions) {
    if (isEnough(1)) yield;
    if (!first.has(mention.name)) first.set(mention.name, mention);
  }
  return [...first.values()];
}

function* mentionsByArtifacts(artifacts: readonly ArtifactReport[]): Iterable<Mention> {
  for (const { template_reference_name: name, reported_at: at } of artifacts) yield { name, at };
}

function* mentionsByAttestations(attestations: readonly AttestationReport[]): Iterable<Mention> {
  for (const { artifact_fingerprint, target_artifacts, reported_at: at } of attestations)
    if (artifact_fingerprint === null) for (const name of target_artifacts ?? []) yield { name, at };
}

/** Lists artifact names that were reported, or that attestations wait for, in the order in which they first came up; some twice. */
export function* reportedNames({ artifacts, attestations }: TrailReports): Steps<string[]> {
  const reported = yield* firstMentions(mentionsByArtifacts(artifacts));
  const waiting = yield* firstMentions(mentionsByAttestations(attestations));
  // Sorting keeps the order of what came at the same moment.
  const mentions = yield* sorted([...reported, ...waiting], (a, b) => a.at - b.at);
  return mentions.map(({ name }) => name);
}
