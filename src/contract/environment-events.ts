import { z } from "zod";

import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  booleanParameter,
  commaListParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

/** One artifact of a diff. Keys without a value are left out (contract environments 5). */
const ArtifactInfo = z
  .object({
    /** Empty when the digest is not known. */
    fingerprint: z.string(),
    name: z.string(),
    /** Start of the youngest instance, Unix seconds. */
    most_recent_timestamp: z.int(),
    /** Empty when no flow knows it. */
    flow: z.string(),
    commit_url: z.string().optional(),
    /** Given where the number is the same in both, or there is only one. */
    instance_count: z.int().optional(),
    /** Given where the numbers differ. */
    s1_instance_count: z.int().optional(),
    s2_instance_count: z.int().optional(),
    pods: z.array(z.string()).optional(),
    // Only with `include=detail`; what its flow says is null without one.
    /** Null without policies; so below. */
    compliant: z.boolean().nullable().optional(),
    /** In the first snapshot, of what is in both. */
    s1_compliant: z.boolean().nullable().optional(),
    trail_name: z.string().nullable().optional(),
    template_reference_name: z.string().nullable().optional(),
    git_commit: z.string().nullable().optional(),
    html_url: z.string().nullable().optional(),
  })
  .meta({ id: "ArtifactInfo" });

const ArtifactInfos = z.object({ artifacts: z.array(ArtifactInfo) });

/** Artifacts of one of the two snapshots. */
const DiffItem = ArtifactInfos.extend({
  snapshot_id: z.string(),
  // Only with `include=detail`.
  environment_name: z.string().optional(),
  index: z.int().optional(),
  timestamp: Timestamp.optional(),
  /** Null while it is unknown. */
  compliant: z.boolean().nullable().optional(),
  html_url: z.string().optional(),
}).meta({ id: "DiffItem" });

/** One thing in another version on each side. */
const PairedArtifact = z
  .object({
    before: ArtifactInfo,
    after: ArtifactInfo,
    /** Address of a page that compares the two commits. */
    diff_url: z.string().nullable(),
    /** Seconds from the second one's commit to its first instance. */
    commit_lead_time: z.number().nullable(),
  })
  .meta({ id: "PairedArtifact" });

/** A policy that the snapshots were judged by in different versions; null where it did not apply. */
const PolicyDifference = z
  .object({
    policy_name: z.string(),
    before_version: z.int().nullable(),
    after_version: z.int().nullable(),
  })
  .meta({ id: "PolicyDifference" });

/**
 * The difference of two snapshots: artifacts only in the first, only in the second, in both but in other numbers,
 * unchanged.
 */
const EnvironmentDiff = z
  .object({
    snappish1: DiffItem,
    snappish2: DiffItem,
    changed: ArtifactInfos,
    "not-changed": ArtifactInfos,
    // Only with `include=detail`.
    paired: z.array(PairedArtifact).optional(),
    policies: z.array(PolicyDifference).optional(),
  })
  .meta({ id: "EnvironmentDiffResponse" });

/** Addresses of a resource, for programs and for people. */
const EventLink = z.object({ self: z.string(), html: z.string() });

/** One change of one artifact (contract environments 6.2). */
export const EnvironmentEvent = z
  .object({
    environment_name: z.string(),
    snapshot_index: z.int(),
    artifact_name: z.string(),
    /** The artifact's fingerprint; empty when its digest is not known. */
    sha256: z.string(),
    description: z.string(),
    reported_at: Timestamp,
    /** The first flow that knew the artifact; empty without one. */
    pipeline: z.string(),
    deployments: z.array(z.int()),
    flows: z.array(
      z
        .object({ flow_name: z.string(), deployments: z.array(z.int()).nullable() })
        .meta({ id: "GetEnvironmentEventFlow" }),
    ),
    /** Null without policies. */
    artifact_compliance: z.boolean().nullable(),
    /** False for unknown, too. */
    snapshot_compliance: z.boolean(),
    type: z.string(),
    /** Address of a page that compares the commit with that of the artifact it replaced. */
    code_diff: z.string().nullable(),
    /** Addresses for programs and for people; without a flow there is no page of the artifact. */
    _links: z.object({ artifact: EventLink.optional(), snapshot: EventLink }),
  })
  .meta({ id: "GetEnvironmentEventResponse" });

export type EnvironmentEvent = z.output<typeof EnvironmentEvent>;

/** Query that chooses a part of the log. An empty interval counts as left out; every other text has to be valid. */
const EnvironmentEventsQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
  interval: textParameter().optional(),
  reverse: booleanParameter().default(false),
  repo_name: listParameter(textParameter()),
  start: textParameter().optional(),
  end: textParameter().optional(),
  start_ts: timestampParameter().optional(),
  end_ts: timestampParameter().optional(),
});

/** Kinds of movements in the audit log: `changed` is whatever is neither a start nor an exit. */
const movementKinds = ["started", "exited", "changed"] as const;

/** Query that chooses movements. An empty list counts as left out. */
const EnvironmentAuditlogQuery = z.object({
  from_timestamp: timestampParameter().optional(),
  to_timestamp: timestampParameter().optional(),
  event_types: commaListParameter(movementKinds).optional(),
  flow_names: commaListParameter().optional(),
  repo_names: commaListParameter().optional(),
});

const tag = "Environments";

export const environmentEventEndpoints = {
  environment_diff: endpoint({
    method: "GET",
    path: "/env-diff/{org}",
    tag: "EnvDiff",
    summary: "Compare two snapshots",
    description:
      "Each is an environment's name, for its latest snapshot, or the name with `#N`, `~N` behind the latest, " +
      "`@{YYYY-MM-DDTHH:MM:SS}` in UTC, `@{N.hours.ago}` (also days, weeks, months) or `@{now}`. Artifacts are told " +
      "apart by fingerprint; what has exited in a snapshot is not in it. With `include=detail` each has its verdict, commit " +
      "and page, and what is only in one of them is `paired` with another version of it in the other: by what was recorded " +
      "to have run before it, else by flow and template name, else by name without tag; `policies` are those that differ.",
    access: organizationReader,
    kept: true,
    query: z.object({
      snappish1: textParameter(),
      snappish2: textParameter(),
      include: commaListParameter(["detail"]).optional(),
    }),
    responses: { 200: json("The difference", EnvironmentDiff) },
  }),
  get_env_events: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/events",
    tag,
    summary: "Event log of an environment",
    description:
      "The newest first unless `reverse` is true. `start` and `end` are a snapshot by number (`N`, `-N` from the end, " +
      "`NOW`), a time ago (`1hour`, `1h`, `2days`, `30mins`) or Unix seconds; `start_ts` and `end_ts` win over them, and " +
      "they over `interval`. Everything is included. The headers `X-Total-Count`, `X-Per-Page`, `X-Current-Page` and " +
      "`X-Total-Pages` tell where the page stands; `Link` leads to others when there are any.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: EnvironmentEventsQuery,
    responses: { 200: json("The events", z.array(EnvironmentEvent)) },
  }),
  get_env_auditlog: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/auditlog",
    tag,
    summary: "Movements of artifacts as CSV",
    description:
      "One line for each event, the oldest first, after a line of headings. `event_types` (`started`, `exited`, " +
      "`changed`), `flow_names` and `repo_names` are lists with commas; the flow `no provenance` stands for artifacts " +
      "that no flow knows. Texts that a spreadsheet would take for a formula begin with an apostrophe.",
    access: organizationReader,
    query: EnvironmentAuditlogQuery,
    responses: { 200: { description: "The movements", contentType: "text/csv; charset=utf-8" } },
  }),
} satisfies Endpoints;
