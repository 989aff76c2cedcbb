import { z } from "zod";

import { sortDirections } from "../domain/environments.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { pageOfList } from "./pagination.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  booleanParameter,
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

/** Fields of a decision, listed or alone. */
const entry = z.object({
  /** Id of the attestation that records it. */
  decision_id: z.string(),
  /** Identifier of the control. */
  control: z.string(),
  /** The control's version when this was decided; null when there was no such control yet. */
  control_version: z.int().nullable(),
  is_compliant: z.boolean(),
  attestation_name: z.string(),
  flow_id: z.string(),
  flow_name: z.string(),
  trail_name: z.string(),
  /** Null for a decision on the trail as a whole. */
  artifact_fingerprint: z.string().nullable(),
  /** The artifact's name as last reported on the trail. */
  artifact_name: z.string().nullable(),
  created_at: Timestamp,
  reported_by: z.string(),
  html_url: z.string(),
});

/** A decision on a control, as it is listed. */
const ControlDecision = entry.meta({ id: "ControlDecisionResponse" });

/** A decision with all that was said about it. */
const ControlDecisionDetail = entry
  .extend({
    description: z.string().nullable(),
    origin_url: z.string().nullable(),
    external_urls: z
      .record(z.string(), z.object({ href: z.string(), fingerprint: z.string().nullish() }))
      .nullable(),
    annotations: z.record(z.string(), z.string()).nullable(),
    user_data: z.unknown(),
  })
  .meta({ id: "ControlDecisionDetailResponse" });

/** A page of the decisions on a control. */
const ControlDecisionListResponse = z
  .strictObject({
    ...pageOfList,
    decisions: z.array(ControlDecision),
  })
  .meta({ id: "ControlDecisionListResponse" });

/** Filters, order and page of the decisions. */
export const ControlDecisionsQuery = z.object({
  page: pageParameter().default(1),
  per_page: integerParameter({ min: 1, max: 100 }).default(15),
  is_compliant: booleanParameter().optional(),
  from_timestamp: timestampParameter().optional(),
  to_timestamp: timestampParameter().optional(),
  flow_id: listParameter(textParameter()),
  sort_direction: choiceParameter(sortDirections).default("desc"),
});
export type ControlDecisionsQuery = z.output<typeof ControlDecisionsQuery>;

const tag = "Controls";

export const controlDecisionEndpoints = {
  list_control_decisions: endpoint({
    method: "GET",
    path: "/controls/{org}/{identifier}/decisions",
    tag,
    summary: "List the decisions on a control",
    description:
      "Sorted by time. The bounds are inclusive, `flow_id` may be repeated: any of the flows will do. Decisions that named the identifier before there was such a control are among them.",
    access: organizationReader,
    kept: true,
    fromReplica: true,
    query: ControlDecisionsQuery,
    responses: { 200: json("A page of decisions", ControlDecisionListResponse) },
  }),
  get_control_decision: endpoint({
    method: "GET",
    path: "/controls/{org}/{identifier}/decisions/{decision_id}",
    tag,
    summary: "Get a decision on a control",
    access: organizationReader,
    kept: true,
    responses: { 200: json("The decision", ControlDecisionDetail) },
  }),
} satisfies Endpoints;
