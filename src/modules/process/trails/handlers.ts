import { JsonPieces, type JsonText } from "../../../contract/endpoint.ts";
import {
  defaultPerPage,
  type trailEndpoints,
  trailSearch,
  type TrailsSearchQuery,
} from "../../../contract/trails.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import { fingerprintPrefixPattern } from "../../../domain/names.ts";
import { timeWindow } from "../../../domain/time-window.ts";
import type { OrgAccess } from "../../../domain/principal.ts";
import { arrayPieces } from "../../../lib/json-array.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";
import type { CsvHandlers, Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listAnswer, printPage } from "../../kernel/list-answer.ts";
import { findFlowIdByName, flowNotFound, getFlowId } from "../flows/service.ts";
import { complainInOneText, readTemplateFile } from "../flows/template-text.ts";
import {
  countTrails,
  listAllTrails,
  listTrails,
  listTrailsById,
  listWholePage,
  type ReadTrailRow,
  type TrailFilter,
  type TrailPage,
} from "./list-store.ts";
import {
  listFoundTrails,
  listMatrixTrails,
  listWholeMatrix,
  type MatrixTrailRow,
  searchTrails,
  type TrailSearch,
} from "./search-store.ts";
import { getTrail, putTrail } from "./service.ts";
import { printMatrixTrail, printTrail, trailPrinter } from "./show.ts";

/** Prints trails as JSON text, with commas between them. */
async function printTrails(deps: Deps, org: OrgAccess, rows: readonly ReadTrailRow[]): Promise<string> {
  const print = await trailPrinter(deps, org, rows);
  return rows.map((row) => print(row)).join(",");
}

async function* allTrails(deps: Deps, org: OrgAccess, filter: TrailFilter): AsyncGenerator<string> {
  for await (const rows of listAllTrails(deps.db, org.id, filter)) yield printTrails(deps, org, rows);
}

/** Prints a page of trails, which are read while they are sent where there is much of them. */
function printTrailPage(
  deps: Deps,
  org: OrgAccess,
  page: TrailPage,
): Promise<string | AsyncIterable<string>> {
  const print = async (rows: readonly ReadTrailRow[]): Promise<string> =>
    `[${await printTrails(deps, org, rows)}]`;
  return printPage(page, () => listWholePage(deps.db, org.id, page), print);
}

async function pageOfTrails(
  deps: Deps,
  org: OrgAccess,
  filter: TrailFilter,
  page: PageNumbers,
): Promise<JsonText | JsonPieces> {
  const [trails, total] = await Promise.all([
    listTrails(deps.db, org.id, filter, pageSlice(page)),
    countTrails(deps.db, org.id, filter),
  ]);
  const data = await printTrailPage(deps, org, trails);
  return listAnswer('{"data":', data, `,"pagination":${JSON.stringify(paginationOf(page, total))}}`);
}

/** Reads and prints trails as rows of a matrix, while they are sent where there is much of them. */
async function matrixOfTrails(
  deps: Deps,
  org: OrgAccess,
  ids: readonly string[],
): Promise<string | AsyncIterable<string>> {
  const { db } = deps;
  const print = async (rows: readonly MatrixTrailRow[]): Promise<string> =>
    `[${rows.map((row) => printMatrixTrail(deps, org, row)).join(",")}]`;
  const page = await listMatrixTrails(db, org.id, ids);
  return printPage(page, () => listWholeMatrix(db, org.id, page), print);
}

/** Finds and prints a page of a search, as rows of a matrix if asked. Two statements, and more where there is much of it. */
async function pageOfSearch(
  deps: Deps,
  org: OrgAccess,
  search: TrailSearch,
  { isMatrix, ...page }: PageNumbers & { isMatrix: boolean },
): Promise<JsonText | JsonPieces> {
  const { ids, total, ...bounds } = await searchTrails(deps.db, org.id, search, pageSlice(page));
  const data = isMatrix
    ? await matrixOfTrails(deps, org, ids)
    : await printTrailPage(deps, org, await listTrailsById(deps.db, org.id, ids));
  const pagination = paginationOf(page, total);
  return listAnswer('{"data":', data, `,${JSON.stringify({ pagination, ...bounds }).slice(1)}`);
}

/** Whether anything is asked for that older clients do not ask for. */
function isSearch(query: TrailsSearchQuery): boolean {
  return Object.keys(trailSearch).some((name) => query[name as keyof TrailsSearchQuery] !== undefined);
}

/**
 * Completes a filter by what a search asks beside it.
 * @throws AppError invalid for a window that ends before it begins.
 */
function searchOf(filter: TrailFilter, query: TrailsSearchQuery): TrailSearch {
  const { state, search, start_ts, end_ts, repo, missing, failing } = query;
  if (start_ts !== undefined && end_ts !== undefined) timeWindow({ start_ts, end_ts }, end_ts);
  return { ...filter, states: state, text: search, start_ts, end_ts, repo, missing, failing };
}

/** What a search answers when the filters can match nothing. */
function nothingFound(page: PageNumbers) {
  return { data: [], pagination: paginationOf(page, 0), truncated: false, searched_since: null };
}

/** Reads `key=value` or `key`. */
function tagOf(text: string | undefined): TrailFilter["tag"] {
  if (text === undefined) return undefined;
  const sign = text.indexOf("=");
  return sign === -1
    ? { key: text, value: undefined }
    : { key: text.slice(0, sign), value: text.slice(sign + 1) };
}

/**
 * Reads the filter; undefined when it can match nothing: an empty fingerprint or tag is nobody's.
 * @throws AppError not_found for an empty name of a flow, which no flow can have.
 */
async function filterOf(
  deps: Deps,
  org: OrgAccess,
  query: { flow?: string | undefined; flow_tag?: string | undefined; fingerprint?: string | undefined },
): Promise<TrailFilter | undefined> {
  const { flow, fingerprint } = query;
  if (flow === "") throw flowNotFound(flow, org);
  if (query.flow_tag === "") return undefined;
  if (fingerprint !== undefined && !fingerprintPrefixPattern.test(fingerprint)) return undefined;
  const flow_id = flow === undefined ? undefined : await findFlowIdByName(deps.db, org.id, flow);
  if (flow !== undefined && flow_id === undefined) return undefined;
  return { flow_id, tag: tagOf(query.flow_tag), fingerprint };
}

/** A filter that lets everything through. */
const everything: TrailFilter = { flow_id: undefined, tag: undefined, fingerprint: undefined };

export const trailHandlers: Handlers<typeof trailEndpoints> = {
  list_trails_for_org: async (deps, { org, query }) => {
    const filter = await filterOf(deps, org, query);
    if (isSearch(query)) {
      const search = searchOf(filter ?? everything, query);
      const page = { page: query.page, per_page: query.per_page, isMatrix: query.include !== undefined };
      const body = filter === undefined ? nothingFound(query) : await pageOfSearch(deps, org, search, page);
      return { status: 200, body };
    }
    const body =
      filter === undefined
        ? { data: [], pagination: paginationOf(query, 0) }
        : await pageOfTrails(deps, org, filter, query);
    return { status: 200, body };
  },
  list_trails: async (deps, { org, params, query }) => {
    const flow_id = await getFlowId(deps.db, org, params.flow_name);
    const filter = { ...everything, flow_id };
    const { page, per_page } = query;
    if (isSearch(query)) {
      const shown = { page, per_page: per_page ?? defaultPerPage, isMatrix: query.include !== undefined };
      return { status: 200, body: await pageOfSearch(deps, org, searchOf(filter, query), shown) };
    }
    if (per_page !== undefined)
      return { status: 200, body: await pageOfTrails(deps, org, filter, { page, per_page }) };
    return { status: 200, body: new JsonPieces(arrayPieces(allTrails(deps, org, filter))) };
  },
  create_trail: async (deps, call) => {
    const template = await readTemplateFile(call.org.id, call.files.template_file, complainInOneText);
    const outcome = await putTrail(deps, call, {
      ...call.body,
      flow_name: call.params.flow_name,
      template,
    });
    return { status: outcome === "begun" ? 201 : 200, body: "OK" };
  },
  get_trail: async (deps, { org, params }) => ({
    status: 200,
    body: new JsonPieces(printTrail(deps, org, await getTrail(deps, org, params))),
  }),
};

/** Trails in full, as lists show them, some at a time. */
async function* asItems(
  deps: Deps,
  org: OrgAccess,
  batches: AsyncIterable<readonly ReadTrailRow[]>,
): AsyncGenerator<object[]> {
  for await (const rows of batches) {
    const print = await trailPrinter(deps, org, rows);
    yield rows.map((row) => JSON.parse(print(row)) as object);
  }
}

/** Finds all trails that match, whatever the page and however many there are. */
function everyTrail(deps: Deps, org: OrgAccess, filter: TrailFilter, query: TrailsSearchQuery) {
  const rows = isSearch(query)
    ? listFoundTrails(deps.db, org.id, searchOf(filter, query))
    : listAllTrails(deps.db, org.id, filter);
  return asItems(deps, org, rows);
}

async function* noTrails(): AsyncGenerator<object[]> {
  // There is nothing to wait for.
}

export const trailCsv: CsvHandlers<typeof trailEndpoints> = {
  list_trails_for_org: async (deps, { org, query }) => {
    const filter = await filterOf(deps, org, query);
    return filter === undefined ? noTrails() : everyTrail(deps, org, filter, query);
  },
  list_trails: async (deps, { org, params, query }) => {
    const flow_id = await getFlowId(deps.db, org, params.flow_name);
    return everyTrail(deps, org, { ...everything, flow_id }, query);
  },
};
