import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask } from "../../api/queries.ts";
import { oneOf, positive, reads, text, texts } from "../../domain/search-params.ts";

export type Policy = AnswerOf<"GET /policies/{org}/{policy_name}">;

/** What the address of the list says. */
export const policiesSearch = reads({ q: text });

/** What the address of a policy says: the part shown, the page of its environments, the versions compared. */
export const policySearch = reads({
  tab: oneOf("versions"),
  page: positive,
  from: positive,
  to: positive,
});

/** Times that a policy is tried on: what runs now, or also what ran in the last days. */
export const previewPeriods = ["now", "1d", "7d", "30d", "90d"] as const;

/** What the address of the editor says: on what the text is tried. */
export const editorSearch = reads({ environment: texts, period: oneOf(...previewPeriods) });

/** Asks for one policy with all its versions. */
export function policyQuery(org: string, policy_name: string) {
  return alone(ask("GET /policies/{org}/{policy_name}", { params: { org, policy_name } }));
}

/** How many environments of a policy stand on a page. */
const environmentsPerPage = 20;

/** Asks for a page of the environments that a policy is attached to. */
export function policyEnvironmentsQuery(org: string, policy: string, page = 1) {
  return ask("GET /environments/{org}", {
    params: { org },
    query: {
      policy: [policy],
      include: ["summary" as const],
      page,
      per_page: environmentsPerPage,
    },
  });
}

/** How many failing artifacts are looked at for those that fail a policy. */
export const failingLookedAt = 200;

/** Asks for what does not comply in these environments. */
export function failingQuery(org: string, environment: readonly string[]) {
  return ask("GET /running/{org}", {
    params: { org },
    query: { environment: [...environment], compliant: ["false"], per_page: failingLookedAt },
  });
}
