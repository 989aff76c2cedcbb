import type { z } from "zod";

import { JsonPieces, JsonText } from "../../contract/endpoint.ts";
import type { environmentEndpoints, EnvironmentListQuery } from "../../contract/environments.ts";
import { archivedEnvironment, unknownEnvironment } from "../../domain/environments.ts";
import { notFound } from "../../domain/errors.ts";
import { parseTagFilter } from "../../domain/tags.ts";
import { parseWireId } from "../../lib/ids.ts";
import { arrayPieces } from "../../lib/json-array.ts";
import { pageHead } from "../../lib/links.ts";
import type { Handlers } from "../call.ts";
import type { EnvironmentQuery } from "./list-statements.ts";
import { type EnvironmentPage, listEnvironmentPage, listEnvironments } from "./list-store.ts";
import { archiveEnvironment, joinEnvironment, renameEnvironment } from "./service.ts";
import { patchEnvironment, putEnvironment } from "./settings-service.ts";
import { findEnvironmentReply } from "./store.ts";

type ListInput = z.output<typeof EnvironmentListQuery>;

const defaultPerPage = 15;
const ok = { status: 200, body: "OK" } as const;

/** What was asked for. A text that is no id at all is a space that does not exist. */
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
  };
}

interface PageNumbers {
  page: number;
  per_page: number;
}

/** The list object (interface spec 2) around environments that are JSON already. */
function pageReply(url: string, page: PageNumbers, found: EnvironmentPage): JsonText {
  const head = JSON.stringify(pageHead(url, page, found.total));
  return new JsonText(`${head.slice(0, -1)},"environments":`, found.environments, "}");
}

export const environmentHandlers: Handlers<typeof environmentEndpoints> = {
  list_envs: async (deps, call) => {
    const query = queryOf(call.query, deps.clock.now());
    const { page = 1, per_page = defaultPerPage } = call.query;
    if (call.query.page === undefined && call.query.per_page === undefined)
      return {
        status: 200,
        body: new JsonPieces(arrayPieces(await listEnvironments(deps.db, call.org, query))),
      };
    const cut = { limit: per_page, offset: (page - 1) * per_page };
    const found = await listEnvironmentPage(deps.db, call.org, query, cut);
    return { status: 200, body: pageReply(call.url, { page, per_page }, found) };
  },
  create_env: async (deps, call) => {
    await putEnvironment(deps, call, call.body);
    return { status: 201, body: "OK" };
  },
  get_environment: async (deps, call) => {
    const { env_name } = call.params;
    const found = await findEnvironmentReply(deps.db, call.org, env_name);
    if (found === undefined) throw notFound(unknownEnvironment(env_name, call.org.name));
    if (found.archived && !found.by_name) throw notFound(archivedEnvironment(env_name, call.org.name));
    return { status: 200, body: new JsonText(found.json) };
  },
  update_env: async (deps, call) => {
    await patchEnvironment(deps, call, call.params.env_name, call.body);
    return ok;
  },
  rename_environment: async (deps, call) => {
    await renameEnvironment(deps, call, call.params.env_name, call.body.new_name);
    return ok;
  },
  archive_env: async (deps, call) => {
    await archiveEnvironment(deps, call, call.params.env_name);
    return ok;
  },
  join_physical_to_logical: async (deps, call) => {
    await joinEnvironment(deps, call, call.params.env_name, call.body.physical_env_name);
    return ok;
  },
};
