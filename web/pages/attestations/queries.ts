import type { AnswerOf } from "../../api/contract.ts";
import { ask, polling } from "../../api/queries.ts";
import { listPeriods, startOf } from "../../domain/periods.ts";
import { oneOf, positive, reads, text } from "../../domain/search-params.ts";

export type Attestations = AnswerOf<"GET /attestations/{org}">;
export type Attestation = Attestations["data"][number];

/** What the address of the list says. */
export const attestationsSearch = reads({
  name: text,
  type: text,
  flow: text,
  verdict: oneOf("compliant", "non-compliant"),
  since: oneOf(...listPeriods),
  /** Continues behind the page before. */
  after: text,
  until: positive,
});
export type AttestationsSearch = ReturnType<typeof attestationsSearch>;

const only = (value: string | undefined): string[] => (value === undefined ? [] : [value]);

function inputOf(org: string, search: AttestationsSearch, now: number) {
  const { name, type, flow, verdict, since, after, until } = search;
  return {
    params: { org },
    query: {
      name_regex: name === undefined ? undefined : `(?i)${name.replaceAll(/[^\w\s]/g, String.raw`\$&`)}`,
      type: only(type),
      flow: only(flow),
      is_compliant: verdict === undefined ? undefined : verdict === "compliant",
      from_timestamp: since === undefined ? undefined : startOf(since, until ?? now),
      to_timestamp: until,
      after,
      per_page: 50,
    },
  };
}

/** Asks for a page of attestations, the newest first. @param now Unix seconds. */
export function attestationsQuery(org: string, search: AttestationsSearch, now: number) {
  return { ...ask("GET /attestations/{org}", inputOf(org, search, now)), refetchInterval: polling.lists };
}

/** Finds where the next page continues; undefined on the last. */
export function nextOf({ _links }: Attestations): string | undefined {
  const next = _links["next"]?.href;
  return next === undefined ? undefined : (new URL(next).searchParams.get("after") ?? undefined);
}
