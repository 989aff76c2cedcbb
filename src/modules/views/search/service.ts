import type { SearchResult } from "../../../contract/search.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { resolveMatches, searchLimits } from "../../../domain/search.ts";
import { groupBy } from "../../../lib/group.ts";
import { withStates } from "../../process/compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { showFound, showUnknown } from "./show.ts";
import { findMatches, listFound, listStays } from "./store.ts";

/**
 * Finds what a commit, a fingerprint or the beginning of one leads to (contract environments 10.3): artifacts by flow, the
 * oldest first, then those that no flow knows. Three statements, and one more when some lost their names on their trails.
 * @throws AppError not_found when there is nothing.
 */
export async function search(
  deps: Pick<Deps, "db" | "links">,
  org: Org,
  value: string,
): Promise<SearchResult> {
  const { db } = deps;
  const { built, ran, commits } = await findMatches(db, org.id, value.toLowerCase(), searchLimits.matches);
  const fingerprints = [...new Set([...built, ...ran])].toSorted().slice(0, searchLimits.matches);
  const resolved = resolveMatches(fingerprints, commits);
  if (resolved === undefined) throw notFound(`No matches for '${value}'.`);
  const found = await listFound(db, org.id, { fingerprints: built, commits }, searchLimits.artifacts);
  const rows = await withStates(db, org.id, found);
  const known = new Set(built);
  const unknown = ran
    .filter((fingerprint) => !known.has(fingerprint))
    .slice(0, searchLimits.artifacts - rows.length);
  const shown = new Set([...rows.map(({ fingerprint }) => fingerprint), ...unknown]);
  const stays = groupBy(
    await listStays(db, org.id, [...shown], searchLimits.events),
    ({ fingerprint }) => fingerprint,
  );
  return {
    resolved_to: {
      ...resolved,
      fingerprints: { type: "fingerprint", count: fingerprints.length, matches: fingerprints },
      commits: { type: "commit", count: commits.length, matches: commits },
    },
    artifacts: [
      ...rows.map((row) => showFound(deps, org, row, stays.get(row.fingerprint) ?? [])),
      ...unknown.map((fingerprint) => showUnknown(fingerprint, stays.get(fingerprint) ?? [])),
    ],
  };
}
