import type { AnswerOf } from "../../api/contract.ts";
import { ApiError } from "../../api/errors.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import { flag, reads, text, texts } from "../../domain/search-params.ts";

export type Artifact = AnswerOf<"GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}">;
export type Found = AnswerOf<"GET /search/{org}/sha/{search_value}">;
export type FoundArtifact = Found["artifacts"][number];

/** What the address of an artifact says: which report of it, and what it is checked against. */
export const artifactSearch = reads({
  artifact_id: text,
  trail: text,
  check: flag,
  environment: text,
  policy: texts,
});
export type ArtifactSearch = ReturnType<typeof artifactSearch>;

/** What the address of an artifact says that need not be known to a flow. */
export const anyArtifactSearch = reads({ check: flag, environment: text, policy: texts });

interface Report {
  org: string;
  flow: string;
  fingerprint: string;
  trail: string | undefined;
  artifact_id: string | undefined;
}

/** Says which report of an artifact is meant, for all that is asked of it. */
const reportInput = ({ org, flow, fingerprint, trail, artifact_id }: Report) => ({
  params: { org, flow_name: flow, fingerprint },
  query: { trail, artifact_id },
});

/** Asks for an artifact as a flow knows it: by the report that has the id, or is on the trail, else by its latest. */
export function artifactQuery(report: Report) {
  return alone(ask("GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}", reportInput(report)));
}

/** Asks why it has its state. */
export function explanationQuery(report: Report) {
  return alone(
    ask("GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}/explain", reportInput(report)),
  );
}

/** Asks for the picture of where it comes from and where it runs. */
export function provenanceQuery(org: string, fingerprint: string) {
  return alone(ask("GET /provenance/{org}/{fingerprint}", { params: { org, fingerprint } }));
}

/** Asks what is known of a commit or a fingerprint, in all flows and environments. */
export function foundQuery(org: string, search_value: string) {
  return {
    ...alone(ask("GET /search/{org}/sha/{search_value}", { params: { org, search_value } })),
    refetchInterval: polling.lists,
  };
}

/** Says whether the search found nothing at all, which it answers 404 for. */
export function isNothing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Asks for the verdict on an artifact by an environment's policies, by policies, or by its flows. */
export function assertQuery(
  org: string,
  fingerprint: string,
  { environment, policy }: Pick<ArtifactSearch, "environment" | "policy">,
) {
  return alone(
    ask("GET /asserts/{org}/fingerprint/{fingerprint}", {
      params: { org, fingerprint },
      query: { environment_name: environment, policy_name: policy },
    }),
  );
}

/** Asks for what was attested for a commit. */
export function commitAttestationsQuery(org: string, sha: string) {
  return alone(
    ask("GET /attestations/{org}/list_attestations_for_criteria", {
      params: { org },
      query: { commit_list: [sha] },
    }),
  );
}
