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

const perPage = 50;

/** Asks for one page of the controls. */
export function controlsQuery(org: string, search: ReturnType<typeof controlsSearch>) {
  const { tag, page = 1, ...rest } = search;
  return ask("GET /controls/{org}", {
    params: { org },
    query: { ...rest, tag: tag === undefined ? undefined : [tag], page, per_page: perPage },
  });
}

/** Asks which tags controls have. */
export function controlTagsQuery(org: string) {
  return ask("GET /controls/{org}/tags", { params: { org } });
}

/** Asks for one control. */
export function controlQuery(org: string, identifier: string) {
  return alone(ask("GET /controls/{org}/{identifier}", { params: { org, identifier } }));
}

/** Asks for a page of the decisions on a control. */
export function decisionsQuery(org: string, identifier: string, { verdict, page = 1 }: ControlSearch) {
  const is_compliant = verdict === undefined ? undefined : verdict === "compliant";
  return ask("GET /controls/{org}/{identifier}/decisions", {
    params: { org, identifier },
    query: { is_compliant, page, per_page: perPage },
  });
}

/** Asks which environments enforce a control. */
export function coverageQuery(org: string, identifier: string, { covered, search, page = 1 }: ControlSearch) {
  return ask("GET /controls/{org}/{identifier}/coverage", {
    params: { org, identifier },
    query: {
      covered: covered === undefined ? undefined : covered === "yes",
      search,
      page,
      per_page: perPage,
    },
  });
}

/** Asks for a page of a control's history. */
export function controlVersionsQuery(org: string, identifier: string, { page = 1 }: ControlSearch) {
  return ask("GET /controls/{org}/{identifier}/versions", {
    params: { org, identifier },
    query: { page, per_page: perPage },
  });
}
