import { ask } from "../../api/queries.ts";
import { positive, reads } from "../../domain/search-params.ts";

/** What the address of the profile says: the page of sessions. */
export const profileSearch = reads({ page: positive });

/** How many sessions stand on a page. */
const perPage = 20;

/** Asks for the caller's sessions. */
export function sessionsQuery(page: number) {
  return ask("GET /user/sessions", { query: { page, per_page: perPage } });
}

/** Asks for the caller's own keys. */
export const ownKeysQuery = ask("GET /user/api-keys", {});

/** Asks who the caller is at sign-in providers. */
export const identitiesQuery = ask("GET /user/identities", {});
