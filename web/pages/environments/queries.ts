import type { QueryClient } from "@tanstack/react-query";

import type { AnswerOf } from "../../api/contract.ts";
import { alone, ask, askWithHeaders, polling } from "../../api/queries.ts";
import { environmentTypes } from "../../domain/environment-types.ts";
import { listPeriods, startOf } from "../../domain/periods.ts";
import { flag, oneOf, positive, reads, text, texts } from "../../domain/search-params.ts";
import {
  mostHeld,
  provenances,
  rowChangeNames,
  rowChanges,
  rowSorts,
  rowVerdicts,
} from "../../domain/snapshot-rows.ts";

export type Environment = AnswerOf<"GET /environments/{org}/{env_name}">;
export type Snapshot = AnswerOf<"GET /snapshots/{org}/{env_name}/{snapshot_expression}">;
export type Silence = AnswerOf<"GET /environments/{org}/{env_name}/silence">;
export type ListedSnapshot = AnswerOf<"GET /snapshots/{org}/{env_name}">[number];

/** How many environments stand on a page of their list. */
const environmentsPerPage = 50;

/** What the address of the list says: filters, order, page. */
export const environmentsSearch = reads({
  name: text,
  type: oneOf(...environmentTypes),
  state: oneOf("COMPLIANT", "NON-COMPLIANT", "UNKNOWN", "NEVER-REPORTED"),
  policy: text,
  tag: text,
  space_id: text,
  stale: flag,
  archived: flag,
  sort: oneOf("name", "last_changed_at", "last_reported_at", "state", "last_modified_at"),
  sort_direction: oneOf("asc", "desc"),
  page: positive,
});

export type EnvironmentsSearch = ReturnType<typeof environmentsSearch>;

/** What the address of a snapshot says: filters and order of what ran, the page of a large one, and the row that is explained. */
export const snapshotSearch = reads({
  q: text,
  verdict: oneOf(...rowVerdicts),
  provenance: oneOf(...provenances),
  change: oneOf(...rowChangeNames),
  sort: oneOf(...rowSorts),
  direction: oneOf("asc", "desc"),
  page: positive,
  open: text,
});
export type SnapshotSearch = ReturnType<typeof snapshotSearch>;

/** Gives the filters and the order of a snapshot, through which another one is looked at as well. */
export function filtersOf({ open: _open, page: _page, ...filters }: SnapshotSearch): SnapshotSearch {
  return filters;
}

const only = <T>(value: T | undefined): T[] | undefined => (value === undefined ? undefined : [value]);

/** Asks for one page of an organization's environments. */
export function environmentsQuery(org: string, search: EnvironmentsSearch) {
  const { type, tag, space_id, state, policy, page = 1, ...rest } = search;
  const query = {
    ...rest,
    type: only(type),
    state: only(state),
    policy: only(policy),
    tag: only(tag),
    space_id: only(space_id),
    include: ["summary" as const],
    page,
    per_page: environmentsPerPage,
  };
  return { ...ask("GET /environments/{org}", { params: { org }, query }), refetchInterval: polling.lists };
}

/** Asks for an environment's settings and state, and how large its latest snapshot is. */
export function environmentQuery(org: string, env_name: string) {
  return {
    ...alone(
      ask("GET /environments/{org}/{env_name}", {
        params: { org, env_name },
        query: { include: ["summary"] },
      }),
    ),
    refetchInterval: polling.lists,
  };
}

/** Asks how often an environment is reported on, and when it was silent. */
export function silenceQuery(org: string, env_name: string) {
  return {
    ...alone(ask("GET /environments/{org}/{env_name}/silence", { params: { org, env_name } })),
    refetchInterval: polling.lists,
  };
}

/** How many snapshots the strip shows: the latest. */
const snapshotsInStrip = 1000;

/** Asks for the snapshots that the strip shows. */
export function stripQuery(org: string, env_name: string) {
  return {
    ...alone(
      askWithHeaders("GET /snapshots/{org}/{env_name}", {
        params: { org, env_name },
        query: { per_page: snapshotsInStrip, include: ["counts"] },
      }),
    ),
    refetchInterval: polling.lists,
  };
}

/** Reads what an address calls a snapshot: `latest`, or an expression of the API's. */
export function expressionOf(shown: string): string {
  return shown === "latest" ? "-1" : shown;
}

/** Asks for what ran in an environment at some time; of a large snapshot without its artifacts. */
export function snapshotQuery(org: string, env_name: string, snapshot_expression: string) {
  return {
    ...ask("GET /snapshots/{org}/{env_name}/{snapshot_expression}", {
      params: { org, env_name, snapshot_expression },
      query: { rules: "once", max_artifacts: mostHeld },
    }),
    refetchInterval: polling.lists,
  };
}

/** The latest snapshot as far as the environment tells it. */
export interface Latest {
  /** 0 before the first. */
  index: number;
  /** It is shown page by page. */
  isLarge: boolean;
}

/** Reads of an environment which snapshot is its latest. */
export function latestOf(environment: Environment | undefined): Latest | undefined {
  if (environment === undefined) return undefined;
  const { snapshot_count: index = 0, artifact_compliance_count: counts } = environment;
  const artifacts = counts === null || counts === undefined ? 0 : counts.true + counts.false + counts.null;
  return { index, isLarge: artifacts > mostHeld };
}

/** Asks ahead for what the page of an environment shows; how its snapshot is read depends on how large it is. */
export async function prefetchLatest(queries: QueryClient, org: string, env: string): Promise<void> {
  const query = environmentQuery(org, env);
  await queries.prefetchQuery(query);
  const latest = latestOf(queries.getQueryData<Environment>(query.queryKey));
  if (latest !== undefined && latest.index > 0 && !latest.isLarge)
    await queries.prefetchQuery(snapshotQuery(org, env, String(latest.index)));
}

const artifactsPerPage = 100;
const serverVerdicts = {
  "non-compliant": "false",
  compliant: "true",
  unknown: "unknown",
  exempt: undefined,
} as const;
const serverSorts = {
  verdict: "compliant",
  name: "name",
  since: "started_at",
  instances: "shown",
} as const;
const running = Object.values(rowChanges).flat();

/** Asks for one page of what runs in a large snapshot. */
export function artifactsQuery(org: string, env_name: string, index: number, search: SnapshotSearch) {
  const { q, verdict, provenance, change, sort = "verdict", direction, page = 1 } = search;
  return ask("GET /snapshots/{org}/{env_name}/{snapshot_expression}/artifacts", {
    params: { org, env_name, snapshot_expression: String(index) },
    query: {
      search: q,
      compliant: only(verdict === undefined ? undefined : serverVerdicts[verdict]),
      provenance,
      annotation: change === undefined ? running : [...rowChanges[change]],
      sort: serverSorts[sort],
      sort_direction: direction,
      page,
      per_page: artifactsPerPage,
    },
  });
}

/** How many of those that exited are listed at most. */
export const mostExited = 200;

/** Asks for what exited with a large snapshot. */
export function exitedQuery(org: string, env_name: string, index: number) {
  return ask("GET /snapshots/{org}/{env_name}/{snapshot_expression}/artifacts", {
    params: { org, env_name, snapshot_expression: String(index) },
    query: { annotation: ["exited"], per_page: mostExited },
  });
}

/** What the address of the timeline says: time, page, and the snapshots picked to be compared. */
export const timelineSearch = reads({
  since: oneOf(...listPeriods),
  page: positive,
  until: positive,
  pick: texts,
});

export const snapshotsPerPage = 50;

/** Asks for one page of an environment's snapshots. @param now Unix seconds. */
export function snapshotsQuery(
  org: string,
  env_name: string,
  { since, page = 1, until }: ReturnType<typeof timelineSearch>,
  now: number,
) {
  return askWithHeaders("GET /snapshots/{org}/{env_name}", {
    params: { org, env_name },
    query: {
      page,
      per_page: snapshotsPerPage,
      include: ["counts"],
      start_ts: since === undefined ? undefined : startOf(since, until ?? now),
      end_ts: until,
    },
  });
}

/** What the address of the log says. */
export const logSearch = reads({
  since: oneOf(...listPeriods),
  repo: text,
  page: positive,
  until: positive,
});

export const eventsPerPage = 50;

/** Asks for one page of an environment's log. @param now Unix seconds. */
export function eventsQuery(
  org: string,
  env_name: string,
  { since, repo, page = 1, until }: ReturnType<typeof logSearch>,
  now: number,
) {
  return {
    ...askWithHeaders("GET /environments/{org}/{env_name}/events", {
      params: { org, env_name },
      query: {
        page,
        per_page: eventsPerPage,
        repo_name: only(repo),
        start_ts: since === undefined ? undefined : startOf(since, until ?? now),
        end_ts: until,
      },
    }),
    refetchInterval: polling.lists,
  };
}

/** Asks for the first repos, to choose from. */
export function reposQuery(org: string) {
  return ask("GET /repos/{org}", { params: { org }, query: { per_page: 50 } });
}

/** What the address of the deployments says; the last 30 days unless it says otherwise. */
export const deploymentsSearch = reads({ since: oneOf("24h", "7d", "90d"), page: positive, until: positive });

/** Asks for one page of the deployments into an environment. @param now Unix seconds. */
export function deploymentsQuery(
  org: string,
  env_name: string,
  { since, page = 1, until }: ReturnType<typeof deploymentsSearch>,
  now: number,
) {
  return ask("GET /deployments/{org}", {
    params: { org },
    query: { env_name, page, per_page: 50, start_ts: startOf(since ?? "30d", until ?? now), end_ts: until },
  });
}

/** Asks for everything that is allowed in an environment. */
export function environmentAllowListQuery(org: string, env_name: string) {
  return alone(ask("GET /allowlists/{org}", { params: { org }, query: { environment: [env_name] } }));
}
