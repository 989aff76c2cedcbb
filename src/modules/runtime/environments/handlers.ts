import type { z } from "zod";

import { JsonPieces, JsonText } from "../../../contract/endpoint.ts";
import type { environmentEndpoints, EnvironmentListQuery } from "../../../contract/environments.ts";
import { parseTagFilter } from "../../../domain/tags.ts";
import { parseWireId } from "../../../lib/ids.ts";
import { arrayPieces } from "../../../lib/json-array.ts";
import { pageHead } from "../../../lib/links.ts";
import { type PageNumbers, pageSlice } from "../../../lib/paging.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { EnvironmentQuery } from "./list-sql.ts";
import { type EnvironmentPage, listEnvironmentPage, listEnvironments } from "./list-store.ts";
import { requireReadable } from "./service.ts";
import { findEnvironmentReply } from "./store.ts";

type ListInput = z.output<typeof EnvironmentListQuery>;

const defaultPerPage = 15;

/** Reads what was asked for. A text that is no id at all is a space that does not exist. */
function queryOf(input: ListInput, at: number): EnvironmentQuery {
  return {
    archived: input.archived,
    sort: input.sort,
    direction: input.sort_direction,
    types: input.type,
    name: input.name,
    tags: input.tag === undefined ? undefined : parseTagFilter(input.tag),
    spaces: input.space_id?.flatMap((text) => parseWireId(text) ?? []),
    stale: input.stale === undefined ? undefined : { is: input.stale, at },
    states: input.state,
    policies: input.policy,
    summary: input.include === undefined ? undefined : { at },
  };
}

/** Writes the list object (interface spec 2) around environments that are JSON already. */
function pageReply(url: string, page: PageNumbers, found: EnvironmentPage): JsonText {
  const head = JSON.stringify(pageHead(url, page, found.total));
  return new JsonText(`${head.slice(0, -1)},"environments":`, found.environments, "}");
}

export const environmentReadHandlers: Handlers<
  Pick<typeof environmentEndpoints, "list_envs" | "get_environment">
> = {
  list_envs: async (deps, call) => {
    const query = queryOf(call.query, deps.clock.now());
    const { page, per_page } = call.query;
    if (page === undefined && per_page === undefined)
      return {
        status: 200,
        body: new JsonPieces(arrayPieces(await listEnvironments(deps.db, call.org, query))),
      };
    const numbers = { page: page ?? 1, per_page: per_page ?? defaultPerPage };
    const found = await listEnvironmentPage(deps.db, call.org, query, pageSlice(numbers));
    return { status: 200, body: pageReply(call.url, numbers, found) };
  },
  get_environment: async (deps, call) => {
    const { env_name } = call.params;
    const summary = call.query.include === undefined ? undefined : { at: deps.clock.now() };
    const reply = await findEnvironmentReply(deps.db, call.org, env_name, summary);
    return { status: 200, body: new JsonText(requireReadable(call.org, env_name, reply).json) };
  },
};
