import { z } from "zod";

import { organizationRole } from "./access.ts";
import { actionNumber } from "./actions.ts";
import { json, LinksBody, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { choiceParameter, integerParameter, listParameter, pageParameter } from "./parameters.ts";

/**
 * States of a delivery. `waiting` will be tried, perhaps again; `failed` was given up after a day; `cancelled` lost its
 * target before anything could be sent.
 */
export const notificationStatuses = ["waiting", "delivered", "failed", "cancelled"] as const;

/** One message to one target of an action, and its state. */
export const NotificationDelivery = z
  .object({
    /** Also the `webhook-id` of the message. */
    id: z.string(),
    action_number: z.int(),
    /** The target: its place in the action's list, from 0, and its type. */
    target: z.object({ position: z.int(), type: z.enum(["WEBHOOK", "SLACK", "EMAIL"]) }),
    trigger: z.string(),
    event_type: z.string(),
    description: z.string(),
    /** When the event happened. */
    occurred_at: Timestamp,
    status: z.enum(notificationStatuses),
    attempts: z.int(),
    created_at: Timestamp,
    last_attempt_at: Timestamp.nullable(),
    /** Null when there will be no further attempt. */
    next_attempt_at: Timestamp.nullable(),
    /** HTTP status of the last answer; null for e-mail and when there was none. */
    response_status: z.int().nullable(),
    /** Why the last attempt failed, or which addresses were refused. */
    error: z.string().nullable(),
    /** The delivery this one repeats. */
    replay_of: z.string().nullable(),
  })
  .meta({ id: "NotificationDelivery" });

/** A delivery with its message. */
const NotificationDeliveryWithPayload = NotificationDelivery.extend({
  /** The message as webhooks get it; chat and e-mail show the same facts. */
  payload: z.record(z.string(), z.unknown()),
}).meta({ id: "NotificationDeliveryWithPayload" });

/** A page of deliveries. */
const NotificationDeliveryList = z
  .object({
    page: z.int(),
    per_page: z.int(),
    total_pages: z.int(),
    total_count: z.int(),
    deliveries: z.array(NotificationDelivery),
    _links: LinksBody,
  })
  .meta({ id: "NotificationDeliveryList" });

/** The secret that an organization's webhooks are signed with. */
const SigningSecret = z
  .object({
    /** `whsec_` and 32 bytes in base64. */
    secret: z.string(),
    /** Null for the first one. */
    rotated_at: Timestamp.nullable(),
    /** Until when webhooks carry a signature by the former secret, too. */
    previous_valid_until: Timestamp.nullable(),
  })
  .meta({ id: "SigningSecret" });

const member = organizationRole("member");
const tag = "Actions";

export const notificationEndpoints = {
  list_notification_deliveries: endpoint({
    method: "GET",
    path: "/actions/{org}/{action_number}/deliveries",
    tag,
    summary: "List deliveries of an action",
    description: "Newest first. Settled deliveries are kept for 30 days.",
    access: member,
    params: z.object({ action_number: actionNumber }),
    query: z.object({
      page: pageParameter().default(1),
      per_page: integerParameter({ min: 1, max: 100 }).default(20),
      status: listParameter(choiceParameter(notificationStatuses)),
    }),
    responses: { 200: json("One page", NotificationDeliveryList) },
  }),
  get_notification_delivery: endpoint({
    method: "GET",
    path: "/actions/{org}/{action_number}/deliveries/{delivery_id}",
    tag,
    summary: "Get a delivery with what is delivered",
    access: member,
    params: z.object({ action_number: actionNumber, delivery_id: z.string() }),
    responses: { 200: json("The delivery", NotificationDeliveryWithPayload) },
  }),
  replay_notification_delivery: endpoint({
    method: "POST",
    path: "/actions/{org}/{action_number}/deliveries/{delivery_id}/replay",
    tag,
    summary: "Deliver again",
    description:
      "Makes a new delivery of the same event, with an id of its own, to the target as it is now. Not idempotent: each call sends a message. When the answer was lost, the list tells whether it was made: the newest deliveries, by `replay_of`.",
    access: member,
    params: z.object({ action_number: actionNumber, delivery_id: z.string() }),
    responses: { 201: json("The new delivery", NotificationDelivery) },
  }),
  get_signing_secret: endpoint({
    method: "GET",
    path: "/actions/{org}/signing-secret",
    tag,
    summary: "Get the secret that webhooks are signed with",
    access: member,
    showsSecret: true,
    responses: { 200: json("The secret in force", SigningSecret) },
  }),
  rotate_signing_secret: endpoint({
    method: "POST",
    path: "/actions/{org}/signing-secret/rotate",
    tag,
    summary: "Replace the secret that webhooks are signed with",
    description: "For 24 hours webhooks carry a signature by the old secret as well.",
    access: member,
    responses: { 200: json("The new secret", SigningSecret) },
  }),
} satisfies Endpoints;
