import { z } from "zod";

import { silenceLimitRange } from "../domain/silence.ts";
import { organizationReader, organizationRole } from "./access.ts";
import { integer, json, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

/**
 * How often an environment is reported on, and whether it has been silent for too long (an extension of the public interface).
 */
export const EnvironmentSilence = z
  .object({
    environment_name: z.string(),
    last_reported_at: Timestamp.nullable(),
    /** The interval that three of four of the latest gaps do not exceed; null while there are too few. */
    usual_interval_seconds: z.number().nullable(),
    /** Longest silence that is not stale; null while nothing is set and too little is known. */
    limit_seconds: z.number().nullable(),
    limit_source: z.enum(["set", "learned", "none"]),
    is_stale: z.boolean(),
    /** When the limit was exceeded. */
    stale_since: Timestamp.nullable(),
    /** The latest hundred gaps that were too long, newest first. */
    gaps: z.array(
      z.object({
        from: Timestamp,
        /** Null while it lasts. */
        to: Timestamp.nullable(),
        /** When it was noticed and notified; null when it was found only afterwards. */
        noticed_at: Timestamp.nullable(),
        /** Seconds. */
        duration: z.number(),
      }),
    ),
  })
  .meta({ id: "EnvironmentSilence" });
export type EnvironmentSilence = z.output<typeof EnvironmentSilence>;

/** Body of a limit: how long an environment may be silent, in seconds; null to learn it from the reports. */
const SilenceLimit = z
  .strictObject({
    limit_seconds: integer().min(silenceLimitRange.min).max(silenceLimitRange.max).nullable(),
  })
  .meta({ id: "EnvironmentSilencePutInput" });

const tag = "Environments";

export const silenceEndpoints = {
  get_environment_silence: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/silence",
    tag,
    summary: "Tell whether an environment's reporter is silent",
    description:
      "The usual interval between reports is learned from the last 20 of them. Without a limit of its own an environment is " +
      "stale after three times as long, at least a minute. Time during which no server was running does not count.",
    access: organizationReader,
    kept: true,
    responses: { 200: json("Its rhythm and its gaps", EnvironmentSilence) },
  }),
  put_environment_silence: endpoint({
    method: "PUT",
    path: "/environments/{org}/{env_name}/silence",
    tag,
    summary: "Set how long an environment may be silent",
    access: organizationRole("member"),
    body: { kind: "json", schema: SilenceLimit },
    responses: { 200: okResponse },
  }),
} satisfies Endpoints;
