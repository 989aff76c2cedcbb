import { z } from "zod";

import { systemAttestationTypes } from "../../contract/attestation-inputs.ts";
import type {
  AttestationSearchQuery,
  attestationSearchEndpoints,
} from "../../contract/attestation-search.ts";
import { JsonText } from "../../contract/endpoint.ts";
import { paginationOf } from "../../contract/pagination.ts";
import { invalid, invalidInput } from "../../domain/errors.ts";
import type { OrgAccess } from "../../domain/principal.ts";
import { parseWireId } from "../../lib/ids.ts";
import type { Handlers } from "../call.ts";
import type { Deps } from "../deps.ts";
import { getFlowId } from "../flows/service.ts";
import { urlBases } from "./attestation-json.ts";
import { findNamesMatching } from "./search-service.ts";
import {
  type AttestationSearch,
  listAttestationsOfCommits,
  listFlowAttestations,
  searchAttestations,
} from "./search-store.ts";

/** Types of the system's own are called by their bare names, too. */
function storedType(type: string): string {
  return Object.hasOwn(systemAttestationTypes, type) ? `system:${type}` : type;
}

/** Clients send empty texts for filters that were not set. */
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

/** Undefined when a filter can match nothing. */
async function searchOf(
  deps: Deps,
  org: OrgAccess,
  query: AttestationSearchQuery,
): Promise<AttestationSearch | undefined> {
  const after = cursorOf(query.after);
  const id = query.attestation_id ? parseWireId(query.attestation_id) : undefined;
  const names = await namesOf(deps, org, query);
  if ((query.attestation_id && id === undefined) || names?.length === 0) return undefined;
  return {
    id,
    names,
    flows: given(query.flow),
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
    const found = search ? await searchAttestations(deps.db, org, urlBases(deps.links), search) : [];
    const shown = found.slice(0, query.per_page);
    const links = linksOf(url, found.length > shown.length ? shown.at(-1)?.id : undefined);
    const data = shown.map(({ text }) => text).join(",");
    return { status: 200, body: new JsonText(`{"data":[${data}],"_links":${JSON.stringify(links)}}`) };
  },

  list_attestations_for_criteria: async (deps, { org, query }) => {
    const commits = [...new Set(query.commit_list)];
    if (commits.length === 0) throw invalid("commit_list is required");
    const lists = await listAttestationsOfCommits(deps.db, org, urlBases(deps.links), {
      commits,
      flow: query.flow_name || null,
      name: query.attestation_name || null,
      type: query.attestation_type ? storedType(query.attestation_type) : null,
    });
    return {
      status: 200,
      body: new JsonText(`{${lists.map(({ sha, list }) => `"${sha}":${list}`).join(",")}}`),
    };
  },

  get_flow_attestations: async (deps, { org, params, query }) => {
    const flow_id = await getFlowId(deps.db.query, org, params.flow_name);
    const { total, list } = await listFlowAttestations(deps.db, org, urlBases(deps.links), {
      flow_id,
      from: query.from_timestamp,
      to: query.to_timestamp,
      limit: query.per_page,
      offset: (query.page - 1) * query.per_page,
    });
    const pagination = JSON.stringify(paginationOf(query, total));
    return { status: 200, body: new JsonText(`{"data":${list},"pagination":${pagination}}`) };
  },
};
