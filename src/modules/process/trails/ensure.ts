import type { Tx } from "../../../db/connect.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { groupBy, type NonEmpty } from "../../../lib/group.ts";
import type { Deps } from "../../kernel/deps.ts";
import { type ReportedTrail, type TrailKey, upsertTrails } from "./store.ts";

/** A trail that a report belongs to. */
export interface WantedTrail extends TrailKey {
  /** Internal id of the repo the report came from. */
  repo_id: string | null;
  /** When the report was made. */
  reported_at: Timestamp;
  /** Given to the trail when this report begins it; empty when left out. */
  description?: string;
  /** Given to the trail when this report begins it. */
  git_commit_info: unknown;
  created_by: { id: string | null; name: string };
}

/** Makes the key of a trail in the map that `ensureTrails` answers. */
export function trailKey(trail: TrailKey): string {
  return `${trail.flow_id}/${trail.name}`;
}

/** A trail that is there now. */
export interface EnsuredTrail {
  id: string;
  /** Whether it was begun just now. */
  begun: boolean;
}

/**
 * Finds the trails that reports belong to, begins those that do not exist (contract flows 3.8), moves their
 * `last_modified_at` on and links the reports' repos. One statement for any number of reports, two when somebody else
 * begins one of the trails at the same time; writes each trail once.
 * @returns the trails by `trailKey`.
 */
export async function ensureTrails(
  deps: Pick<Deps, "ids">,
  tx: Tx,
  orgId: string,
  reports: readonly WantedTrail[],
): Promise<Map<string, EnsuredTrail>> {
  const trails = groupBy(reports, trailKey);
  const found = new Map<string, EnsuredTrail>();
  for (let attempt = 0; attempt < 2 && found.size < trails.size; attempt += 1) {
    const missing = [...trails].filter(([key]) => !found.has(key));
    const wanted = missing.map(([, ofOne]) => reportedTrail(deps, ofOne[0].flow_id, ofOne));
    for (const trail of await upsertTrails(tx, orgId, wanted))
      found.set(trailKey(trail), { id: trail.id, begun: trail.begun });
  }
  return found;
}

/** Puts the reports of one trail together. The first of them begins it, if it does not exist. */
export function reportedTrail(
  deps: Pick<Deps, "ids">,
  flow_id: string,
  reports: Readonly<NonEmpty<Omit<WantedTrail, "flow_id">>>,
): ReportedTrail {
  const [first] = reports;
  const times = reports.map(({ reported_at }) => reported_at);
  return {
    flow_id,
    name: first.name,
    repo_ids: [...new Set(reports.flatMap(({ repo_id }) => repo_id ?? []))],
    last_modified_at: Math.max(...times),
    id: deps.ids.next(),
    event_id: deps.ids.next(),
    description: first.description ?? "",
    git_commit_info: first.git_commit_info,
    created_at: Math.min(...times),
    created_by_name: first.created_by.name,
    creating_user_id: first.created_by.id,
  };
}
