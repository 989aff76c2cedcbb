import { ask } from "../../api/queries.ts";
import { type ControlSearch, perPage } from "./queries.ts";

/** Asks which tags controls have. */
export function controlTagsQuery(org: string) {
  return ask("GET /controls/{org}/tags", { params: { org } });
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
