import type { searchEndpoints } from "../../contract/search.ts";
import type { Handlers } from "../call.ts";
import { search } from "./service.ts";

export const searchHandlers: Handlers<typeof searchEndpoints> = {
  get_search: async (deps, { org, params }) => ({
    status: 200,
    body: await search(deps, org, params.search_value),
  }),
};
