import { z } from "zod";

import { organizationReader } from "./access.ts";
import { RuleEvaluation } from "./asserts.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  booleanParameter,
  choiceParameter,
  commaListParameter,
  integerParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

/** A rule of a policy, shown once for all artifacts. */
export const NamedRule = z
  .object({
    policy_name: z.string(),
    policy_version: z.int(),
    /** Place of the rule among the policy's: provenance, trail-compliance, then the attestations. */
    rule_index: z.int(),
    rule: RuleEvaluation.shape.rule,
  })
  .meta({ id: "NamedRule" });

/** Whether each artifact repeats the rules it was judged by, or all are shown once. */
export const rulesParameter = choiceParameter(["each", "once"]).default("each");

/** A commit; what is unknown is empty or null. */
const Commit = z.object({
  sha1: z.string(),
  message: z.string(),
  author: z.string(),
  branch: z.string().nullable(),
  timestamp: Timestamp.nullable(),
  url: z.string().nullable(),
});

/**
 * The artifact that a deployment replaced, under the same flow and template name, and where their commits are compared.
 */
const DeploymentDiff = z.object({
  diff_url: z.string().nullable(),
  previous_git_commit: z.string().nullable(),
  previous_fingerprint: z.string(),
  previous_artifact_name: z.string(),
  previous_artifact_compliance_state: z.string().nullable(),
  previous_running: z.boolean(),
  previous_git_commit_url: z.string().nullable(),
  previous_trail_name: z.string().nullable(),
  previous_template_reference_name: z.string().nullable(),
});

/** One flow that knows an artifact, by its latest trail there. */
const SnapshotArtifactFlow = z
  .object({
    flow_name: z.string(),
    trail_name: z.string().nullable(),
    template_reference_name: z.string().nullable(),
    git_commit: z.string().nullable(),
    commit_url: z.string().nullable(),
    git_commit_info: Commit.nullable(),
    html_url: z.string(),
    flow_html_url: z.string(),
    deployment_diff: DeploymentDiff.nullable(),
    /** Seconds from the commit to the first instance; may be negative. */
    commit_lead_time: z.number().nullable(),
    artifact_compliance_in_flow: z.boolean().nullable(),
    flow_reasons_for_non_compliance: z.array(z.record(z.string(), z.unknown())),
  })
  .meta({ id: "SnapshotArtifactFlow" });

/** An artifact that runs, or that has exited in this very snapshot. Beside these keys it has the context of its kind. */
const SnapshotArtifact = z
  .looseObject({
    name: z.string(),
    /** Null without policies. */
    compliant: z.boolean().nullable(),
    deployments: z.array(z.int()),
    policy_decisions: z.array(z.looseObject({ policy_name: z.string(), status: z.string() })),
    reasons_for_incompliance: z.array(
      z.object({ policy_name: z.string(), rule: z.string(), message: z.string() }),
    ),
    /** Present only if true: then no rule applies to it. */
    allow_listed: z.literal(true).optional(),
    /** Empty when the digest is not known. */
    fingerprint: z.string(),
    /** Start of each instance, ascending, Unix seconds. */
    creationTimestamp: z.array(z.int()),
    /** Pods by name; null outside of K8S. */
    pods: z
      .record(z.string(), z.looseObject({ namespace: z.string(), creationTimestamp: z.int() }))
      .nullable(),
    annotation: z.object({ type: z.string(), was: z.int(), now: z.int() }),
    flow_name: z.string().nullable(),
    git_commit: z.string().nullable(),
    commit_url: z.string().nullable(),
    html_url: z.string().nullable(),
    flow_html_url: z.string().nullable(),
    deployment_diff: DeploymentDiff.nullable(),
    commit_lead_time: z.number().nullable(),
    flows: z.array(SnapshotArtifactFlow),
  })
  .meta({ id: "SnapshotArtifact" });

/** Everything that ran in an environment from one moment to the next change (contract environments 4.2). */
const Snapshot = z
  .object({
    index: z.int(),
    is_latest: z.boolean(),
    next_snapshot_timestamp: Timestamp.nullable(),
    artifact_compliance_count: z.object({ true: z.int(), false: z.int(), null: z.int() }),
    timestamp: Timestamp,
    type: z.string(),
    /** False for unknown, too. */
    compliant: z.boolean(),
    html_url: z.string(),
    artifacts: z.array(SnapshotArtifact),
    applied_policies: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        version: z.int(),
        policy_dump: z.record(z.string(), z.unknown()),
        failing_artifacts: z.array(z.string()),
      }),
    ),
    /** Only with `rules=once`. */
    rules: z.array(NamedRule).optional(),
    /** Only with `max_artifacts`, when there are more of them: how many. Then `artifacts` is empty. */
    artifacts_left_out: z.int().optional(),
  })
  .meta({ id: "GetSnapshotResponse" });

/** A snapshot in a list. `to` is 0 for the latest, which lasts until now. */
const SnapshotListItem = z
  .object({
    index: z.int(),
    from: Timestamp,
    to: Timestamp,
    compliant: z.boolean(),
    /** Seconds. */
    duration: z.number(),
    /** Only with `include=counts`, like all that follow. Artifacts that run. */
    artifact_count: z.int().optional(),
    non_compliant_count: z.int().optional(),
    /** Artifacts that differ from the snapshot before, each in one of these ways. */
    started: z.int().optional(),
    exited: z.int().optional(),
    changed: z.int().optional(),
    /** Without policies nothing is known to be compliant or not, but for what members of logical environments say. */
    has_policies: z.boolean().optional(),
    /** Whether other policies, or other versions of them, apply than in the snapshot before; false for the first one. */
    policies_changed: z.boolean().optional(),
  })
  .meta({ id: "GetSnapshotListItem" });

/** Query that chooses part and order of the list. An empty interval counts as left out. */
const SnapshotListQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 1000 }).default(15),
  interval: textParameter().optional(),
  reverse: booleanParameter().default(false),
  start_ts: timestampParameter().optional(),
  end_ts: timestampParameter().optional(),
  include: commaListParameter(["counts"]).optional(),
});

const tag = "Snapshots";

export const snapshotEndpoints = {
  list_snapshots: endpoint({
    method: "GET",
    path: "/snapshots/{org}/{env_name}",
    tag,
    summary: "List an environment's snapshots",
    description:
      "The newest first unless `reverse` is true. `interval` is `A..B`, or `A` for that snapshot alone; each side is `N`, " +
      "`~N` behind the latest, `-N` from the end, `NOW`, or left out. With `start_ts` or `end_ts` only snapshots that were in " +
      "force at some moment from the one to the other; both ends included. `include=counts` adds to each what runs and what " +
      "changed. With any of these three, headers tell where the page stands, as for the event log.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: SnapshotListQuery,
    responses: { 200: json("The snapshots", z.array(SnapshotListItem)) },
  }),
  get_snapshot: endpoint({
    method: "GET",
    path: "/snapshots/{org}/{env_name}/{snapshot_expression}",
    tag,
    summary: "Get a snapshot",
    description:
      "The expression is `N` or `#N`, `-N` from the end (`-1` is the latest), `~N` behind the latest, " +
      "`@{YYYY-MM-DDTHH:MM:SS}` in UTC, `@{N.hours.ago}` (also days, weeks, months) or `@{now}`. With `rules=once` the " +
      "`rule_evaluations` have a `rule_index` instead of their `rule`, and all rules are in the field `rules`. With " +
      "`max_artifacts` a snapshot that shows more comes without any, and says in `artifacts_left_out` how many there are: they are " +
      "to be had page by page.",
    access: organizationReader,
    kept: true,
    query: z.object({ rules: rulesParameter, max_artifacts: integerParameter({ min: 0 }).optional() }),
    responses: { 200: json("The snapshot", Snapshot) },
  }),
} satisfies Endpoints;
