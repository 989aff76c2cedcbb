import { alone, ask, polling } from "../../api/queries.ts";

/** Asks for what repos can be filtered by. */
export function repoOptionsQuery(org: string) {
  return ask("GET /repos/{org}/filter-options", { params: { org } });
}

/** Asks when a repo was built. @param start_ts Unix seconds, and so on. */
export function buildTimesQuery(org: string, repo_inner_id: string, start_ts: number) {
  return {
    ...ask("GET /builds/{org}/statistics", { params: { org }, query: { repo_inner_id, start_ts } }),
    refetchInterval: polling.charts,
  };
}

/** Asks for a page of a repo's builds. */
export function buildsQuery(org: string, repo_inner_id: string, start_ts: number, page: number) {
  return {
    ...ask("GET /builds/{org}", { params: { org }, query: { repo_inner_id, start_ts, page, per_page: 25 } }),
    refetchInterval: polling.charts,
  };
}

/** Asks when a repo was deployed, and how long that took, by environment. */
export function deploymentTimesQuery(org: string, repo: string, start_ts: number) {
  return {
    ...ask("GET /repos/{org}/{repo}/deployment-statistics", { params: { org, repo }, query: { start_ts } }),
    refetchInterval: polling.charts,
  };
}

/** Asks for a page of a repo's deployments into these environments, or all. */
export function deploymentsQuery(org: string, repo: string, start_ts: number, env: string[], page: number) {
  return {
    ...ask("GET /repos/{org}/{repo}/deployments", {
      params: { org, repo },
      query: { start_ts, env, page, per_page: 25 },
    }),
    refetchInterval: polling.charts,
  };
}

/** Asks what of a repo runs where now. */
export function liveQuery(org: string, repo_name: string, id: string) {
  return {
    ...alone(
      ask("GET /repos/{org}/live-artifacts/{repo_name...}", { params: { org, repo_name }, query: { id } }),
    ),
    refetchInterval: polling.charts,
  };
}
