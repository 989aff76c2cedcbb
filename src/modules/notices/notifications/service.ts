import type { Tx } from "../../../db/connect.ts";
import type { Occurrence } from "../../../domain/notifications/occurrence.ts";
import { groupBy } from "../../../lib/group.ts";
import { createIdSource } from "../../../lib/ids.ts";
import { insertDeliveries, type Listener, listListeners, type NewDelivery } from "./store.ts";

/** Deliveries come from every transaction that something happens in: they bring what happened and nothing else along. */
let deliveryTime: () => number = Date.now;
const deliveryIds = createIdSource(() => deliveryTime());

/** Makes ids of deliveries from this time, in milliseconds, as others are made. */
export function timeDeliveriesBy(milliseconds: () => number): void {
  deliveryTime = milliseconds;
}

/** Makes a delivery of each occurrence to each of its listeners. */
function* deliveriesOf(
  occurrences: readonly Occurrence[],
  listeners: readonly Listener[],
): Generator<NewDelivery> {
  const listening = groupBy(listeners, ({ trigger, subject_id }) => `${trigger} ${subject_id}`);
  for (const { trigger, subject, at, facts } of occurrences) {
    const occurrence = { trigger, at, facts, subject: { kind: subject.kind, name: subject.name } };
    for (const listener of listening.get(`${trigger} ${subject.id}`) ?? []) {
      const { action_number, target_position, target_type } = listener;
      const target = { action_number, target_position, target_type };
      yield { ...target, id: deliveryIds.next(), occurrence, created_at: at, replay_of: null };
    }
  }
}

/** Deliveries that are inserted in one statement: so many, or of so many UTF-16 units and a little more. */
const full = { rows: 1000, length: 1024 * 1024 };

/** Writes deliveries as JSON, in slices that are inserted in one statement each. */
function* slicesOf(deliveries: Iterable<NewDelivery>): Generator<string[]> {
  let slice: string[] = [];
  let length = 0;
  for (const delivery of deliveries) {
    const row = JSON.stringify(delivery);
    slice.push(row);
    length += row.length;
    if (slice.length < full.rows && length < full.length) continue;
    yield slice;
    slice = [];
    length = 0;
  }
  if (slice.length > 0) yield slice;
}

/**
 * Queues a notification for every target of every action that listens, in the caller's transaction: what did not happen
 * is never told, what happened is told at least once. One statement when nobody listens; otherwise one more for each
 * thousand notifications, or for fewer that are long. Not idempotent: an occurrence is something that happens once.
 */
export async function notify(tx: Tx, orgId: string, occurrences: readonly Occurrence[]): Promise<void> {
  if (occurrences.length === 0) return;
  const listeners = await listListeners(tx, orgId, occurrences);
  for (const slice of slicesOf(deliveriesOf(occurrences, listeners)))
    await insertDeliveries(tx, orgId, slice);
}
