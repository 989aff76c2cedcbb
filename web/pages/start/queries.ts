import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, polling } from "../../api/queries.ts";
import type { Known } from "../../domain/first-steps.ts";
import { oneOf, reads } from "../../domain/search-params.ts";

export type Overview = AnswerOf<"GET /organizations/{org}/overview">;
export type Event = AnswerOf<"GET /events/{org}">["data"][number];

/** What the address says: first steps or the overview, whatever there is. */
export const startSearch = reads({ show: oneOf("steps", "overview") });

/** Asks for the numbers of an organization. */
export function overviewQuery(org: string) {
  return {
    ...alone(ask("GET /organizations/{org}/overview", { params: { org } })),
    refetchInterval: polling.lists,
  };
}

/** Asks for the latest changes of a day. */
export function latestQuery(org: string) {
  return {
    ...alone(ask("GET /events/{org}", { params: { org }, query: { per_page: 12 } })),
    refetchInterval: polling.lists,
  };
}

/** Asks for how long environments were compliant, by day, for the last 30. */
export function historyQuery(org: string) {
  return {
    ...alone(ask("GET /organizations/{org}/compliance-history", { params: { org } })),
    refetchInterval: polling.charts,
  };
}

/** Asks for the flow that did something last, of all there are. */
export function flowsQuery(org: string) {
  const query = { per_page: 1, sort: "latest_activity" as const, sort_direction: "desc" as const };
  return { ...alone(ask("GET /flows/{org}", { params: { org }, query })), refetchInterval: polling.lists };
}

/** Asks for the latest trails, with what was reported to them. */
export function trailsQuery(org: string) {
  const query = { per_page: 20, include: ["matrix" as const] };
  return { ...alone(ask("GET /trails/{org}", { params: { org }, query })), refetchInterval: polling.lists };
}

/** Asks for the environments that changed last, with what each has. */
export function environmentsQuery(org: string) {
  const query = {
    page: 1,
    per_page: 50,
    include: ["summary" as const],
    sort: "last_changed_at" as const,
    sort_direction: "desc" as const,
  };
  return {
    ...alone(ask("GET /environments/{org}", { params: { org }, query })),
    refetchInterval: polling.lists,
  };
}

type Environments = Extract<AnswerOf<"GET /environments/{org}">, { environments: unknown }>;
type Flows = Extract<AnswerOf<"GET /flows/{org}">, { data: unknown }>;
type Trails = AnswerOf<"GET /trails/{org}">;

/** Reads from lists what an organization has so far. */
export function knownOf(
  flows: Flows | undefined,
  trails: Trails | undefined,
  environments: Environments | undefined,
): Known {
  // Without the matrix a trail names its flow elsewhere; it was asked for.
  const runs = (trails?.data ?? []).flatMap((trail) => ("flow_name" in trail ? [trail] : []));
  const last = runs[0];
  const artifacts = runs.flatMap(({ compliance_status }) =>
    Object.values(compliance_status.artifacts_statuses),
  );
  const cells = [
    ...artifacts.flatMap(({ attestations_statuses }) => attestations_statuses),
    ...runs.flatMap(({ compliance_status }) => compliance_status.attestations_statuses),
  ];
  const all = environments?.environments ?? [];
  return {
    flow: last?.flow_name ?? flows?.data[0]?.name,
    trail: last?.name,
    artifact: artifacts.find(({ artifact_fingerprint }) => artifact_fingerprint !== undefined)
      ?.artifact_fingerprint,
    hasAttestation: cells.some(({ status }) => status === "COMPLETE"),
    environment: all.find(({ type }) => type !== "logical"),
    hasReport: all.some(({ snapshot_count = 0 }) => snapshot_count > 0),
    hasPolicy: all.some(({ policies }) => (policies ?? []).length > 0),
  };
}
