import type { deploymentEndpoints } from "../../../contract/deployments.ts";
import { type JsonPieces, JsonText } from "../../../contract/endpoint.ts";
import type { PageText } from "../../../db/heavy-page.ts";
import type { Org } from "../../../domain/principal.ts";
import { timeWindow } from "../../../domain/time-window.ts";
import { pageLinks } from "../../../lib/links.ts";
import { pageSlice } from "../../../lib/paging.ts";
import type { CsvHandlers, Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { listAnswer } from "../../kernel/list-answer.ts";
import {
  deploymentLinks,
  deploymentLists,
  environmentWindow,
  filterByNames,
  getRepoByWireId,
  getTarget,
  readAllDeployments,
  readDeployment,
  readDeploymentTimes,
} from "./service.ts";
import { listDeployments, listDeploymentSeries } from "./store.ts";

/** Writes an object as JSON text with one more member, which is JSON text already. */
function withMember(object: Record<string, unknown>, name: string, text: string): JsonText {
  return new JsonText(`${JSON.stringify(object).slice(0, -1)},"${name}":${text}}`);
}

function pageBody(
  deps: Pick<Deps, "db" | "links">,
  call: { url: string; org: Org },
  asked: { page: number; size: number; sizeName: "per_page" | "page_size" },
  found: { total_count: number; deployments: PageText },
): JsonText | JsonPieces {
  const { page, size, sizeName } = asked;
  const { total_count, deployments } = found;
  const total_pages = size === 0 ? 0 : Math.ceil(total_count / size);
  const _links = pageLinks(call.url, page, total_pages);
  const head = { page, [sizeName]: size, total_pages, total_count, _links };
  const lists = deploymentLists(deps, call.org, deployments);
  return listAnswer(`${JSON.stringify(head).slice(0, -1)},"deployments":`, lists, "}");
}

export const deploymentHandlers: Handlers<typeof deploymentEndpoints> = {
  list_deployments: async (deps, call) => {
    const { page, per_page, repo_name, env_name } = call.query;
    const found = await listDeployments(deps.db, call.org.id, {
      ...timeWindow(call.query, deps.clock.now()),
      ...(await filterByNames(deps, call.org.id, { repo: repo_name, environments: [env_name ?? ""] })),
      ...deploymentLinks(deps, call.org),
      ...pageSlice({ page, per_page }),
    });
    return { status: 200, body: pageBody(deps, call, { page, size: per_page, sizeName: "per_page" }, found) };
  },

  get_deployment: async (deps, { org, params }) => ({
    status: 200,
    body: new JsonText(await readDeployment(deps, org, params.env_name, params.fingerprint)),
  }),

  list_env_deployments: async (deps, call) => {
    const { page, page_size, from, to } = call.query;
    const window = timeWindow({ start_ts: from, end_ts: to }, deps.clock.now(), environmentWindow);
    const { ids } = await getTarget(deps, call.org, call.params.env_name);
    const found = await listDeployments(deps.db, call.org.id, {
      ...window,
      environment_ids: ids,
      ...deploymentLinks(deps, call.org),
      ...pageSlice({ page, per_page: page_size }),
    });
    return {
      status: 200,
      body: pageBody(deps, call, { page, size: page_size, sizeName: "page_size" }, found),
    };
  },

  get_deployment_frequency: async (deps, call) => {
    const { flow_id } = call.query;
    const window = timeWindow(call.query, deps.clock.now());
    const target = await getTarget(deps, call.org, call.params.env_name);
    const wanted = { ...window, environment_ids: target.ids, flow_id };
    const { times, total_count } = await readDeploymentTimes(deps, call.org.id, wanted);
    const head = {
      environment_name: target.name,
      flow_id: flow_id || null,
      ...window,
      total_count,
      _links: { self: { href: call.url } },
    };
    return { status: 200, body: withMember(head, "deployment_timestamps", `[${times}]`) };
  },

  list_repo_deployments: async (deps, call) => {
    const { page, per_page, env } = call.query;
    const window = timeWindow(call.query, deps.clock.now());
    const repo_ids = [await getRepoByWireId(deps, call.org.id, call.params.repo)];
    const { environment_ids } = await filterByNames(deps, call.org.id, { environments: env });
    const found = await listDeployments(deps.db, call.org.id, {
      ...window,
      repo_ids,
      environment_ids,
      ...deploymentLinks(deps, call.org),
      ...pageSlice({ page, per_page }),
    });
    return { status: 200, body: pageBody(deps, call, { page, size: per_page, sizeName: "per_page" }, found) };
  },

  get_repo_deployment_statistics: async (deps, call) => {
    const window = timeWindow(call.query, deps.clock.now());
    const repo_id = await getRepoByWireId(deps, call.org.id, call.params.repo);
    const { environment_ids } = await filterByNames(deps, call.org.id, { environments: call.query.env });
    const wanted = { ...window, repo_id, environment_ids };
    const series = await listDeploymentSeries(deps.db, call.org.id, wanted);
    const head = { ...window, _links: { self: { href: call.url } } };
    return { status: 200, body: withMember(head, "environments", series) };
  },
};

export const deploymentCsv: CsvHandlers<typeof deploymentEndpoints> = {
  list_deployments: async (deps, { org, query }) => {
    const { repo_name, env_name } = query;
    const filter = await filterByNames(deps, org.id, { repo: repo_name, environments: [env_name ?? ""] });
    return readAllDeployments(deps, org, { ...timeWindow(query, deps.clock.now()), ...filter });
  },
  list_env_deployments: async (deps, { org, params, query }) => {
    const window = timeWindow(
      { start_ts: query.from, end_ts: query.to },
      deps.clock.now(),
      environmentWindow,
    );
    const { ids } = await getTarget(deps, org, params.env_name);
    return readAllDeployments(deps, org, { ...window, environment_ids: ids });
  },
  list_repo_deployments: async (deps, { org, params, query }) => {
    const window = timeWindow(query, deps.clock.now());
    const repo_ids = [await getRepoByWireId(deps, org.id, params.repo)];
    const { environment_ids } = await filterByNames(deps, org.id, { environments: query.env });
    return readAllDeployments(deps, org, { ...window, repo_ids, environment_ids });
  },
};
