import { z } from "zod";

import { healthStatuses } from "../domain/health.ts";
import { instanceAdminOrMetrics } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

const HealthStatus = z.enum(healthStatuses).meta({ id: "HealthStatus" });

/** How the instance stands, and what says so. */
const InstanceHealth = z
  .object({
    /** The worst of all checks. */
    status: HealthStatus,
    /** Of the program. */
    version: z.string(),
    checks: z.array(
      z.object({
        name: z.string(),
        status: HealthStatus,
        detail: z.string(),
        /** Since when the answering server has found this status, as far as it looked. */
        since: Timestamp,
      }),
    ),
  })
  .meta({ id: "InstanceHealth" });

export const healthEndpoints = {
  instance_health: endpoint({
    method: "GET",
    path: "/health",
    tag: "Instance",
    summary: "Tell how the instance stands",
    description:
      "Checks the database, disks, evidence, queues, clocks and keys, and answers within two seconds, whatever hangs. The status is 200 also when something fails: `/ready` is what tells balancers. Every server answers the same at `/health`.",
    access: instanceAdminOrMetrics,
    responses: { 200: json("What was found", InstanceHealth) },
  }),
} satisfies Endpoints;
