import type { z } from "zod";

import type { CsvRows } from "../../../contract/csv.ts";
import { JsonPieces } from "../../../contract/endpoint.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import type {
  RunningArtifacts,
  RunningQuery,
  SnapshotArtifacts,
  SnapshotArtifactsQuery,
} from "../../../contract/running.ts";
import type { Org } from "../../../domain/principal.ts";
import { parseTagFilter } from "../../../domain/tags.ts";
import { inBatches } from "../../../lib/batches.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { arrayPieces } from "../../../lib/json-array.ts";
import { pageSlice } from "../../../lib/paging.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findFlowIds } from "../../process/flows/service.ts";
import { findNamedRepoIds } from "../../process/repos/service.ts";
import { resolveSnapshot } from "../../runtime/snapshots/read/find-service.ts";
import { filterByNames } from "../deployments/service.ts";
import {
  countRunning,
  listRunningAfter,
  listRunningKeys,
  type RunningFilter,
  type RunningKey,
} from "./list-store.ts";
import { type ArtifactRow, listRunningRows, listShownRows, wholeRows } from "./rows-store.ts";
import { showCounts, showInSnapshot, showRunning } from "./show.ts";
import { chooseShown, type ShownFilter } from "./snapshot-store.ts";

type Using = Pick<Deps, "db" | "links" | "clock">;
type RunningInput = z.output<typeof RunningQuery>;
type ShownInput = z.output<typeof SnapshotArtifactsQuery>;

/** Rows that are read at a time for CSV. */
const batch = 200;

function isKnown(provenance: "known" | "none" | undefined): boolean | undefined {
  return provenance === undefined ? undefined : provenance === "known";
}

/** Finds what names mean; unknown ones fit nothing. A statement for each kind of name that is asked for. */
async function runningFilter(deps: Using, orgId: string, input: RunningInput): Promise<RunningFilter> {
  const { environment, flow, repo, tag, space_id } = input;
  return {
    ...(await filterByNames(deps, orgId, { environments: environment })),
    types: input.type,
    tags: tag && parseTagFilter(tag),
    spaces: space_id?.flatMap((text) => parseWireId(text) ?? []),
    flow_ids: flow && (await findFlowIds(deps.db, orgId, flow)),
    repo_ids: repo && (await findNamedRepoIds(deps.db, orgId, repo)),
    name: input.name,
    fingerprint: input.fingerprint,
    verdicts: input.compliant,
    known: isKnown(input.provenance),
    allow_listed: input.allow_listed,
  };
}

/**
 * Makes the answer with a page: at once or, where its rows are too much together, while they are read.
 * @param rest what the answer has beside the page.
 */
async function pageAnswer<Key, Row, Rest extends object>(
  db: Deps["db"],
  {
    keys,
    read,
    show,
  }: {
    keys: readonly Key[];
    read: (keys: readonly Key[]) => Promise<ArtifactRow[]>;
    show: (row: ArtifactRow) => Row;
  },
  rest: Rest,
): Promise<(Rest & { data: Row[] }) | JsonPieces> {
  const first = keys.length === 0 ? [] : await read(keys);
  if (first.length === keys.length) return { data: first.map((row) => show(row)), ...rest };
  async function* items(): AsyncGenerator<string> {
    for await (const rows of wholeRows(db, keys, read, first))
      for (const row of rows) yield JSON.stringify(show(row));
  }
  async function* pieces(): AsyncGenerator<string> {
    yield '{"data":';
    yield* arrayPieces(items());
    yield `,${JSON.stringify(rest).slice(1)}`;
  }
  return new JsonPieces(pieces());
}

/**
 * Reads a page of what runs in all physical environments that are not archived: two statements, a third one for the total
 * where the page does not show it, and one for each kind of name asked for.
 */
export async function readRunning(
  deps: Using,
  org: Org,
  input: RunningInput,
): Promise<z.output<typeof RunningArtifacts> | JsonPieces> {
  const filter = await runningFilter(deps, org.id, input);
  const order = { sort: input.sort, direction: input.sort_direction };
  const slice = pageSlice(input);
  const keys = await listRunningKeys(deps.db, org.id, filter, { ...order, ...slice });
  const isEnd = keys.length < slice.limit && (keys.length > 0 || slice.offset === 0);
  const known = isEnd ? slice.offset + keys.length : keys[0]?.total;
  const total = known ?? (await countRunning(deps.db, org.id, filter));
  const read = (some: readonly RunningKey[]) => listRunningRows(deps.db, org.id, some);
  const show = (row: ArtifactRow) => showRunning({ links: deps.links, org }, row);
  return pageAnswer(deps.db, { keys, read, show }, { pagination: paginationOf(input, total) });
}

/** Reads all that runs and matches, for CSV: from each artifact to the next one in the order, so that nothing is told twice. */
export async function readAllRunning(deps: Using, org: Org, input: RunningInput): Promise<CsvRows> {
  const { db } = deps;
  const filter = await runningFilter(deps, org.id, input);
  const order = { sort: input.sort, direction: input.sort_direction };
  const keys = await inBatches<RunningKey>(batch, (after) =>
    db.sliced(() => listRunningAfter(db, org.id, filter, { ...order, after, limit: batch })),
  );
  async function* rows(): AsyncGenerator<object[]> {
    const read = (some: readonly RunningKey[]) => listRunningRows(db, org.id, some);
    for await (const some of keys)
      for await (const found of wholeRows(db, some, read))
        yield found.map((row) => showRunning({ links: deps.links, org }, row));
  }
  return rows();
}

/** Says which snapshot is asked for, and which of its artifacts. */
export interface ShownQuestion {
  environment: string;
  expression: string;
  input: ShownInput;
}

function shownFilter({ search, compliant, provenance, annotation }: ShownInput): ShownFilter {
  return { search, verdicts: compliant, known: isKnown(provenance), annotations: annotation };
}

/**
 * Reads a page of the artifacts of a snapshot, and counts all of them: two statements beside those that find the snapshot.
 * @throws AppError not_found for unknown environments and snapshots, invalid for what is no expression.
 */
export async function readShown(
  deps: Using,
  org: Org,
  { environment, expression, input }: ShownQuestion,
): Promise<z.output<typeof SnapshotArtifacts> | JsonPieces> {
  const found = await resolveSnapshot(deps, org, environment, expression);
  const snapshot = { environment_id: found.environment.id, index: found.index };
  const order = { sort: input.sort, direction: input.sort_direction };
  const chosen = await chooseShown(deps.db, org.id, snapshot, shownFilter(input), {
    ...order,
    ...pageSlice(input),
  });
  const read = (some: readonly number[]) => listShownRows(deps.db, org.id, snapshot, some);
  const show = (row: ArtifactRow) => showInSnapshot({ links: deps.links, org }, row);
  const rest = { pagination: paginationOf(input, chosen.total), counts: showCounts(chosen.kinds) };
  return pageAnswer(deps.db, { keys: chosen.ids, read, show }, rest);
}

/**
 * Reads all artifacts of a snapshot that match, for CSV: which ones is found at once, because a snapshot never changes.
 * @throws AppError as `readShown`.
 */
export async function readAllShown(
  deps: Using,
  org: Org,
  { environment, expression, input }: ShownQuestion,
): Promise<CsvRows> {
  const { db } = deps;
  const found = await resolveSnapshot(deps, org, environment, expression);
  const snapshot = { environment_id: found.environment.id, index: found.index };
  const order = { sort: input.sort, direction: input.sort_direction, limit: null, offset: 0 };
  const { ids } = await db.sliced(() => chooseShown(db, org.id, snapshot, shownFilter(input), order));
  async function* rows(): AsyncGenerator<object[]> {
    const read = (some: readonly number[]) => listShownRows(db, org.id, snapshot, some);
    for (let from = 0; from < ids.length; from += batch) {
      const some = ids.slice(from, from + batch);
      for await (const found of wholeRows(db, some, read))
        yield found.map((row) => showInSnapshot({ links: deps.links, org }, row));
    }
  }
  return rows();
}
