import type { Tx } from "../../db/connect.ts";
import { type Timestamp } from "../../lib/clock.ts";
import { wireId } from "../../lib/ids.ts";
import type { Deps } from "../deps.ts";
import { keepTrails, type ReportedTrail, type TrailKey } from "./ensure-store.ts";
import { showCommit } from "./show.ts";

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

/** Identifies a trail in the map `ensureTrails` answers. */
export function trailKey(trail: TrailKey): string {
  return `${trail.flow_id}/${trail.name}`;
}

/** A trail that is there now. */
export interface EnsuredTrail {
  id: string;
  /** Whether it was begun just now. */
  begun: boolean;
}

interface TrailReports {
  first: WantedTrail;
  repo_ids: Set<string>;
  created_at: Timestamp;
  last_modified_at: Timestamp;
}

function groupByTrail(reports: readonly WantedTrail[]): Map<string, TrailReports> {
  const trails = new Map<string, TrailReports>();
  for (const report of reports) {
    const key = trailKey(report);
    const at = report.reported_at;
    const trail = trails.get(key) ?? {
      first: report,
      repo_ids: new Set(),
      created_at: at,
      last_modified_at: at,
    };
    trail.created_at = Math.min(trail.created_at, at);
    trail.last_modified_at = Math.max(trail.last_modified_at, at);
    if (report.repo_id !== null) trail.repo_ids.add(report.repo_id);
    trails.set(key, trail);
  }
  return trails;
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
  const trails = groupByTrail(reports);
  const found = new Map<string, EnsuredTrail>();
  const keep = async (): Promise<void> => {
    const missing = [...trails].filter(([key]) => !found.has(key)).map(([, trail]) => trail);
    if (missing.length === 0) return;
    for (const trail of await keepTrails(tx, orgId, missing.map(reportedTrail(deps))))
      found.set(trailKey(trail), { id: trail.id, begun: trail.begun });
  };
  await keep();
  await keep();
  return found;
}

function reportedTrail(deps: Pick<Deps, "ids">) {
  return ({ first, repo_ids, created_at, last_modified_at }: TrailReports): ReportedTrail => ({
    flow_id: first.flow_id,
    name: first.name,
    repo_ids: [...repo_ids],
    last_modified_at,
    id: deps.ids.next(),
    event_id: deps.ids.next(),
    description: first.description ?? "",
    git_commit_info: first.git_commit_info,
    shown_commit: showCommit(first.git_commit_info),
    created_at,
    created_by_name: first.created_by.name,
    creating_user_id: first.created_by.id === null ? null : wireId(first.created_by.id),
  });
}
