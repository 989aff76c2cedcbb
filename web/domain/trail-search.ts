import { listPeriods, startOf } from "./periods.ts";
import { oneOf, positive, reads, text } from "./search-params.ts";

/** States of trails as lists filter them, and their words. */
export const trailStates = [
  ["COMPLIANT", "Compliant"],
  ["NON-COMPLIANT", "Non-compliant"],
  ["INCOMPLETE", "Incomplete"],
] as const;

/** Readers of what addresses say of lists of trails. */
export const trailSearchReaders = {
  state: oneOf(...trailStates.map(([state]) => state)),
  search: text,
  since: oneOf(...listPeriods),
  missing: text,
  failing: text,
  /** Only those that began until then, in Unix seconds. */
  before: text,
  page: positive,
  until: positive,
};

/** What the address of a list of trails says. */
export const trailSearch = reads(trailSearchReaders);
export type TrailSearch = ReturnType<typeof trailSearch>;

/** How many trails stand on a page. */
const trailsPerPage = 50;

/** Says what an address asks of the API. @param now Unix seconds. */
export function trailQuery(
  { state, search, since, missing, failing, before, page = 1, until }: TrailSearch,
  now: number,
) {
  const last = Number(before ?? Number.NaN);
  return {
    state: state === undefined ? undefined : [state],
    search,
    missing,
    failing,
    start_ts: since === undefined ? undefined : startOf(since, until ?? now),
    end_ts: Number.isFinite(last) && last > 0 ? last : until,
    include: ["matrix" as const],
    page,
    per_page: trailsPerPage,
  };
}

/** Says whether an address leaves out any trails. */
export function isNarrowed({ page: _page, ...search }: TrailSearch): boolean {
  return Object.values(search).some((value) => value !== undefined);
}

const wholeDigest = /^(?:[\da-f]{40}|[\da-f]{64})$/;

/** Shortens the name of a trail for lists: commits and digests to what people compare, others not at all. */
export function trailTitle(name: string): string {
  return wholeDigest.test(name) ? name.slice(0, 7) : name;
}
