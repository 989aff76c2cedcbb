import { alone, ask } from "../api/queries.ts";

/** Asks for all spaces; the list has no pages. */
export function spacesQuery(org: string) {
  return alone(ask("GET /spaces/{org}", { params: { org } }));
}
