import type { Timestamp } from "../../../lib/clock.ts";
import { groupBy } from "../../../lib/group.ts";
import { present } from "../../../lib/present.ts";
import { zip } from "../../../lib/zip.ts";
import type { Deps } from "../../kernel/deps.ts";
import { isComplete } from "../compliance/case-sql.ts";
import type { ReportedRepo } from "../repos/known-sql.ts";
import { reposOf } from "../repos/service.ts";
import { reportedTrail } from "../trails/ensure.ts";
import type { ReportedTrail } from "../trails/store.ts";
import { type AskedTrail, findReported, type FoundRepo, type FoundTrail } from "./look-store.ts";
import { rememberedPlaces } from "./remembered-places.ts";
import type { PlacedReport, ReportOrigin } from "./service.ts";

/** A trail as it was found, and what is to become of it. */
export interface SeenTrail {
  found: FoundTrail;
  /** Whether that was remembered, not found now. */
  isRecalled: boolean;
  /** As the database's `move_trails` takes it. `left_at`: when a trail that is remembered was last reported to then. */
  move: ReportedTrail & {
    flow_name: string;
    template_id: string;
    version: string | null;
    left_at: Timestamp | null;
  };
}

/** A repo as it was found. */
interface SeenRepo {
  reported: ReportedRepo;
  found: FoundRepo;
  /** See `SeenTrail`. */
  isRecalled: boolean;
}

/** Where reports go to, by what was found without holding it: it may have changed when they are written. */
export interface SeenPlaces {
  /** A place for each report, in their order. */
  places: PlacedReport[];
  trails: SeenTrail[];
  repos: SeenRepo[];
}

function keyOf({ flow, trail }: ReportOrigin): string {
  return `${flow.name}/${trail.name}`;
}

function askedTrail({ flow, trail }: ReportOrigin): AskedTrail {
  return { flow_name: flow.name, name: trail.name };
}

/** Whether reports on the trail write to it, and to nothing else that is not written anyway, and nobody is told. */
function isPlain(found: FoundTrail): boolean {
  return found.by_name && !found.archived && !found.watched && isComplete(found);
}

/** What was asked for, and what is known of it. */
interface Looked<Asked, Found> {
  asked: Asked;
  found: Found | undefined;
  isRecalled: boolean;
}

function recallEach<Asked, Found>(
  asked: readonly Asked[],
  recall: (one: Asked) => Found | undefined,
): Looked<Asked, Found>[] {
  return asked.map((one) => {
    const found = recall(one);
    return { asked: one, found, isRecalled: found !== undefined };
  });
}

/** Adds to what was not recalled what was found of it. */
function fill<Asked, Found>(
  missing: readonly Looked<Asked, Found>[],
  found: readonly (Found & { position: number })[],
): void {
  for (const one of found) present(missing[one.position], "it was asked for").found = one;
}

/** Recalls trails and repos, and looks for those that are not remembered: in one statement, or none. */
async function look(
  deps: Deps,
  orgId: string,
  asked: { trails: readonly AskedTrail[]; repos: readonly ReportedRepo[] },
): Promise<{ trails: Looked<AskedTrail, FoundTrail>[]; repos: Looked<ReportedRepo, FoundRepo>[] }> {
  const remembered = rememberedPlaces(deps);
  const now = deps.clock.now();
  const trails = recallEach(asked.trails, (one) => remembered.trail(orgId, one, now));
  const repos = recallEach(asked.repos, (one) => remembered.repo(orgId, one));
  const missing = {
    trails: trails.filter(({ isRecalled }) => !isRecalled),
    repos: repos.filter(({ isRecalled }) => !isRecalled),
  };
  if (missing.trails.length + missing.repos.length > 0) {
    const found = await findReported(
      deps.db,
      orgId,
      missing.trails.map((one) => one.asked),
      missing.repos.map((one) => one.asked),
    );
    fill(missing.trails, found.trails);
    fill(missing.repos, found.repos);
  }
  return { trails, repos };
}

/**
 * Finds places for reports by what is remembered, and in one statement that holds nothing by what is not. It gives up where more has to be
 * written or told than reports and trails, and leaves that to `placeReports`: for flows that are missing, archived, watched or were renamed, repos
 * that are missing or change, and trails with many reports.
 * @returns undefined when it gives up.
 */
export async function seePlaces(
  deps: Deps,
  orgId: string,
  reports: readonly ReportOrigin[],
): Promise<SeenPlaces | undefined> {
  const { keys, wanted } = reposOf(reports.map(({ repo_info }) => repo_info));
  const asked = [...new Map(reports.map((report) => [keyOf(report), askedTrail(report)]))];
  const looked = await look(deps, orgId, {
    trails: asked.map(([, trail]) => trail),
    repos: wanted.map(([, repo]) => repo),
  });
  const repoIds = new Map<string | undefined, string>();
  const repos: SeenRepo[] = [];
  for (const [[identity], { asked: reported, found, isRecalled }] of zip(wanted, looked.repos)) {
    if (found === undefined || found.changed) return undefined;
    repoIds.set(identity, found.id);
    repos.push({ reported, found, isRecalled });
  }
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
  const trails: SeenTrail[] = [];
  for (const [[key, { flow_name }], { found, isRecalled }] of zip(asked, looked.trails)) {
    if (found === undefined || !isPlain(found)) return undefined;
    const { flow_id, trail_id, template_id, version } = found;
    const ofTrail = present(groups.get(key), "reports name it");
    const move = reportedTrail(deps, flow_id, ofTrail);
    const id = trail_id ?? move.id;
    for (const { at, name, repo_id, reported_at } of ofTrail) {
      const trail = { id, name, begun: trail_id === null };
      places[at] = { flow: { id: flow_id, name: flow_name }, trail, repo_id, reported_at };
    }
    const left_at = isRecalled ? found.last_modified_at : null;
    trails.push({ found, isRecalled, move: { ...move, id, flow_name, template_id, version, left_at } });
  }
  return { places, trails, repos };
}
