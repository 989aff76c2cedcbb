import type { Tx } from "../../../db/connect.ts";
import type { Occurrence } from "../../../domain/notifications/occurrence.ts";
import { createIdSource } from "../../../lib/ids.ts";
import { present } from "../../../lib/present.ts";
import { insertDeliveries, listListeners, type NewDelivery } from "./store.ts";

/** Deliveries come from every transaction that something happens in: they bring what happened and nothing else along. */
let deliveryTime: () => number = Date.now;
const deliveryIds = createIdSource(() => deliveryTime());

/** Makes ids of deliveries from this time, in milliseconds, as others are made. */
export function timeDeliveriesBy(milliseconds: () => number): void {
  deliveryTime = milliseconds;
}

/**
 * Queues a notification for every target of every action that listens, in the caller's transaction: what did not happen
 * is never told, what happened is told at least once. One statement when nobody listens, two otherwise, whatever the
 * number of occurrences. Not idempotent: an occurrence is something that happens once.
 */
export async function notify(tx: Tx, orgId: string, occurrences: readonly Occurrence[]): Promise<void> {
  if (occurrences.length === 0) return;
  const listeners = await listListeners(tx, orgId, occurrences);
  if (listeners.length === 0) return;
  const deliveries = listeners.map<NewDelivery>(({ occurrence: position, ...target }) => {
    const { subject, ...occurrence } = present(
      occurrences[position],
      "listeners name occurrences they were asked for",
    );
    return {
      ...target,
      id: deliveryIds.next(),
      occurrence: { ...occurrence, subject: { kind: subject.kind, name: subject.name } },
      created_at: occurrence.at,
      replay_of: null,
    };
  });
  await insertDeliveries(tx, orgId, deliveries);
}
