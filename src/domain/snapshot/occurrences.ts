import type { Occurrence } from "../notifications/occurrence.ts";
import type { Annotated, ComparedArtifact } from "./annotate.ts";
import { describeChange } from "./events.ts";

/** A snapshot that was just made. */
export interface SnapshotNews {
  environment: { id: string; name: string; type: string };
  index: number;
  /** Unix seconds. */
  at: number;
  state: boolean | null;
  /** Of the environment until now; null also when there was nothing yet. */
  state_before: boolean | null;
  annotated: readonly Annotated<ComparedArtifact>[];
}

function artifactTrigger(type: string): string | undefined {
  if (type === "exited") return "ON_EXITED_ARTIFACT";
  return type.startsWith("started-") ? "ON_STARTED_ARTIFACT" : undefined;
}

/**
 * What actions may want to be told of a snapshot: each artifact that started or exited, and that the environment became
 * compliant or not. One whose state was unknown becomes so too.
 */
export function occurrencesOf(news: SnapshotNews): Occurrence[] {
  const { environment, index, at, state, state_before, annotated } = news;
  const subject = { kind: "environment" as const, id: environment.id, name: environment.name };
  const snapshot = { snapshot_index: index, snapshot_compliant: state, environment_type: environment.type };
  const occurrences = annotated.flatMap<Occurrence>(({ artifact, annotation }) => {
    const trigger = artifactTrigger(annotation.type);
    if (trigger === undefined) return [];
    const { name, fingerprint, compliant } = artifact;
    const facts = { name, fingerprint, compliant, description: describeChange(annotation) };
    return [{ trigger, subject, at, facts: { ...snapshot, artifact: facts } }];
  });
  if (state !== null && state !== state_before)
    occurrences.push({
      trigger: state ? "ON_COMPLIANT_ENV" : "ON_NON_COMPLIANT_ENV",
      subject,
      at,
      facts: snapshot,
    });
  return occurrences;
}
