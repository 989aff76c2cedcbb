import type { AnswerOf, InputOf } from "../../api/contract.ts";
import { ask, polling } from "../../api/queries.ts";
import { runningTypes } from "../../domain/environment-types.ts";
import { oneOf, positive, reads, text, texts } from "../../domain/search-params.ts";

export type Running = AnswerOf<"GET /running/{org}">["data"][number];

const perPage = 50;
/** As many as the server gives at once, so that few artifacts are divided between pages. */
const perGroupedPage = 200;

/** What the address says: filters, order, page, and whether rows stand together by artifact. */
export const runningSearch = reads({
  name: text,
  environment: texts,
  type: oneOf(...runningTypes),
  tag: texts,
  space_id: texts,
  flow: texts,
  repo: texts,
  fingerprint: text,
  compliant: oneOf("false", "true", "unknown"),
  provenance: oneOf("known", "none"),
  allow_listed: oneOf("true", "false"),
  group: oneOf("artifact"),
  sort: oneOf("environment", "name", "started_at", "compliant"),
  sort_direction: oneOf("asc", "desc"),
  page: positive,
});
export type RunningSearch = ReturnType<typeof runningSearch>;

/** Says what is asked for: the list that the address means. */
function runningInput(org: string, search: RunningSearch): InputOf<"GET /running/{org}"> {
  const { group, type, compliant, allow_listed, page = 1, ...rest } = search;
  const isGrouped = group !== undefined;
  const query = {
    ...rest,
    ...(isGrouped ? { sort: "name" as const, sort_direction: "asc" as const } : {}),
    type: type === undefined ? undefined : [type],
    compliant: compliant === undefined ? undefined : [compliant],
    allow_listed: allow_listed === undefined ? undefined : allow_listed === "true",
    page,
    per_page: isGrouped ? perGroupedPage : perPage,
  };
  return { params: { org }, query };
}

/** Asks for one page of what runs. */
export function runningQuery(org: string, search: RunningSearch) {
  return { ...ask("GET /running/{org}", runningInput(org, search)), refetchInterval: polling.lists };
}
