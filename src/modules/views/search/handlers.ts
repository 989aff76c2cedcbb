import type { searchEndpoints } from "../../../contract/search.ts";
import type { Handlers } from "../../kernel/call.ts";
import { searchNames } from "./names-service.ts";
import { search } from "./service.ts";

export const searchHandlers: Handlers<typeof searchEndpoints> = {
  search_names: async (deps, { org, query }) => ({
    status: 200,
    body: await searchNames(deps, org, query),
  }),

  get_search: async (deps, { org, params }) => ({
    status: 200,
    body: await search(deps, org, params.search_value),
  }),
};
