import { z } from "zod";

import { statisticsUnits } from "../domain/flow-statistics.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { choiceParameter, timestampParameter } from "./parameters.ts";

/** How long trails took that comply, from their begin to the report that made them comply; null without any. */
const Seconds = z
  .object({ trail_count: z.int(), p50: z.number().nullable(), p90: z.number().nullable() })
  .meta({ id: "SecondsToCompliant" });

/** Trails that began in a part of the window, which ends where the next one begins. */
const Bucket = z
  .object({
    from: Timestamp,
    to: Timestamp,
    /** By the state they have now. */
    compliant: z.int(),
    non_compliant: z.int(),
    incomplete: z.int(),
    seconds_to_compliant: Seconds,
  })
  .meta({ id: "FlowStatisticsBucket" });

/** On how many trails something became of an attestation; a trail may count in several ways. */
const AttestationStatistics = z
  .object({
    attestation_name: z.string(),
    reported: z.int(),
    failing: z.int(),
    /** The template asks for it, and it was not reported. */
    missing: z.int(),
  })
  .meta({ id: "AttestationStatistics" });

/** What became of the trails of a flow that began in a window. */
const FlowStatistics = z
  .object({
    flow_name: z.string(),
    start_ts: Timestamp,
    end_ts: Timestamp,
    bucket: z.enum(statisticsUnits),
    /** How many were looked at. */
    trail_count: z.int(),
    /** Whether there are more in the window: older than 10,000 others. */
    truncated: z.boolean(),
    /** When the oldest one began that was looked at; null without any. */
    searched_since: Timestamp.nullable(),
    buckets: z.array(Bucket),
    /** By name; of more than 500 those on most trails. */
    attestations: z.array(AttestationStatistics),
    seconds_to_compliant: Seconds,
  })
  .meta({ id: "FlowStatistics" });

export const flowStatisticsEndpoints = {
  get_flow_statistics: endpoint({
    method: "GET",
    path: "/flows/{org}/{flow_name}/statistics",
    tag: "Flows",
    summary: "Tell what became of the trails of a flow",
    description:
      "Of the trails that began in the window, both ends included, at most the newest 10,000. Buckets are days or weeks in UTC, weeks " +
      "from Monday, the first and the last one cut off by the window, which has at most 90 days, ends now and begins 28 " +
      "days before its end unless said otherwise. Lists of trails find what is counted here by `state`, `failing` and `missing`.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: z.object({
      start_ts: timestampParameter().optional(),
      end_ts: timestampParameter().optional(),
      bucket: choiceParameter(statisticsUnits).default("day"),
    }),
    responses: { 200: json("What became of them", FlowStatistics) },
  }),
} satisfies Endpoints;
