import type { Occurrence, ProvenanceFacts } from "../notifications/occurrence.ts";
import type { AnnotatedArtifact } from "./versions.ts";

/** A snapshot that was just made. */
export interface SnapshotNews {
  environment: { id: string; name: string };
  /** Unix seconds. */
  at: number;
  /** Its number, and what the environment is worth: null is unknown. */
  snapshot: { index: number; compliant: boolean | null };
}

function artifactTrigger(type: string): string | undefined {
  if (type === "exited") return "ON_EXITED_ARTIFACT";
  return type.startsWith("started-") ? "ON_STARTED_ARTIFACT" : undefined;
}

/** Finds what the flow that built an artifact knows of it; of one that exited, what was known while it ran. */
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

function subjectOf({ environment: { id, name } }: SnapshotNews) {
  return { kind: "environment" as const, id, name };
}

/** Lists what actions may want to be told of artifacts in a snapshot: each that started or exited. */
export function movesIn(news: SnapshotNews, annotated: readonly AnnotatedArtifact[]): Occurrence[] {
  const { at, snapshot } = news;
  const subject = subjectOf(news);
  return annotated.flatMap<Occurrence>(({ artifact, annotation }) => {
    const trigger = artifactTrigger(annotation.type);
    if (trigger === undefined) return [];
    const { name, fingerprint } = artifact;
    const known = { name, fingerprint, provenance: provenanceOf(artifact) };
    return [{ trigger, subject, at, facts: { snapshot, artifact: known } }];
  });
}

/**
 * Lists what actions may want to be told of the environment: that it became compliant or not. One whose state was
 * unknown becomes so too.
 * @param before what it was worth until now; null also when there was nothing yet.
 */
export function turnIn(news: SnapshotNews, before: boolean | null): Occurrence[] {
  const { at, snapshot } = news;
  const state = snapshot.compliant;
  if (state === null || state === before) return [];
  const trigger = state ? "ON_COMPLIANT_ENV" : "ON_NON_COMPLIANT_ENV";
  return [{ trigger, subject: subjectOf(news), at, facts: { snapshot } }];
}
