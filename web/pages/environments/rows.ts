import type { AnswerOf } from "../../api/contract.ts";
import type { SnapshotRow } from "../../domain/snapshot-rows.ts";
import type { Snapshot } from "./queries.ts";

type HeldArtifact = Snapshot["artifacts"][number];
type ListedArtifact =
  AnswerOf<"GET /snapshots/{org}/{env_name}/{snapshot_expression}/artifacts">["data"][number];

/** An artifact of a snapshot as its pages show it, whichever way it was read. */
export interface ArtifactRow extends SnapshotRow {
  reasons: readonly { message: string }[];
  commit_url: string | null;
  html_url: string | null;
  /** What only a snapshot that was read whole tells. */
  details: HeldArtifact | undefined;
}

/** Reads an artifact of a snapshot that came whole. */
export function rowOfHeld(artifact: HeldArtifact): ArtifactRow {
  const { name, fingerprint, compliant, flow_name, git_commit, creationTimestamp, annotation } = artifact;
  return {
    name,
    fingerprint,
    compliant,
    allow_listed: artifact.allow_listed === true,
    flow_name,
    git_commit,
    started_at: creationTimestamp[0],
    instances: creationTimestamp.length,
    annotation,
    reasons: artifact.reasons_for_incompliance,
    commit_url: artifact.commit_url,
    html_url: artifact.html_url,
    details: artifact,
  };
}

/** Reads an artifact out of a page of a large snapshot. */
export function rowOfListed(artifact: ListedArtifact): ArtifactRow {
  const { artifact_name, instance_count, started_at, ...rest } = artifact;
  return {
    ...rest,
    name: artifact_name,
    started_at: instance_count === 0 ? undefined : started_at,
    instances: instance_count,
    details: undefined,
  };
}

/** Names a row in an address: by its fingerprint, or by its name while that is not known. */
export function keyOfRow({ fingerprint, name }: Pick<ArtifactRow, "fingerprint" | "name">): string {
  return fingerprint === "" ? name : fingerprint;
}
