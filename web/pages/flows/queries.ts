import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import { startOf } from "../../domain/periods.ts";
import { flag, oneOf, positive, reads, text } from "../../domain/search-params.ts";
import { trailQuery, type TrailSearch } from "../../domain/trail-search.ts";

export type Flow = AnswerOf<"GET /flows/{org}/{flow_name}">;
export type ListedFlow = Extract<AnswerOf<"GET /flows/{org}">, readonly unknown[]>[number];

/** How many flows stand on a page of their list. */
const flowsPerPage = 50;

/** What the address of the list of flows says. */
export const flowsSearch = reads({
  search: text,
  tag: text,
  space_id: text,
  archived: flag,
  sort: oneOf("name", "latest_activity"),
  sort_direction: oneOf("asc", "desc"),
  page: positive,
});

/** Asks for one page of an organization's flows, with the states of their latest trails. */
export function flowsQuery(org: string, search: ReturnType<typeof flowsSearch>) {
  const { search: search_by_name, tag, space_id, page = 1, ...rest } = search;
  const query = {
    ...rest,
    search_by_name,
    case_sensitive: false,
    tag: tag === undefined ? undefined : [tag],
    space_id: space_id === undefined ? undefined : [space_id],
    include: ["latest_trails" as const],
    page,
    per_page: flowsPerPage,
  };
  return { ...ask("GET /flows/{org}", { params: { org }, query }), refetchInterval: polling.lists };
}

/** Asks for a flow. */
export function flowQuery(org: string, flow_name: string) {
  return alone(ask("GET /flows/{org}/{flow_name}", { params: { org, flow_name } }));
}

/** Asks for a page of a flow's trails, by what became of each attestation. @param now Unix seconds. */
export function matrixQuery(org: string, flow_name: string, search: TrailSearch, now: number) {
  const query = trailQuery(search, now);
  return {
    ...ask("GET /trails/{org}/{flow_name}", { params: { org, flow_name }, query }),
    refetchInterval: polling.lists,
  };
}

/** How many artifacts stand on a page. */
export const artifactsPerPage = 50;

/** What the address of a flow's artifacts says. */
export const artifactsSearch = reads({ page: positive });

/** Asks for a page of a flow's artifacts. */
export function artifactsQuery(
  org: string,
  flow_name: string,
  { page = 1 }: ReturnType<typeof artifactsSearch>,
) {
  const query = { flow_name, page, per_page: artifactsPerPage };
  return { ...ask("GET /artifacts/{org}", { params: { org }, query }), refetchInterval: polling.lists };
}

/** Periods that statistics are counted over. */
export const statisticsPeriods = ["7d", "30d", "90d"] as const;

/** What the address of a flow's statistics says. */
export const statisticsSearch = reads({ period: oneOf(...statisticsPeriods), until: positive });

/** Asks what became of the trails of a flow. @param now Unix seconds. */
export function statisticsQuery(
  org: string,
  flow_name: string,
  { period = "30d", until }: ReturnType<typeof statisticsSearch>,
  now: number,
) {
  // The next whole minute, as `startOf` has it: what was reported just now counts, and the longest window, of 90 days, is not longer.
  const end = until ?? Math.ceil(now / 60) * 60;
  const query = {
    start_ts: startOf(period, end),
    end_ts: end,
    bucket: period === "90d" ? ("week" as const) : ("day" as const),
  };
  return {
    ...ask("GET /flows/{org}/{flow_name}/statistics", { params: { org, flow_name }, query }),
    refetchInterval: polling.charts,
  };
}
