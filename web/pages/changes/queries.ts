import type { AnswerOf, InputOf } from "../../api/contract.ts";
import { ask, polling } from "../../api/queries.ts";
import { environmentTypes } from "../../domain/environment-types.ts";
import { periods, startOf, startOfYesterday } from "../../domain/periods.ts";
import { oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type Changes = AnswerOf<"GET /events/{org}">;

const eventsPerPage = 50;

/** What the address says: since when, and which changes. */
export const changesSearch = reads({
  since: oneOf("1h", "24h", "yesterday", "7d"),
  kind: oneOf("started", "exited", "changed", "verdict"),
  environment: text,
  type: oneOf(...environmentTypes),
  tag: text,
  flow: text,
  repo: text,
  page: positive,
  until: positive,
});
export type ChangesSearch = ReturnType<typeof changesSearch>;

const only = <T>(value: T | undefined): T[] | undefined => (value === undefined ? undefined : [value]);

/** Tells since when changes are asked for: a day unless said otherwise. @param now Unix seconds, and so is the answer. */
export function changesSince(since: ChangesSearch["since"], now: number): number {
  return since === "yesterday" ? startOfYesterday(now) : startOf(since ?? "24h", now);
}

/** Says what is asked for: the list that the address means. @param now Unix seconds. */
function changesInput(org: string, search: ChangesSearch, now: number): InputOf<"GET /events/{org}"> {
  const { since = "24h", kind, environment, type, tag, flow, repo, page = 1, until } = search;
  const start_ts = changesSince(since, until ?? now);
  const query = {
    start_ts,
    // The longest window that the server allows, also where its clock goes before this one.
    end_ts: until ?? (since === "7d" ? start_ts + periods["7d"] : undefined),
    kind: only(kind),
    environment: only(environment),
    type: only(type),
    tag: only(tag),
    flow: only(flow),
    repo: only(repo),
    page,
    per_page: eventsPerPage,
  };
  return { params: { org }, query };
}

/** Asks what changed in all environments. @param now Unix seconds. */
export function changesQuery(org: string, search: ChangesSearch, now: number) {
  return { ...ask("GET /events/{org}", changesInput(org, search, now)), refetchInterval: polling.lists };
}
