import { type CsvColumn, time } from "./csv.ts";

/** Columns of the artifacts of a snapshot, also where the page writes the file: those of the server's CSV. */
export const artifactColumns: readonly CsvColumn[] = [
  "environment_name",
  "environment_type",
  "snapshot_index",
  "artifact_name",
  "fingerprint",
  "compliant",
  "allow_listed",
  "reasons.message",
  "flow_name",
  "trail_name",
  "template_reference_name",
  "git_commit",
  "commit_url",
  "repo_name",
  time("started_at"),
  "instance_count",
  "html_url",
  "annotation.type",
  "annotation.was",
  "annotation.now",
];
