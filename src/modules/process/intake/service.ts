import type { Tx } from "../../../db/connect.ts";
import type { Actor } from "../../../domain/principal.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { present } from "../../../lib/present.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import { notifyOfTrails, type TrailNews } from "../../notices/notifications/trail-service.ts";
import { evaluateTrails, type ReportedSort } from "../compliance/service.ts";
import { ensureFlows } from "../flows/ensure.ts";
import { captureRepos, type RepoInfo } from "../repos/service.ts";
import { ensureTrails, trailKey } from "../trails/ensure.ts";

/** Who reports, when, and to which flow and trail, by their names. Descriptions are for those that do not exist yet. */
export interface ReportOrigin {
  flow: { name: string; description?: string };
  trail: { name: string; description?: string };
  /** Given to the trail when this report begins it. */
  git_commit_info: unknown;
  repo_info: RepoInfo | null | undefined;
  actor: Pick<Actor, "id" | "name">;
  reported_at: Timestamp;
}

/** A report whose flow, trail and repo exist. */
export interface PlacedReport {
  flow: { id: string; name: string };
  /** `begun`: one of the reports that were placed together began it. */
  trail: { id: string; name: string; begun: boolean };
  repo_id: string | null;
  reported_at: Timestamp;
}

/**
 * Finds the flows, trails and repos of reports, makes those that are missing (contract flows 3.8) and moves the trails on.
 * A handful of statements, whatever the number of reports; rows are locked in the order flows, repos, trails.
 * @returns a place for each report, in their order.
 * @throws AppError invalid for the name of an archived flow.
 */
export async function placeReports(
  deps: Pick<Deps, "clock" | "ids">,
  tx: Tx,
  orgId: string,
  reports: readonly ReportOrigin[],
): Promise<PlacedReport[]> {
  const wantedFlows = reports.map(({ flow, actor, reported_at }) => ({
    ...flow,
    created_by_name: actor.name,
    created_at: reported_at,
  }));
  const repoInfos = reports.map(({ repo_info }) => repo_info);
  const ensuring = ensureFlows(deps, tx, orgId, wantedFlows);
  // Looked for at once with flows, and written after them.
  const capturing = captureRepos(deps, tx, orgId, repoInfos, ensuring);
  const [flows, repoIds] = await Promise.all([ensuring, capturing]);
  const wantedTrails = zip(reports, repoIds).map(([report, repo_id]) => {
    const { flow, trail, git_commit_info, actor, reported_at } = report;
    const flow_id = present(flows.get(flow.name), "every flow that is wanted was made");
    return { ...trail, flow_id, repo_id, reported_at, git_commit_info, created_by: actor };
  });
  const trails = await ensureTrails(deps, tx, orgId, wantedTrails);
  return zip(reports, wantedTrails).map(([{ flow }, wanted]) => ({
    flow: { id: wanted.flow_id, name: flow.name },
    trail: {
      name: wanted.name,
      ...present(trails.get(trailKey(wanted)), "every trail that is wanted was begun"),
    },
    repo_id: wanted.repo_id,
    reported_at: wanted.reported_at,
  }));
}

/** Reports that were written, for what follows from them. */
interface WrittenReports {
  /** The trail of each report. `begun`: one of the reports began it. */
  trails: readonly { id: string; begun?: boolean }[];
  /** What sort of reports they are, which the verdicts depend on. */
  sort: ReportedSort;
  /** What happened by each report, in their order; asked for only if somebody may listen. */
  news: () => TrailNews[];
}

/** Puts before the first news of each trail that was begun that it was. */
function withBeginnings({ trails, news }: WrittenReports): TrailNews[] {
  const begun = new Set(trails.flatMap((trail) => (trail.begun === true ? trail.id : [])));
  return news().flatMap((one) => {
    const { trail_id, at } = one;
    return begun.delete(trail_id) ? [{ trail_id, trigger: "ON_STARTED_TRAIL", at, facts: {} }, one] : one;
  });
}

/** Judges the trails of reports anew and notifies those who listen, in the transaction that wrote the reports. */
export async function judgeReports(tx: Tx, orgId: string, written: WrittenReports): Promise<void> {
  const trailIds = written.trails.map(({ id }) => id);
  const watched = await evaluateTrails(tx, orgId, trailIds, written.sort);
  await notifyOfTrails(tx, orgId, watched, () => withBeginnings(written));
}
