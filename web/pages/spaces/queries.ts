import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask } from "../../api/queries.ts";
import { reads, text } from "../../domain/search-params.ts";

export type Space = AnswerOf<"GET /spaces/{org}">[number];

/** What the address says: the space whose content is shown. */
export const spacesSearch = reads({ space: text });

/** How many environments and flows of a space are shown beside the tree; their lists have all. */
const shown = 20;

const only = (space: string | undefined): string[] | undefined => (space === undefined ? undefined : [space]);

/** Asks for the first environments in a space and those below it; of all without one. */
export function environmentsInQuery(org: string, space: string | undefined) {
  const query = { space_id: only(space), include: ["summary" as const], page: 1, per_page: shown };
  return alone(ask("GET /environments/{org}", { params: { org }, query }));
}

/** Asks for the first flows in a space and those below it; of all without one. */
export function flowsInQuery(org: string, space: string | undefined) {
  const query = { space_id: only(space), page: 1, per_page: shown };
  return alone(ask("GET /flows/{org}", { params: { org }, query }));
}
