import { type AppError, notFound } from "../../../domain/errors.ts";
import type { Org, OrgScope } from "../../../domain/principal.ts";
import { wireId } from "../../../lib/ids.ts";
import { recorded } from "../../kernel/audit/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type DeliveryRow, findDelivery } from "./delivery-store.ts";
import { insertDeliveries, type NewDelivery } from "./store.ts";

/** Makes the 404 for an id that is none of the action's deliveries. */
export function deliveryNotFound(org: Org, actionNumber: number, id: string): AppError {
  return notFound(
    `Delivery '${id}' does not exist for action '${actionNumber}' in organization '${org.name}'`,
  );
}

/**
 * Sends a notification again, as a new delivery under an id of its own, to whatever its target is now. Not idempotent:
 * every replay is another message.
 * @throws AppError not_found for an unknown delivery.
 */
export function replayDelivery(
  deps: Deps,
  scope: OrgScope,
  delivery: { action_number: number; id: string },
): Promise<DeliveryRow> {
  const { org } = scope;
  return recorded(deps, scope, async (tx, record) => {
    const original = await findDelivery(tx, org.id, delivery);
    if (original === undefined) throw deliveryNotFound(org, delivery.action_number, wireId(delivery.id));
    const { action_number, target_position, target_type, occurrence } = original;
    const at = deps.clock.now();
    const copy = { action_number, target_position, target_type, occurrence, replay_of: original.id };
    const id = deps.ids.next();
    const replay: NewDelivery = { ...copy, id, created_at: at };
    await insertDeliveries(tx, org.id, [JSON.stringify(replay)]);
    record("notification_delivery", wireId(id));
    return {
      ...copy,
      id,
      status: "waiting",
      attempts: 0,
      created_at: at,
      last_attempt_at: null,
      next_attempt_at: at,
      response_status: null,
      error: null,
    };
  });
}
