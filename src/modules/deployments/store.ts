import type { PreparedExecutor } from "../../db/connect.ts";
import type { TimeWindow } from "../../domain/time-window.ts";
import {
  environmentsList,
  frequency,
  latest,
  organizationList,
  physicalIds,
  reposList,
  statistics,
} from "./statements.ts";

/** Which deployments; what is undefined does not matter, an empty list fits none. */
export interface DeploymentFilter {
  repo_ids?: readonly string[] | undefined;
  /** Physical ones. */
  environment_ids?: readonly string[] | undefined;
}

/** Where links of deployments lead. */
export interface DeploymentLinks {
  /** URL of the API. */
  api_url: string;
  /** Name of the organization. */
  org_name: string;
}

export interface DeploymentQuery extends DeploymentFilter, TimeWindow, DeploymentLinks {
  offset: number;
  limit: number;
}

export interface DeploymentPage {
  /** In the window. */
  total_count: number;
  /** The page as the text of a JSON array. */
  deployments: string;
}

/** One page of deployments, newest first, with the number of deployments in the window: one statement. */
export async function listDeployments(
  db: PreparedExecutor,
  orgId: string,
  query: DeploymentQuery,
): Promise<DeploymentPage> {
  const { repo_ids, environment_ids, start_ts, end_ts, offset, limit, api_url, org_name } = query;
  const values = [orgId, start_ts, end_ts, offset, limit, api_url, org_name];
  const [statement, filters] =
    repo_ids !== undefined
      ? [reposList, [repo_ids, environment_ids ?? null]]
      : environment_ids !== undefined
        ? [environmentsList, [environment_ids]]
        : [organizationList, []];
  const [page] = await db.prepared<DeploymentPage & Record<string, unknown>>(statement, [
    ...values,
    ...filters,
  ]);
  if (page === undefined) throw new Error("the list of deployments answered no row");
  return page;
}

/** The latest deployment of an artifact into any of these environments, as JSON text. */
export async function findLatestDeployment(
  db: PreparedExecutor,
  orgId: string,
  wanted: DeploymentLinks & { fingerprint: string; environment_ids: readonly string[] },
): Promise<string | undefined> {
  const { fingerprint, environment_ids, api_url, org_name } = wanted;
  const values = [orgId, fingerprint, environment_ids, api_url, org_name];
  const [row] = await db.prepared<{ deployments: string }>(latest, values);
  return row === undefined || row.deployments === "[]" ? undefined : row.deployments.slice(1, -1);
}

/** When artifacts were deployed, as comma-separated Unix seconds, oldest first, and how often. */
export async function listDeploymentTimes(
  db: PreparedExecutor,
  orgId: string,
  query: TimeWindow & { environment_ids: readonly string[]; flow_id: string | undefined },
): Promise<{ times: string; total_count: number }> {
  const { start_ts, end_ts, environment_ids, flow_id } = query;
  const values = [orgId, start_ts, end_ts, environment_ids, flow_id ?? null];
  const [row] = await db.prepared<{ times: string; total_count: number }>(frequency, values);
  if (row === undefined) throw new Error("the times of deployments answered no row");
  return row;
}

/** Series of a repo's deployments by environment, sorted by its name, as the text of a JSON array. */
export async function listDeploymentSeries(
  db: PreparedExecutor,
  orgId: string,
  query: TimeWindow & { repo_id: string; environment_ids: readonly string[] | undefined },
): Promise<string> {
  const { start_ts, end_ts, repo_id, environment_ids } = query;
  const values = [orgId, start_ts, end_ts, repo_id, environment_ids ?? null];
  const [row] = await db.prepared<{ environments: string }>(statistics, values);
  if (row === undefined) throw new Error("the series of deployments answered no row");
  return row.environments;
}

/** Ids of the physical environments that names mean: logical ones stand for their members, unknown ones for none. */
export async function listPhysicalIds(
  db: PreparedExecutor,
  orgId: string,
  names: readonly string[],
): Promise<string[]> {
  return (await db.prepared<{ id: string }>(physicalIds, [orgId, names])).map(({ id }) => id);
}
