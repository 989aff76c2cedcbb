import { z } from "zod";

import { actionLimits } from "../domain/actions.ts";
import { indexedText } from "./common.ts";
import { distinctList, listOf } from "./lists.ts";

/** Times that only the server writes: accepted and ignored, so that what was read can be sent back. */
const deliveryTimes = {
  last_success_at: z.number().nullable().optional(),
  last_failure_at: z.number().nullable().optional(),
};

const webhook = z.string().max(actionLimits.webhookLength);

/** The channel that the Slack app posts to. */
const SlackAppContext = z
  .strictObject({ channel_id: indexedText(), channel_name: indexedText(), team_id: indexedText() })
  .meta({ id: "SlackAppContext" });

const SlackActionTarget = z
  .strictObject({
    type: z.literal("SLACK"),
    ...deliveryTimes,
    webhook,
    context: SlackAppContext.nullable().optional(),
  })
  .meta({ id: "SlackActionTarget" });

const WebhookActionTarget = z
  .strictObject({
    type: z.literal("WEBHOOK"),
    ...deliveryTimes,
    webhook,
    payload_version: z.literal("1.0").default("1.0"),
  })
  .meta({ id: "WebhookActionTarget" });

/** An e-mail address. */
const email = z.string().max(actionLimits.emailLength, { abort: true }).check(z.email());

const EmailActionTarget = z
  .strictObject({
    type: z.literal("EMAIL"),
    ...deliveryTimes,
    emails: distinctList(email, { min: 1, max: actionLimits.emails }),
  })
  .meta({ id: "EmailActionTarget" });

/** Targets of an action, discriminated by `type`. Other keys are refused. Webhook addresses are secrets. */
export const ActionTargets = listOf(
  z.discriminatedUnion("type", [WebhookActionTarget, SlackActionTarget, EmailActionTarget]),
  { min: 1, max: actionLimits.targets },
);

const shownTimes = { last_success_at: z.number().nullable(), last_failure_at: z.number().nullable() };

/** A webhook address as it is shown: always empty, because it is a secret. */
const hiddenWebhook = z.string();

const SlackTargetResponse = z
  .object({
    type: z.literal("SLACK"),
    webhook: hiddenWebhook,
    ...shownTimes,
    context: z
      .object({ channel_id: z.string(), channel_name: z.string(), team_id: z.string() })
      .meta({ id: "SlackAppContextResponse" })
      .nullable(),
  })
  .meta({ id: "SlackTargetResponse" });

const WebhookTargetResponse = z
  .object({ type: z.literal("WEBHOOK"), webhook: hiddenWebhook, payload_version: z.string(), ...shownTimes })
  .meta({ id: "WebhookTargetResponse" });

const EmailTargetResponse = z
  .object({ type: z.literal("EMAIL"), emails: z.array(z.string()), ...shownTimes })
  .meta({ id: "EmailTargetResponse" });

/** A target as it is shown. */
export const TargetResponse = z.discriminatedUnion("type", [
  SlackTargetResponse,
  WebhookTargetResponse,
  EmailTargetResponse,
]);
