import type { z } from "zod";

import type { NotificationDelivery, notificationEndpoints } from "../../../contract/notifications.ts";
import { describeOccurrence, eventTypeOf } from "../../../domain/notifications/describe.ts";
import { webhookBody } from "../../../domain/notifications/message.ts";
import type { OrgAccess } from "../../../domain/principal.ts";
import { parseWireId, wireId, wireIdOrNull } from "../../../lib/ids.ts";
import { pageHead } from "../../../lib/links.ts";
import { pageSlice } from "../../../lib/paging.ts";
import { getActionNumber } from "../actions/service.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { countDeliveries, type DeliveryRow, findDelivery, listDeliveries } from "./delivery-store.ts";
import { getSigningSecret, rotateSigningSecret } from "./key-service.ts";
import { deliveryNotFound, replayDelivery } from "./replay-service.ts";

function showDelivery(row: DeliveryRow): z.output<typeof NotificationDelivery> {
  const { occurrence } = row;
  return {
    id: wireId(row.id),
    action_number: row.action_number,
    target: { position: row.target_position, type: row.target_type },
    trigger: occurrence.trigger,
    event_type: eventTypeOf(occurrence.trigger),
    description: describeOccurrence(occurrence),
    occurred_at: occurrence.at,
    status: row.status,
    attempts: row.attempts,
    created_at: row.created_at,
    last_attempt_at: row.last_attempt_at,
    next_attempt_at: row.next_attempt_at,
    response_status: row.response_status,
    error: row.error,
    replay_of: wireIdOrNull(row.replay_of),
  };
}

/**
 * Reads which delivery of which action a URL names.
 * @throws AppError not_found for an unknown action, and for a text that is no id: nothing can be found by it.
 */
async function keyOf(deps: Deps, org: OrgAccess, params: { action_number: string; delivery_id: string }) {
  const action_number = await getActionNumber(deps, org, params.action_number);
  const id = parseWireId(params.delivery_id);
  if (id === undefined) throw deliveryNotFound(org, action_number, params.delivery_id);
  return { action_number, id };
}

export const notificationHandlers: Handlers<typeof notificationEndpoints> = {
  list_notification_deliveries: async (deps, { org, params, query, url }) => {
    const action_number = await getActionNumber(deps, org, params.action_number);
    const filter = { action_number, status: query.status };
    const total_count = await countDeliveries(deps.db, org.id, filter);
    const rows = await listDeliveries(deps.db, org.id, filter, pageSlice(query));
    return {
      status: 200,
      body: { ...pageHead(url, query, total_count), deliveries: rows.map(showDelivery) },
    };
  },

  get_notification_delivery: async (deps, { org, params }) => {
    const key = await keyOf(deps, org, params);
    const row = await findDelivery(deps.db, org.id, key);
    if (row === undefined) throw deliveryNotFound(org, key.action_number, params.delivery_id);
    const payload = webhookBody(row.occurrence, { org: org.name, links: deps.links });
    return { status: 200, body: { ...showDelivery(row), payload } };
  },

  replay_notification_delivery: async (deps, call) => {
    const row = await replayDelivery(deps, call, await keyOf(deps, call.org, call.params));
    return { status: 201, body: showDelivery(row) };
  },

  get_signing_secret: async (deps, { org }) => ({
    status: 200,
    body: await getSigningSecret(deps, org.id),
  }),

  rotate_signing_secret: async (deps, call) => ({
    status: 200,
    body: await rotateSigningSecret(deps, call),
  }),
};
