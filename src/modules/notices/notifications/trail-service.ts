import type { Tx } from "../../../db/connect.ts";
import type { Occurrence, OccurrenceFacts } from "../../../domain/notifications/occurrence.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import type { WatchedTrail } from "../../process/compliance/service.ts";
import { notify } from "./service.ts";

/** Something that happened on a trail. */
export interface TrailNews {
  trail_id: string;
  trigger: "ON_STARTED_TRAIL" | "ON_ATTESTED_PROVENANCE" | "ON_ATTESTATION";
  /** Unix seconds. */
  at: Timestamp;
  facts: Pick<OccurrenceFacts, "artifact" | "attestation">;
}

/**
 * Notifies about trails, in the caller's transaction. No statement when no action watches their flows.
 * @param watched those that are watched, as judging them answers.
 * @param news made only if somebody may listen.
 */
export async function notifyOfTrails(
  tx: Tx,
  orgId: string,
  watched: readonly WatchedTrail[],
  news: () => TrailNews[],
): Promise<void> {
  if (watched.length === 0) return;
  const trails = new Map(watched.map((trail) => [trail.trail_id, trail]));
  const occurrences = news().flatMap<Occurrence>(({ trail_id, trigger, at, facts }) => {
    const trail = trails.get(trail_id);
    if (trail === undefined) return [];
    const { name, status, flow } = trail;
    return { trigger, at, subject: { kind: "flow", ...flow }, facts: { trail: { name, status }, ...facts } };
  });
  await notify(tx, orgId, occurrences);
}
