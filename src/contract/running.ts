import { z } from "zod";

import { type EnvironmentType, environmentTypes, sortDirections } from "../domain/environments.ts";
import { fingerprintPrefixPattern } from "../domain/names.ts";
import { runningSorts, shownSorts, verdicts } from "../domain/running.ts";
import { annotationTypes } from "../domain/snapshot/annotate.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { time, withCsv } from "./csv.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { PaginationInfo } from "./pagination.ts";
import {
  booleanParameter,
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  patternParameter,
  textParameter,
} from "./parameters.ts";

/** An artifact in an environment, with what its first flow knows of it; null where none knows it. */
export const RunningArtifact = z
  .object({
    environment_name: z.string(),
    environment_type: z.enum(environmentTypes),
    snapshot_index: z.int(),
    artifact_name: z.string(),
    /** Empty when the digest is not known. */
    fingerprint: z.string(),
    /** Null without policies. */
    compliant: z.boolean().nullable(),
    /** Then no rule applies to it. */
    allow_listed: z.boolean(),
    /** Why it is not compliant; empty for all others. */
    reasons: z.array(z.object({ policy_name: z.string(), rule: z.string(), message: z.string() })),
    flow_name: z.string().nullable(),
    trail_name: z.string().nullable(),
    template_reference_name: z.string().nullable(),
    git_commit: z.string().nullable(),
    commit_url: z.string().nullable(),
    repo_name: z.string().nullable(),
    /** Start of the oldest instance; if the reporter did not know it, when it was seen. */
    started_at: Timestamp,
    instance_count: z.int(),
    /** Page of the artifact in its first flow. */
    html_url: z.string().nullable(),
  })
  .meta({ id: "RunningArtifact" });

/** One page of what runs. */
export const RunningArtifacts = z
  .object({ data: z.array(RunningArtifact), pagination: PaginationInfo })
  .meta({ id: "RunningArtifacts" });

/** An artifact of a snapshot: one that runs, or one that has exited in it. */
export const SnapshotArtifactRow = RunningArtifact.extend({
  annotation: z.object({ type: z.enum(annotationTypes), was: z.int(), now: z.int() }),
}).meta({ id: "SnapshotArtifactRow" });

/** How many artifacts of the whole snapshot there are of each kind, whatever is asked for. */
export const SnapshotArtifactCounts = z
  .object({
    /** That run; each is counted by its verdict and by its provenance. */
    running: z.int(),
    compliant: z.object({ true: z.int(), false: z.int(), unknown: z.int() }),
    provenance: z.object({ known: z.int(), none: z.int() }),
    /** What became of each since the snapshot before, those that have exited among them. */
    annotation: z.record(z.enum(annotationTypes), z.int()),
  })
  .meta({ id: "SnapshotArtifactCounts" });

/** One page of the artifacts of a snapshot. */
export const SnapshotArtifacts = z
  .object({
    data: z.array(SnapshotArtifactRow),
    pagination: PaginationInfo,
    counts: SnapshotArtifactCounts,
  })
  .meta({ id: "SnapshotArtifacts" });

const columns = [
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
];

const paging = {
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 200 }).default(50),
};
const wanted = {
  compliant: listParameter(choiceParameter(verdicts)).optional(),
  provenance: choiceParameter(["known", "none"]).optional(),
};
const direction = { sort_direction: choiceParameter(sortDirections).default("asc") };

const physicalTypes = environmentTypes.filter(
  (type): type is Exclude<EnvironmentType, "logical"> => type !== "logical",
);

/** Filters, order and page of what runs. */
export const RunningQuery = z.object({
  ...paging,
  environment: listParameter(textParameter()).optional(),
  type: listParameter(choiceParameter(physicalTypes)).optional(),
  tag: listParameter(textParameter()).optional(),
  space_id: listParameter(textParameter()).optional(),
  flow: listParameter(textParameter()).optional(),
  repo: listParameter(textParameter()).optional(),
  name: textParameter().optional(),
  fingerprint: patternParameter(fingerprintPrefixPattern).optional(),
  ...wanted,
  allow_listed: booleanParameter().optional(),
  sort: choiceParameter(runningSorts).default("environment"),
  ...direction,
});

/** Filters, order and page of the artifacts of a snapshot. */
export const SnapshotArtifactsQuery = z.object({
  ...paging,
  search: textParameter().optional(),
  ...wanted,
  annotation: listParameter(choiceParameter(annotationTypes)).optional(),
  sort: choiceParameter(shownSorts).default("shown"),
  ...direction,
});

export const runningEndpoints = {
  list_running: endpoint({
    method: "GET",
    path: "/running/{org}",
    tag: "Environments",
    summary: "List what runs in all environments",
    description:
      "A row for each artifact in each physical environment that is not archived, by its latest snapshot. `environment` is a " +
      "name, present or former; that of a logical environment stands for its members, unknown ones fit nothing. `type`, " +
      "`tag` (`key` or `key:value`) and `space_id` (with the spaces below) are those of the environment. `flow` is the name of any flow that knows the artifact, " +
      "`repo` that of the repo it was built from, `name` part of its name in any case, of which the first 200 characters are looked at, `fingerprint` at least the first 5 " +
      "digits. `compliant` is `true`, `false` or `unknown`, `provenance` says whether any flow knows it. Lists may be repeated: any of " +
      "the values will do. Different filters combine with AND. Sorted by environment and name, by name, by start, or by verdict: " +
      "non-compliant, compliant, unknown. Flows and repos go by their present names.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: RunningQuery,
    responses: { 200: withCsv(json("One page of what runs", RunningArtifacts), "running", columns) },
  }),
  list_snapshot_artifacts: endpoint({
    method: "GET",
    path: "/snapshots/{org}/{env_name}/{snapshot_expression}/artifacts",
    tag: "Snapshots",
    summary: "List the artifacts of a snapshot",
    description:
      "A page of what a snapshot shows, with how many there are of each kind in all of it. The expression is as for the snapshot itself. " +
      "`search` is part of the name in any case, or the beginning of the fingerprint. `compliant` (`true`, `false`, `unknown`) and `provenance` ask " +
      "about what runs: what has exited in the snapshot is there without them, or with `annotation=exited` alone. `compliant` and `annotation` may be repeated: any of " +
      "the values will do. Different filters combine with AND. Sorted as the snapshot shows them, by name, by start, or by verdict: " +
      "non-compliant, compliant, unknown.",
    access: organizationReader,
    kept: true,
    query: SnapshotArtifactsQuery,
    responses: {
      200: withCsv(json("One page of the artifacts", SnapshotArtifacts), "snapshot", [
        ...columns,
        "annotation.type",
        "annotation.was",
        "annotation.now",
      ]),
    },
  }),
} satisfies Endpoints;
