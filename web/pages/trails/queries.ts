import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import { reads, text } from "../../domain/search-params.ts";
import { trailQuery, trailSearchReaders } from "../../domain/trail-search.ts";

export type Trail = AnswerOf<"GET /trails/{org}/{flow_name}/{trail_name}">;
export type Attestation = AnswerOf<"GET /attestations/{org}">["data"][number];

/** What the address of the list of all trails says. */
export const trailsSearch = reads({ ...trailSearchReaders, flow: text, repo: text });

/** What the address of a trail says: which of its attestations is looked at. */
export const oneTrailSearch = reads({ attestation_id: text });

/** Asks for a page of all flows' trails. @param now Unix seconds. */
export function trailsQuery(
  org: string,
  { flow, repo, ...search }: ReturnType<typeof trailsSearch>,
  now: number,
) {
  const query = { ...trailQuery(search, now), flow, repo };
  return { ...ask("GET /trails/{org}", { params: { org }, query }), refetchInterval: polling.lists };
}

/** Where a trail is found. */
export interface TrailPlace {
  org: string;
  flow: string;
  trail: string;
}

const paramsOf = ({ org, flow, trail }: TrailPlace) => ({ org, flow_name: flow, trail_name: trail });

/** Asks for a trail with all that happened to it. */
export function oneTrailQuery(place: TrailPlace) {
  const query = ask("GET /trails/{org}/{flow_name}/{trail_name}", { params: paramsOf(place) });
  return { ...alone(query), refetchInterval: polling.lists };
}

/** Asks why a trail has its verdict. */
export function explanationQuery(place: TrailPlace) {
  const query = ask("GET /trails/{org}/{flow_name}/{trail_name}/explain", { params: paramsOf(place) });
  return { ...alone(query), refetchInterval: polling.lists };
}

/** Asks for an attestation, with what is known of the file that came with it. */
export function attestationQuery(org: string, attestation_id: string) {
  return alone(
    ask("GET /attestations/{org}", {
      params: { org },
      query: { attestation_id, include: ["evidence"], per_page: 1 },
    }),
  );
}

/** Asks what a version of a custom type says. */
export function typeVersionQuery(org: string, custom_attestation_type_name: string, version: number) {
  return {
    ...alone(
      ask("GET /custom-attestation-types/{org}/{custom_attestation_type_name}", {
        params: { org, custom_attestation_type_name },
        query: { version },
      }),
    ),
    // A version never changes.
    staleTime: Infinity,
  };
}
