import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask } from "../../api/queries.ts";
import { flag, oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type Control = AnswerOf<"GET /controls/{org}/{identifier}">;
export type ListedControl = AnswerOf<"GET /controls/{org}">["controls"][number];

/** What the address of the list says. */
export const controlsSearch = reads({
  search: text,
  tag: text,
  archived: flag,
  sort_direction: oneOf("desc"),
  page: positive,
});

/** What the address of a control says: the part shown, its filters and its page. */
export const controlSearch = reads({
  tab: oneOf("coverage", "versions"),
  verdict: oneOf("compliant", "non-compliant"),
  covered: oneOf("yes", "no"),
  search: text,
  page: positive,
});
export type ControlSearch = ReturnType<typeof controlSearch>;

/** How many stand on a page, of whatever is listed. */
export const perPage = 50;

/** Asks for one page of the controls. */
export function controlsQuery(org: string, search: ReturnType<typeof controlsSearch>) {
  const { tag, page = 1, ...rest } = search;
  return ask("GET /controls/{org}", {
    params: { org },
    query: { ...rest, tag: tag === undefined ? undefined : [tag], page, per_page: perPage },
  });
}

/** Asks for one control. */
export function controlQuery(org: string, identifier: string) {
  return alone(ask("GET /controls/{org}/{identifier}", { params: { org, identifier } }));
}
