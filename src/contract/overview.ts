import { z } from "zod";

import { attentionReasons } from "../domain/overview.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/** The numbers of an organization (an extension of the public interface). */
const OrganizationOverview = z
  .object({
    /** Live ones, logical ones among them: compliant, non-compliant and unknown ones are all. */
    environments: z.object({
      total: z.int(),
      compliant: z.int(),
      non_compliant: z.int(),
      unknown: z.int(),
      /** Whose reporter has been silent for too long, whatever their verdict. */
      stale: z.int(),
      /** Physical ones without a report; they are unknown, too. */
      never_reported: z.int(),
    }),
    /** Artifacts in live physical environments, once for each environment: what logical ones show runs in their members. */
    running: z.object({
      artifacts: z.int(),
      /** That no flow knows. */
      unproven: z.int(),
      non_compliant: z.int(),
      allow_listed: z.int(),
    }),
    /** That began in the last 24 hours, by their state now. */
    trails: z.object({
      since: Timestamp,
      total: z.int(),
      compliant: z.int(),
      non_compliant: z.int(),
      incomplete: z.int(),
    }),
    /** Environments, the worst first: non-compliant ones by failing artifacts, then those that have been silent longest. */
    attention: z.array(
      z.object({
        environment_name: z.string(),
        /** When it became so. */
        since: Timestamp.nullable(),
        reason: z.enum(attentionReasons),
        failing_artifacts: z.int(),
      }),
    ),
  })
  .meta({ id: "OrganizationOverview" });
export type OrganizationOverview = z.output<typeof OrganizationOverview>;

export const overviewEndpoints = {
  get_overview: endpoint({
    method: "GET",
    path: "/organizations/{org}/overview",
    tag: "Organizations",
    summary: "Get the numbers of an organization",
    description:
      "Environments by state, what runs, the trails of the last 24 hours, and up to 20 environments that need attention. " +
      "The lists have the same numbers: of environments by `state` and `stale`, of what runs.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    responses: { 200: json("The numbers", OrganizationOverview) },
  }),
} satisfies Endpoints;
