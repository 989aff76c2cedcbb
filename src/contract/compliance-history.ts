import { z } from "zod";

import { bucketUnits } from "../domain/compliance-history.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { choiceParameter, timestampParameter } from "./parameters.ts";

/** A part of a history: seconds by class. From a moment until the next part begins. */
const HistoryBucket = z
  .object({
    from: Timestamp,
    to: Timestamp,
    compliant: z.number(),
    non_compliant: z.number(),
    /** Without a verdict: nothing was reported yet, or no policy was attached. */
    unknown: z.number(),
    /** Without reports for too long, whatever the verdict was; counted as nothing else. */
    silent: z.number(),
  })
  .meta({ id: "ComplianceHistoryBucket" });

/** The window that was looked at, and its parts in order. */
const history = {
  start_ts: Timestamp,
  end_ts: Timestamp,
  bucket: z.enum(bucketUnits),
  buckets: z.array(HistoryBucket),
};

const EnvironmentHistory = z
  .object({ environment_name: z.string(), ...history })
  .meta({ id: "EnvironmentComplianceHistory" });

const OrganizationHistory = z
  .object({
    /** How many environments there are now: those that count. */
    environment_count: z.int(),
    ...history,
  })
  .meta({ id: "OrganizationComplianceHistory" });

const query = z.object({
  start_ts: timestampParameter().optional(),
  end_ts: timestampParameter().optional(),
  bucket: choiceParameter(bucketUnits).default("day"),
});

const windowText =
  "Buckets are hours, days or weeks in UTC, weeks from Monday; at most 400, the first and the last one cut off by the window. It " +
  "ends now, and begins 24 hours, 30 days or 26 weeks before its end unless said otherwise; what is yet to come is left out.";

export const complianceHistoryEndpoints = {
  get_environment_compliance_history: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/compliance-history",
    tag: "Environments",
    summary: "Tell for how long an environment was compliant",
    description: `Seconds compliant, non-compliant, unknown and silent, which add up to the length of each bucket. ${windowText}`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query,
    responses: { 200: json("Its history", EnvironmentHistory) },
  }),
  get_organization_compliance_history: endpoint({
    method: "GET",
    path: "/organizations/{org}/compliance-history",
    tag: "Organizations",
    summary: "Tell for how long an organization's environments were compliant",
    description:
      "The same, added up over all environments that are not archived, logical ones too; each counts from its creation " +
      `on. ${windowText}`,
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query,
    responses: { 200: json("Their history", OrganizationHistory) },
  }),
} satisfies Endpoints;
