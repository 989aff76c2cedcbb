import type { Annotated, Annotation, AnnotationType } from "./annotate.ts";

/** One change of one artifact, as an environment's log tells it. */
export interface SnapshotEvent {
  type: Exclude<AnnotationType, "unchanged">;
  artifact_name: string;
  /** The fingerprint. */
  sha256: string;
  description: string;
  artifact_compliance: boolean | null;
}

function instances(count: number): string {
  return `${count} instance${count === 1 ? "" : "s"}`;
}

/** One line for people. */
export function describeChange({ type, was, now }: Annotation): string {
  if (type === "exited") return `${instances(was)} stopped running (from ${was} to ${now})`;
  if (type.startsWith("started-")) return `${instances(now)} started running (from ${was} to ${now})`;
  return `${instances(now)} ${type === "unchanged" ? "unchanged" : "changed"}`;
}

/** The events a snapshot makes, in the order of its artifacts. What has not changed makes none. */
export function eventsOf(
  annotated: readonly Annotated<{ name: string; fingerprint: string; compliant: boolean | null }>[],
): SnapshotEvent[] {
  return annotated.flatMap(({ artifact, annotation }) => {
    const { type } = annotation;
    if (type === "unchanged") return [];
    const { name, fingerprint, compliant } = artifact;
    const description = describeChange(annotation);
    return [{ type, artifact_name: name, sha256: fingerprint, description, artifact_compliance: compliant }];
  });
}
