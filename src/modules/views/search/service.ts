import type { JsonPieces, JsonText } from "../../../contract/endpoint.ts";
import type { FoundArtifact, SearchResult } from "../../../contract/search.ts";
import { readHeavy } from "../../../db/heavy-page.ts";
import { notFound } from "../../../domain/errors.ts";
import type { Org } from "../../../domain/principal.ts";
import { resolveMatches, searchLimits } from "../../../domain/search.ts";
import { groupBy } from "../../../lib/group.ts";
import { present } from "../../../lib/present.ts";
import { withStates } from "../../process/compliance/service.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import { type JudgedRow, showFound, showUnknown } from "./show.ts";
import { findMatches, listFound, listReportTexts, listStays, type StayRow } from "./store.ts";

type Reading = Pick<Deps, "db" | "links">;

/** What was found, to be shown. */
interface Found {
  rows: readonly JudgedRow[];
  /** Fingerprints of artifacts that no flow knows. */
  unknown: readonly string[];
  stays: ReadonlyMap<string, readonly StayRow[]>;
}

function showAllUnknown({ unknown, stays }: Found): FoundArtifact[] {
  return unknown.map((fingerprint) => showUnknown(fingerprint, stays.get(fingerprint) ?? []));
}

/** Shows artifacts whose texts are too much at once: lists of some, each of which is read when it is asked for. */
async function* heavyLists(deps: Reading, org: Org, found: Found): AsyncGenerator<string> {
  const weights = found.rows.map(({ artifact_id, bytes }) => [artifact_id, bytes] as const);
  const rowOf = new Map(found.rows.map((row) => [row.artifact_id, row]));
  for await (const part of readHeavy(deps.db, weights, (ids) => listReportTexts(deps.db, org.id, ids)))
    yield JSON.stringify(
      part.map(({ artifact_id, ...texts }) => {
        const row = present(rowOf.get(artifact_id), "nothing else was asked for");
        return showFound(deps, org, row, texts, found.stays.get(row.fingerprint) ?? []);
      }),
    );
  yield JSON.stringify(showAllUnknown(found));
}

/** Shows artifacts: the oldest that flows know first, then those that no flow knows. */
function showArtifacts(deps: Reading, org: Org, found: Found): FoundArtifact[] | undefined {
  const known = found.rows.flatMap((row) =>
    row.texts === null ? [] : showFound(deps, org, row, row.texts, found.stays.get(row.fingerprint) ?? []),
  );
  return known.length < found.rows.length ? undefined : [...known, ...showAllUnknown(found)];
}

/**
 * Finds what a commit, a fingerprint or the beginning of one leads to (contract environments 10.3): artifacts by flow, the
 * oldest first, then those that no flow knows. Three statements, and one more when some lost their names on their trails. What
 * is heavy is read while it is sent.
 * @throws AppError not_found when there is nothing.
 */
export async function search(
  deps: Reading,
  org: Org,
  value: string,
): Promise<SearchResult | JsonText | JsonPieces> {
  const { db } = deps;
  const { built, ran, commits } = await findMatches(db, org.id, value.toLowerCase(), searchLimits.matches);
  const fingerprints = [...new Set([...built, ...ran])].toSorted().slice(0, searchLimits.matches);
  const resolved = resolveMatches(fingerprints, commits);
  if (resolved === undefined) throw notFound(`No matches for '${value}'.`);
  const rows = await withStates(
    db,
    org.id,
    await listFound(db, org.id, { fingerprints: built, commits }, searchLimits.artifacts),
  );
  const known = new Set(built);
  const unknown = ran
    .filter((fingerprint) => !known.has(fingerprint))
    .slice(0, searchLimits.artifacts - rows.length);
  const shown = new Set([...rows.map(({ fingerprint }) => fingerprint), ...unknown]);
  const stays = await listStays(db, org.id, [...shown], searchLimits.events);
  const found = { rows, unknown, stays: groupBy(stays, ({ fingerprint }) => fingerprint) };
  const resolved_to: SearchResult["resolved_to"] = {
    ...resolved,
    fingerprints: { type: "fingerprint", count: fingerprints.length, matches: fingerprints },
    commits: { type: "commit", count: commits.length, matches: commits },
  };
  const artifacts = showArtifacts(deps, org, found);
  if (artifacts !== undefined) return { resolved_to, artifacts };
  const head = `{"resolved_to":${JSON.stringify(resolved_to)},"artifacts":`;
  return listAnswer(head, heavyLists(deps, org, found), "}");
}
