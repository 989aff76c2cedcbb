import { z } from "zod";

import { systemAttestationTypes } from "../../../contract/attestation-inputs.ts";
import type {
  AttestationSearchQuery,
  attestationSearchEndpoints,
} from "../../../contract/attestation-search.ts";
import { paginationOf } from "../../../contract/pagination.ts";
import { invalid, invalidInput } from "../../../domain/errors.ts";
import type { OrgAccess } from "../../../domain/principal.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { pageSlice } from "../../../lib/paging.ts";
import { present } from "../../../lib/present.ts";
import { inBatches } from "../../../lib/batches.ts";
import type { HeavyRows, PageText } from "../../../db/heavy-page.ts";
import { listAnswer, listsAnswer } from "../../kernel/list-answer.ts";
import type { CsvRows } from "../../../contract/csv.ts";
import type { CsvHandlers, Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findFlowIds, getFlowId } from "../flows/service.ts";
import { showing } from "./attestation-sql.ts";
import { findNamesMatching, type HowShown, listOf, readHeavyAttestations } from "./read-service.ts";
import {
  type AttestationSearch,
  type FoundAttestation,
  listAttestationsOfCommits,
  listFlowAttestations,
  searchAttestations,
} from "./search-store.ts";

/** Finds the type as it is stored: types of the system's own are called by their bare names, too. */
function storedType(type: string): string {
  return Object.hasOwn(systemAttestationTypes, type) ? `system:${type}` : type;
}

/** Reads a filter. Clients send empty texts for those that were not set. */
function given(values: string[] | undefined): string[] | undefined {
  const some = values?.filter((value) => value !== "");
  return some?.length ? some : undefined;
}

async function namesOf(
  deps: Deps,
  org: OrgAccess,
  query: AttestationSearchQuery,
): Promise<string[] | undefined> {
  if (!query.name_regex) return query.name ? [query.name] : undefined;
  if (query.name)
    throw invalidInput({
      "query.name_regex": `Use either 'name' or 'name_regex' [input: ${query.name_regex}]`,
    });
  return findNamesMatching(deps, org.id, query.name_regex);
}

function cursorOf(after: string | undefined): string | undefined {
  if (!after) return undefined;
  const id = parseWireId(after);
  if (id === undefined)
    throw invalidInput({
      "query.after": `Input should be taken from a next link [input: ${after.slice(0, 200)}]`,
    });
  return id;
}

/** Reads what is searched by; undefined when a filter can match nothing. Flows are found once, whatever becomes of their names. */
async function searchOf(
  deps: Deps,
  org: OrgAccess,
  query: AttestationSearchQuery,
): Promise<AttestationSearch | undefined> {
  const after = cursorOf(query.after);
  const id = query.attestation_id ? parseWireId(query.attestation_id) : undefined;
  const names = await namesOf(deps, org, query);
  const flow_names = given(query.flow);
  const flows = flow_names && (await findFlowIds(deps.db, org.id, flow_names));
  if ((query.attestation_id && id === undefined) || names?.length === 0 || flows?.length === 0)
    return undefined;
  return {
    id,
    names,
    flows,
    types: given(query.type)?.map(storedType),
    is_compliant: query.is_compliant,
    from: query.from_timestamp,
    to: query.to_timestamp,
    after,
    limit: query.per_page + 1,
  };
}

function linksOf(url: string, after: string | undefined) {
  if (after === undefined) return { self: { href: url } };
  const next = new URL(url);
  next.searchParams.set("after", after);
  return { self: { href: url }, next: { href: next.href } };
}

/** The JSON texts of what was found; undefined when it is heavy. */
function textsOf(found: readonly FoundAttestation[]): string[] | undefined {
  const texts = found.flatMap(({ text }) => text ?? []);
  return texts.length === found.length ? texts : undefined;
}

function rowsOf(found: readonly FoundAttestation[]): HeavyRows {
  return found.map(
    ({ id, bytes }) => [present(parseWireId(id), "ids of rows are well-formed"), bytes] as const,
  );
}

function pageOfFound(found: readonly FoundAttestation[]): PageText {
  const texts = textsOf(found);
  return texts === undefined
    ? { list: null, heavy: rowsOf(found) }
    : { list: `[${texts.join(",")}]`, heavy: null };
}

export const attestationSearchHandlers: Handlers<typeof attestationSearchEndpoints> = {
  list_system_attestation_types: async () => ({
    status: 200,
    body: Object.entries(systemAttestationTypes).map(([name, schemas]) => ({
      name,
      versions: schemas
        .map((schema, index) => ({
          version: index + 1,
          type_schema: z.toJSONSchema(schema, { io: "input" }),
        }))
        .toReversed(),
    })),
  }),

  get_attestations: async (deps, { org, query, url }) => {
    const search = await searchOf(deps, org, query);
    const how = showing(deps.links, query.include);
    const found = search ? await searchAttestations(deps.db, org, how, search) : [];
    const shown = found.slice(0, query.per_page);
    const links = linksOf(url, found.length > shown.length ? shown.at(-1)?.id : undefined);
    const data = listOf(deps, { org, how, self: "own" }, pageOfFound(shown));
    return { status: 200, body: listAnswer('{"data":', data, `,"_links":${JSON.stringify(links)}}`) };
  },

  list_attestations_for_criteria: async (deps, { org, query }) => {
    const commits = [...new Set(query.commit_list)];
    if (commits.length === 0) throw invalid("commit_list is required");
    const how = showing(deps.links, query.include);
    const lists = await listAttestationsOfCommits(deps.db, org, how, {
      commits,
      flow: query.flow_name || null,
      name: query.attestation_name || null,
      type: query.attestation_type ? storedType(query.attestation_type) : null,
    });
    const shown = lists.flatMap(({ sha, page }, at) => [
      `${at === 0 ? "" : ","}"${sha}":`,
      listOf(deps, { org, how, self: "own" }, page),
    ]);
    return { status: 200, body: listsAnswer(["{", ...shown, "}"]) };
  },

  get_flow_attestations: async (deps, { org, params, query }) => {
    const flow_id = await getFlowId(deps.db, org, params.flow_name);
    const how = showing(deps.links, query.include);
    const { total, page } = await listFlowAttestations(deps.db, org, how, {
      flow_id,
      from: query.from_timestamp,
      to: query.to_timestamp,
      ...pageSlice(query),
    });
    const pagination = JSON.stringify(paginationOf(query, total));
    const data = listOf(deps, { org, how, self: "own" }, page);
    return { status: 200, body: listAnswer('{"data":', data, `,"pagination":${pagination}}`) };
  },
};

/** Attestations that are read at a time for CSV: each may come with much data. */
const batch = 50;

async function* parsed(
  deps: Deps,
  shown: HowShown,
  batches: AsyncIterable<readonly FoundAttestation[]>,
): AsyncGenerator<object[]> {
  const parse = (text: string) => JSON.parse(text) as object;
  for await (const found of batches) {
    const texts = textsOf(found);
    if (texts !== undefined) yield texts.map(parse);
    else
      for await (const rows of readHeavyAttestations(deps, shown, rowsOf(found)))
        yield rows.map(({ text }) => parse(text));
  }
}

/** Reads all attestations that a search finds, newest first, each batch from the last one of that before. */
async function allFound(deps: Deps, org: OrgAccess, search: AttestationSearch): Promise<CsvRows> {
  const how = showing(deps.links, undefined);
  const batches = await inBatches<FoundAttestation>(batch, (last) => {
    const after = last === undefined ? undefined : cursorOf(last.id);
    return deps.db.sliced(() => searchAttestations(deps.db, org, how, { ...search, after, limit: batch }));
  });
  return parsed(deps, { org, how, self: "own" }, batches);
}

async function* nothing(): AsyncGenerator<object[]> {
  // There is nothing to wait for.
}

export const attestationSearchCsv: CsvHandlers<typeof attestationSearchEndpoints> = {
  get_attestations: async (deps, { org, query }) => {
    const search = await searchOf(deps, org, query);
    return search === undefined ? nothing() : allFound(deps, org, search);
  },
  get_flow_attestations: async (deps, { org, params, query }) => {
    const flow_id = await getFlowId(deps.db, org, params.flow_name);
    const { from_timestamp: from, to_timestamp: to } = query;
    return allFound(deps, org, { flows: [flow_id], from, to, limit: batch });
  },
};
