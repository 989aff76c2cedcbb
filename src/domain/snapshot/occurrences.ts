import type { Occurrence, ProvenanceFacts } from "../notifications/occurrence.ts";
import type { AnnotatedArtifact } from "./versions.ts";

/** A snapshot that was just made. */
export interface SnapshotNews {
  environment: { id: string; name: string };
  index: number;
  /** Unix seconds. */
  at: number;
  state: boolean | null;
  /** Of the environment until now; null also when there was nothing yet. */
  state_before: boolean | null;
  annotated: readonly AnnotatedArtifact[];
}

function artifactTrigger(type: string): string | undefined {
  if (type === "exited") return "ON_EXITED_ARTIFACT";
  return type.startsWith("started-") ? "ON_STARTED_ARTIFACT" : undefined;
}

/** What the flow that built it knows of an artifact; of one that exited, what was known while it ran. */
function provenanceOf({ judged, stored }: AnnotatedArtifact["artifact"]): ProvenanceFacts | null {
  const fact = judged?.facts[0];
  const known = fact ?? stored?.flows[0];
  if (known === undefined) return null;
  return {
    flow: known.flow_name,
    trail: known.trail_name,
    status: fact === undefined ? (stored?.flows[0]?.compliance_state ?? null) : fact.compliance_state,
    commit: known.git_commit,
    commit_url: known.commit_url,
    build_url: fact?.build_url ?? null,
  };
}

/**
 * What actions may want to be told of a snapshot: each artifact that started or exited, and that the environment became
 * compliant or not. One whose state was unknown becomes so too.
 */
export function occurrencesOf(news: SnapshotNews): Occurrence[] {
  const { environment, index, at, state, state_before, annotated } = news;
  const subject = { kind: "environment" as const, id: environment.id, name: environment.name };
  const snapshot = { index, compliant: state };
  const occurrences = annotated.flatMap<Occurrence>(({ artifact, annotation }) => {
    const trigger = artifactTrigger(annotation.type);
    if (trigger === undefined) return [];
    const { name, fingerprint } = artifact;
    const known = { name, fingerprint, provenance: provenanceOf(artifact) };
    return [{ trigger, subject, at, facts: { snapshot, artifact: known } }];
  });
  if (state !== null && state !== state_before)
    occurrences.push({
      trigger: state ? "ON_COMPLIANT_ENV" : "ON_NON_COMPLIANT_ENV",
      subject,
      at,
      facts: { snapshot },
    });
  return occurrences;
}
