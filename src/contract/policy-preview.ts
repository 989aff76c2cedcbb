import { z } from "zod";

import { environmentTypes } from "../domain/environments.ts";
import { latestTimestamp, previewLimits } from "../domain/policies.ts";
import { organizationRole } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listOf } from "./lists.ts";
import { policyFile } from "./policies.ts";

/** An end of a time range, in Unix seconds. */
const bound = z.number().min(0).max(latestTimestamp).nullish();

/** Form field of a preview: what the policy is tried on. */
const PreviewPolicy = z
  .strictObject({
    /** Names of environments; null or absent: all that are not archived. */
    environments: listOf(z.string(), { max: previewLimits.environments }).nullish(),
    /**
     * Beginning of the range, whose first snapshot is the one in force then; null or absent: only the snapshot at
     * `end_ts`.
     */
    start_ts: bound,
    /** End of the range; null or absent: now. */
    end_ts: bound,
  })
  .meta({ id: "PolicyPreviewPostInput" });

/** A range of snapshots, both ends included. */
const Span = z.object({ first_index: z.int(), last_index: z.int() });

/** The verdicts a policy would have given on what ran in an environment. */
const PreviewedEnvironment = z
  .object({
    name: z.string(),
    type: z.enum(environmentTypes),
    /** By index. */
    snapshots: z.array(
      z.object({
        index: z.int(),
        timestamp: Timestamp,
        /** The verdict then; null is unknown. */
        compliant: z.boolean().nullable(),
        would_be_compliant: z.boolean(),
        non_compliant_count: z.int(),
      }),
    ),
    /** By name. */
    non_compliant_artifacts: z.array(
      z.object({
        name: z.string(),
        fingerprint: z.string(),
        reasons: z.array(z.object({ rule: z.string(), message: z.string() })),
        /** Ranges of the snapshots it ran in. */
        snapshots: z.array(Span),
      }),
    ),
  })
  .meta({ id: "PolicyPreviewEnvironment" });

/** The result of a preview (an extension of the public interface). */
const PolicyPreview = z
  .object({
    /** Whether every snapshot would have been compliant. */
    compliant: z.boolean(),
    environments: z.array(PreviewedEnvironment),
  })
  .meta({ id: "PolicyPreviewResponse" });

export const policyPreviewEndpoints = {
  preview_policy: endpoint({
    method: "POST",
    path: "/policies/{org}/preview",
    recordsNothing: true,
    tag: "Policies",
    summary: "Try a policy on what runs or ran",
    description:
      "Judges the artifacts of snapshots by this policy alone and by what flows and allow-lists say of them now. Without " +
      "a time range it is the snapshots in force now. Environments without any snapshot are left out. Stores nothing.",
    access: organizationRole("reader"),
    body: { kind: "multipart", field: "data_json", schema: PreviewPolicy, files: policyFile },
    responses: { 200: json("What would have been", PolicyPreview) },
  }),
} satisfies Endpoints;
