import type { Executor } from "../../../db/connect.ts";
import { groupBy } from "../../../lib/group.ts";
import { present } from "../../../lib/present.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import { isComplete } from "../compliance/case-sql.ts";
import { reposOf } from "../repos/service.ts";
import { reportedTrail } from "../trails/ensure.ts";
import type { ReportedTrail } from "../trails/store.ts";
import { findReported, type FoundTrail } from "./look-store.ts";
import type { PlacedReport, ReportOrigin } from "./service.ts";

/** A trail as it was found, and what is to become of it. */
export interface SeenTrail {
  found: FoundTrail;
  /** As the database's `move_trails` takes it. */
  move: ReportedTrail & { flow_name: string; template_id: string; version: string | null };
}

/** Where reports go to, by what was found without holding it: it may have changed when they are written. */
export interface SeenPlaces {
  /** A place for each report, in their order. */
  places: PlacedReport[];
  trails: SeenTrail[];
}

function keyOf({ flow, trail }: ReportOrigin): string {
  return `${flow.name}/${trail.name}`;
}

function askedTrail({ flow, trail }: ReportOrigin): { flow_name: string; name: string } {
  return { flow_name: flow.name, name: trail.name };
}

/** Whether reports on the trail write to it, and to nothing else that is not written anyway, and nobody is told. */
function isPlain(found: FoundTrail): boolean {
  return found.by_name && !found.archived && !found.watched && isComplete(found);
}

/**
 * Finds places for reports in one statement that holds nothing. It gives up where more has to be written or told than
 * reports and trails, and leaves that to `placeReports`: for flows that are missing, archived, watched or were renamed, repos
 * that are missing or change, and trails with many reports.
 * @returns undefined when it gives up.
 */
export async function seePlaces(
  deps: Pick<Deps, "ids">,
  db: Executor,
  orgId: string,
  reports: readonly ReportOrigin[],
): Promise<SeenPlaces | undefined> {
  const { keys, wanted } = reposOf(reports.map(({ repo_info }) => repo_info));
  const asked = [...new Map(reports.map((report) => [keyOf(report), askedTrail(report)]))];
  const found = await findReported(
    db,
    orgId,
    asked.map(([, trail]) => trail),
    wanted.map(([, repo]) => repo),
  );
  if (found.trails.length < asked.length || !found.trails.every(isPlain)) return undefined;
  const repoIds = new Map(found.repos.map(({ id, position }) => [wanted[position]?.[0], id]));
  if (repoIds.size < wanted.length || found.repos.some(({ changed }) => changed)) return undefined;
  const origins = zip(reports, keys).map(([report, key], at) => {
    const { trail, git_commit_info, actor: created_by, reported_at } = report;
    return {
      at,
      report,
      ...trail,
      repo_id: repoIds.get(key) ?? null,
      reported_at,
      git_commit_info,
      created_by,
    };
  });
  const groups = groupBy(origins, ({ report }) => keyOf(report));
  const places: PlacedReport[] = [];
  const trails = found.trails.map((one): SeenTrail => {
    const { flow_id, trail_id, template_id, version } = one;
    const [key, { flow_name }] = present(asked[one.position], "it was asked for");
    const ofTrail = present(groups.get(key), "reports name it");
    const move = reportedTrail(deps, flow_id, ofTrail);
    const id = trail_id ?? move.id;
    for (const { at, name, repo_id, reported_at } of ofTrail) {
      const trail = { id, name, begun: trail_id === null };
      places[at] = { flow: { id: flow_id, name: flow_name }, trail, repo_id, reported_at };
    }
    return { found: one, move: { ...move, id, flow_name, template_id, version } };
  });
  return { places, trails };
}
