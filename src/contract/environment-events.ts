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
export const ArtifactInfo = z
  .object({
    /** Empty when the digest is not known. */
    fingerprint: z.string(),
    name: z.string(),
    /** Start of the youngest instance, Unix seconds. */
    most_recent_timestamp: z.int(),
    /** Empty when no flow knows it. */
    flow: z.string(),
    commit_url: z.string().optional(),
    /** Where there is one number. */
    instance_count: z.int().optional(),
    /** Where the numbers differ. */
    s1_instance_count: z.int().optional(),
    s2_instance_count: z.int().optional(),
    pods: z.array(z.string()).optional(),
  })
  .meta({ id: "ArtifactInfo" });

const ArtifactInfos = z.object({ artifacts: z.array(ArtifactInfo) });

/** Artifacts of one of the two snapshots. */
export const DiffItem = ArtifactInfos.extend({ snapshot_id: z.string() }).meta({ id: "DiffItem" });

/** What two snapshots have in common and what not: only in the first, only in the second, in other numbers, in the same. */
export const EnvironmentDiff = z
  .object({ snappish1: DiffItem, snappish2: DiffItem, changed: ArtifactInfos, "not-changed": ArtifactInfos })
  .meta({ id: "EnvironmentDiffResponse" });

const EventLink = z.object({ self: z.string(), html: z.string() });

/** One change of one artifact (contract environments 6.2). */
export const EnvironmentEvent = z
  .object({
    environment_name: z.string(),
    snapshot_index: z.int(),
    artifact_name: z.string(),
    /** The fingerprint; empty when the digest is not known. */
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
    /** Unknown counts as false. */
    snapshot_compliance: z.boolean(),
    type: z.string(),
    /** A page that compares the commit with that of the artifact it followed. */
    code_diff: z.string().nullable(),
    /** Addresses for programs and for people. No flow, no page of the artifact. */
    _links: z.object({ artifact: EventLink.optional(), snapshot: EventLink }),
  })
  .meta({ id: "GetEnvironmentEventResponse" });

export type EnvironmentEvent = z.output<typeof EnvironmentEvent>;

/** Which part of the log. An empty interval is none; every other text has to be right. */
export const EnvironmentEventsQuery = z.object({
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

/** Kinds of movements in the audit log: all that neither start nor exit is a change. */
export const movementKinds = ["started", "exited", "changed"] as const;

/** Which movements. An empty list is none given. */
export const EnvironmentAuditlogQuery = z.object({
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
      "apart by fingerprint; what has exited in a snapshot is not in it.",
    access: organizationReader,
    query: z.object({ snappish1: textParameter(), snappish2: textParameter() }),
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
