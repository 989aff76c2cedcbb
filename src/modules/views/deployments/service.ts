import type { CsvRows } from "../../../contract/csv.ts";
import { type PageText, readHeavy } from "../../../db/heavy-page.ts";
import { notFound } from "../../../domain/errors.ts";
import { type TimeWindow, type WindowParameters } from "../../../domain/time-window.ts";
import { daySeconds } from "../../../lib/units.ts";
import { parseWireId } from "../../../lib/ids.ts";
import type { Deps } from "../../kernel/deps.ts";
import { findRepoIds, getRepoId } from "../../process/repos/service.ts";
import type { Org } from "../../../domain/principal.ts";
import { getReadableEnvironment } from "../../runtime/environments/service.ts";
import {
  type DeploymentFilter,
  type DeploymentLinks,
  type DeploymentPlace,
  findLatestDeployment,
  listDeploymentsAfter,
  listDeploymentsByKey,
  listDeploymentTimes,
  listPhysicalIds,
} from "./store.ts";

/** How the list of an environment names its window (contract catalog 3.2). */
export const environmentWindow: WindowParameters = { start: "from", end: "to", length: 30 * daySeconds };

type Using = Pick<Deps, "db" | "links">;

/** Says where links of an organization's deployments lead. */
export function deploymentLinks({ links }: Pick<Deps, "links">, org: Org): DeploymentLinks {
  return { api_url: links.api(""), org_name: org.name };
}

/** Finds what names of a repo and of environments mean. Empty names are not given; unknown ones fit nothing. */
export async function filterByNames(
  { db }: Using,
  orgId: string,
  names: { repo?: string | undefined; environments?: readonly string[] | undefined },
): Promise<DeploymentFilter> {
  const environments = (names.environments ?? []).filter((name) => name !== "");
  return {
    repo_ids: names.repo
      ? await findRepoIds(db, orgId, { name: names.repo, id: undefined, repo_id: undefined })
      : undefined,
    environment_ids: environments.length === 0 ? undefined : await listPhysicalIds(db, orgId, environments),
  };
}

/**
 * Finds the id of the repo with this wire id.
 * @throws AppError not_found.
 */
export function getRepoByWireId({ db }: Using, orgId: string, id: string): Promise<string> {
  return getRepoId(db, orgId, { id, name: id, provider: undefined });
}

/** An environment in a path, with the physical ones that it is or stands for. */
export interface DeploymentTarget {
  name: string;
  ids: string[];
}

/**
 * Finds the environment of this present or former name, an archived one by its archived name.
 * @throws AppError not_found (contract environments 2.5).
 */
export async function getTarget({ db }: Using, org: Org, name: string): Promise<DeploymentTarget> {
  const found = await getReadableEnvironment(db, org, name);
  const ids = found.type === "logical" ? await listPhysicalIds(db, org.id, [found.name]) : [found.id];
  return { name: found.name, ids };
}

/**
 * Reads the latest deployment of an artifact into an environment, as JSON text.
 * @throws AppError not_found when there is no such environment, or the artifact was never deployed there.
 */
export async function readDeployment(
  deps: Using,
  org: Org,
  environment: string,
  fingerprint: string,
): Promise<string> {
  const { ids } = await getTarget(deps, org, environment);
  const wanted = { ...deploymentLinks(deps, org), fingerprint, environment_ids: ids };
  const found = await findLatestDeployment(deps.db, org.id, wanted);
  if (found !== undefined) return found;
  throw notFound(
    `Deployment of artifact '${fingerprint}' to environment '${environment}' does not exist for organization '${org.name}'`,
  );
}

/**
 * Reads when artifacts of a flow were deployed into environments. An empty id means all flows, and what is no id is that
 * of no flow.
 */
export async function readDeploymentTimes(
  { db }: Using,
  orgId: string,
  query: TimeWindow & { environment_ids: readonly string[]; flow_id: string | undefined },
): Promise<{ times: string; total_count: number }> {
  if (!query.flow_id) return listDeploymentTimes(db, orgId, { ...query, flow_id: undefined });
  const flow_id = parseWireId(query.flow_id);
  if (flow_id === undefined) return { times: "", total_count: 0 };
  return listDeploymentTimes(db, orgId, { ...query, flow_id });
}

/** Gives what was read of a page, or reads it some deployments at a time: texts of JSON arrays. */
export function deploymentLists(
  { db, links }: Using,
  org: Org,
  { list, heavy }: PageText,
): string | AsyncGenerator<string> {
  const read = (keys: readonly string[]) =>
    listDeploymentsByKey(db, org.id, { ...deploymentLinks({ links }, org), keys });
  return list ?? readHeavy(db, heavy, read);
}

/** Deployments that are read at a time for CSV. */
const batch = 200;

/** Reads all deployments in a window, newest first, each batch from the last one of that before. */
export async function readAllDeployments(
  deps: Using,
  org: Org,
  wanted: DeploymentFilter & TimeWindow,
): Promise<CsvRows> {
  const { db } = deps;
  const read = (after: DeploymentPlace | undefined) =>
    db.sliced(() =>
      listDeploymentsAfter(db, org.id, { ...wanted, ...deploymentLinks(deps, org), after, limit: batch }),
    );
  const first = await read(undefined);
  async function* batches(): AsyncGenerator<object[]> {
    for (let found = first; found.last !== null; found = await read(found.last)) {
      const lists = deploymentLists(deps, org, found.deployments);
      for await (const list of typeof lists === "string" ? [lists] : lists)
        yield JSON.parse(list) as object[];
    }
  }
  return batches();
}
