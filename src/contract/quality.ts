import { z } from "zod";

import { maxDeliveryBytes } from "../domain/quality/payload.ts";
import { isStorable } from "../lib/json.ts";
import { organizationRole, organizationRoleUnbound, signed } from "./access.ts";
import { json, LinksBody, okResponse, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import {
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
} from "./parameters.ts";

/** States of a delivery; `accepted` is waiting to be processed. */
export const deliveryStatuses = ["accepted", "processed", "duplicate", "ignored", "refused"] as const;

/** The part of a project that its flow is named after. */
const FlowNameBase = z.enum(["key", "name"]);

/** A prefix or suffix of flow names, short enough to go with the longest project key. */
const Affix = z.string().max(50).refine(isStorable, "Text must not contain NUL or unpaired surrogates");

/**
 * Body of the integration's settings: how flows are named after projects when the scanner names none. Characters that
 * flow names may not have become `-`.
 */
const QualityIntegrationPutInput = z
  .object({
    flow_name_base: FlowNameBase.default("key"),
    flow_name_prefix: Affix.default(""),
    flow_name_suffix: Affix.default(""),
  })
  .meta({ id: "QualityIntegrationPutInput" });
type QualityIntegrationPutInput = z.output<typeof QualityIntegrationPutInput>;

/** An inbound integration. Everything but name, state and `secret_forgotten` is null while it is off. */
const InboundIntegration = z
  .object({
    name: z.literal("quality"),
    state: z.enum(["on", "off"]),
    webhook_url: z.string().nullable(),
    flow_name_base: FlowNameBase.nullable(),
    flow_name_prefix: z.string().nullable(),
    flow_name_suffix: z.string().nullable(),
    created_at: Timestamp.nullable(),
    created_by: z.string().nullable(),
    last_modified_at: Timestamp.nullable(),
    /** Its secret is gone, because the installation was restored without its secret key: signed calls are refused until it is replaced. */
    secret_forgotten: z.boolean(),
  })
  .meta({ id: "InboundIntegration" });

/** An inbound integration with its secret, which is shown when it is made. */
const integrationWithSecret = InboundIntegration.extend({ secret: z.string() }).meta({
  id: "InboundIntegrationWithSecret",
});

/** One call of the webhook, and its state. */
const QualityDelivery = z
  .object({
    id: z.string(),
    received_at: Timestamp,
    status: z.enum(deliveryStatuses),
    /** Why it was not recorded. */
    reason: z.string().nullable(),
    authenticated_by: z.enum(["signature", "api_key"]),
    reported_by: z.string(),
    task_id: z.string().nullable(),
    project_key: z.string().nullable(),
    flow_name: z.string().nullable(),
    trail_name: z.string().nullable(),
    attestation_id: z.string().nullable(),
    processed_at: Timestamp.nullable(),
    /** The delivery this one repeats. */
    replay_of: z.string().nullable(),
    /** SHA-256 of the body as received, lower-case hex. */
    body_sha256: z.string(),
  })
  .meta({ id: "QualityDelivery" });

/** A delivery with the body that was received. */
const QualityDeliveryWithPayload = QualityDelivery.extend({
  payload: z.record(z.string(), z.unknown()),
}).meta({ id: "QualityDeliveryWithPayload" });

/** A page of deliveries. */
const QualityDeliveryList = z
  .object({
    page: z.int(),
    per_page: z.int(),
    total_pages: z.int(),
    total_count: z.int(),
    deliveries: z.array(QualityDelivery),
    _links: LinksBody,
  })
  .meta({ id: "QualityDeliveryList" });

/** The answer to a webhook call. */
const QualityWebhookAnswer = z
  .object({
    status: z.enum(["accepted", "duplicate", "ignored"]),
    reason: z.string().optional(),
  })
  .meta({ id: "QualityWebhookAnswer" });

/** The webhook's body: handed over as bytes, because the signature is over bytes, and documented as an object. */
const Payload = z
  .custom<Buffer | undefined>(() => true)
  .meta({ id: "Payload", type: "object", additionalProperties: true });

const member = organizationRole("member");

/** Who has the secret signs calls from anywhere. */
const memberUnbound = organizationRoleUnbound("member");
const tag = "Integrations";

const webhook = {
  method: "POST",
  tag: "Webhooks",
  access: signed,
  body: { kind: "raw", schema: Payload, maxBytes: maxDeliveryBytes },
  responses: { 200: json("What is done about it", QualityWebhookAnswer) },
  description:
    "The signature is the lower-case hex HMAC-SHA256 of the body under the integration's secret, in X-Quality-Webhook-HMAC-SHA256 or X-Sonar-Webhook-HMAC-SHA256. The delivery is stored before the answer and processed after it.",
} as const;

export const qualityEndpoints = {
  quality_webhook: endpoint({
    ...webhook,
    path: "/webhooks/quality/{hook_uid}",
    headers: z.object({ "X-Quality-Webhook-HMAC-SHA256": z.string().nullish() }),
    summary: "Receive a code-quality analysis",
  }),
  sonar_qube_webhook: endpoint({
    ...webhook,
    path: "/webhooks/sonar/{hook_uid}",
    headers: z.object({ "X-Sonar-Webhook-HMAC-SHA256": z.string().nullish() }),
    summary: "Receive a code-quality analysis, under the path older set-ups have",
  }),
  list_integrations: endpoint({
    method: "GET",
    path: "/integrations/{org}",
    tag,
    summary: "List inbound integrations",
    access: member,
    responses: { 200: json("Every integration there is, on or off", z.array(InboundIntegration)) },
  }),
  put_quality_integration: endpoint({
    method: "PUT",
    path: "/integrations/{org}/quality",
    tag,
    summary: "Switch the code-quality webhook on, or change its settings",
    access: memberUnbound,
    body: { kind: "json", schema: QualityIntegrationPutInput },
    responses: {
      200: json("Changed; URL and secret stay", InboundIntegration),
      201: json("Switched on; the secret is shown this once", integrationWithSecret),
    },
  }),
  rotate_quality_integration_secret: endpoint({
    method: "POST",
    path: "/integrations/{org}/quality/rotate-secret",
    tag,
    summary: "Replace the code-quality webhook's secret",
    description: "The old secret stops working at once.",
    access: memberUnbound,
    responses: { 200: json("The new secret, shown this once", integrationWithSecret) },
  }),
  delete_quality_integration: endpoint({
    method: "DELETE",
    path: "/integrations/{org}/quality",
    tag,
    summary: "Switch the code-quality webhook off",
    description: "Its URL stops existing. Deliveries and attestations stay.",
    access: member,
    responses: { 200: okResponse },
  }),
  list_quality_deliveries: endpoint({
    method: "GET",
    path: "/integrations/{org}/quality/deliveries",
    tag,
    summary: "List deliveries of the code-quality webhook",
    description: "Newest first.",
    access: member,
    query: z.object({
      page: pageParameter().default(1),
      per_page: integerParameter({ min: 1, max: 100 }).default(20),
      status: listParameter(choiceParameter(deliveryStatuses)),
      project_key: textParameter().optional(),
    }),
    responses: { 200: json("One page", QualityDeliveryList) },
  }),
  get_quality_delivery: endpoint({
    method: "GET",
    path: "/integrations/{org}/quality/deliveries/{delivery_id}",
    tag,
    summary: "Get a delivery with what was delivered",
    access: member,
    responses: { 200: json("The delivery", QualityDeliveryWithPayload) },
  }),
  replay_quality_delivery: endpoint({
    method: "POST",
    path: "/integrations/{org}/quality/deliveries/{delivery_id}/replay",
    tag,
    summary: "Process a delivery again",
    description:
      "Makes a new delivery of the same body under the present settings. When it succeeds it adds an attestation, which is then the newest and counts. Not idempotent: each call makes one. When the answer was lost, the list tells whether it was made: the newest deliveries, by `replay_of`.",
    access: member,
    responses: { 201: json("The new delivery", QualityDelivery) },
  }),
} satisfies Endpoints;
