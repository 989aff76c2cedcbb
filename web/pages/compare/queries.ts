import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, askWithHeaders } from "../../api/queries.ts";
import { reads, text } from "../../domain/search-params.ts";

export type Difference = AnswerOf<"GET /env-diff/{org}">;
export type Side = Difference["snappish1"];
export type Item = Side["artifacts"][number];
export type Pair = NonNullable<Difference["paired"]>[number];

/** What the address says: the names of both snapshots. */
export const compareSearch = reads({ from: text, to: text });

/** Asks how two snapshots differ. */
export function differenceQuery(org: string, from: string, to: string) {
  return ask("GET /env-diff/{org}", {
    params: { org },
    query: { snappish1: from, snappish2: to, include: ["detail"] },
  });
}

/** Asks for the latest snapshots of an environment, to choose from. */
export function choicesQuery(org: string, env_name: string) {
  return alone(
    askWithHeaders("GET /snapshots/{org}/{env_name}", {
      params: { org, env_name },
      query: { per_page: 1000, include: ["counts"] },
    }),
  );
}

/** Asks when an environment was silent. */
export function silencesQuery(org: string, env_name: string) {
  return alone(ask("GET /environments/{org}/{env_name}/silence", { params: { org, env_name } }));
}
