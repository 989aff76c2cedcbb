import type { FastifyInstance, FastifyRequest } from "fastify";

import { isStorable } from "../lib/json.ts";

/** What an address of the API names: its places and its query, one value each. */
type Named = Readonly<Record<string, string | undefined>>;

const segments = (text: string): string => text.split("/").map(encodeURIComponent).join("/");

/** Fills a path: `/{org}/repos/{repo_name...}`. Undefined when it names what the address does not say. */
function fill(path: string, named: Named): string | undefined {
  const places = [...path.matchAll(/\{(\w+)/g)].map(([, name = ""]) => name);
  if (places.some((name) => named[name] === undefined)) return undefined;
  return path.replace(/\{(\w+)(\.\.\.)?\}/g, (_place, name: string, isRest: string | undefined) =>
    isRest === undefined ? encodeURIComponent(named[name] ?? "") : segments(named[name] ?? ""),
  );
}

/** Writes which snapshot is meant as its page has it: `latest`, `~3` behind it, a number, or as it was said. */
function snapshotOnPage(expression: string): string {
  const [, sign = "", digits = ""] = /^([#-]?)(\d{1,9})$/.exec(expression) ?? [];
  if (digits === "") return expression;
  if (sign !== "-") return String(Number(digits));
  return Number(digits) <= 1 ? "latest" : `~${Number(digits) - 1}`;
}

const artifact = "/{org}/flows/{flow_name}/artifacts/{fingerprint}";
const trail = "/{org}/flows/{flow_name}/trails/{trail_name}";
const control = "/{org}/controls/{identifier}";
const snapshot = "/{org}/environments/{env_name}/snapshots/{snapshot_on_page}";

/**
 * The page of what an operation reads, with the parts of the query that it has in common. What is not here has no page, or is
 * a file: it answers itself.
 */
export const pagesOf: Readonly<
  Record<string, readonly [path: string, query?: Readonly<Record<string, string>>]>
> = {
  list_envs: ["/{org}/environments"],
  get_environment: ["/{org}/environments/{env_name}"],
  get_env_events: ["/{org}/environments/{env_name}/log"],
  list_env_deployments: ["/{org}/environments/{env_name}/deployments"],
  list_snapshots: ["/{org}/environments/{env_name}/snapshots"],
  get_snapshot: [snapshot],
  explain_environment: [snapshot],
  environment_diff: ["/{org}/diff", { snappish1: "from", snappish2: "to" }],
  get_flows: ["/{org}/flows"],
  get_flow: ["/{org}/flows/{flow_name}"],
  list_artifacts: ["/{org}/flows/{flow_name}/artifacts"],
  get_artifact_by_fingerprint: [artifact],
  explain_artifact: [artifact],
  get_artifact_by_commit_sha: ["/{org}/commits/{commit_sha}"],
  list_trails_for_org: ["/{org}/trails", { flow: "flow" }],
  list_trails: ["/{org}/flows/{flow_name}"],
  get_trail: [trail],
  explain_trail: [trail],
  get_attestations: ["/{org}/attestations", { attestation_id: "attestation_id" }],
  get_flow_attestations: ["/{org}/attestations", { flow_name: "flow" }],
  get_trail_attestation: [trail],
  get_artifact_attestation: [artifact],
  list_repos: ["/{org}/repos"],
  get_repo: ["/{org}/repos/{repo_name...}", { id: "id", provider: "provider" }],
  get_repo_live_artifacts: ["/{org}/repos/{repo_name...}", { id: "id", provider: "provider" }],
  list_policies: ["/{org}/policies"],
  get_policy: ["/{org}/policies/{policy_name}"],
  list_controls: ["/{org}/controls"],
  get_control: [control],
  get_control_coverage: [control],
  list_control_decisions: [control],
  get_control_decision: [control],
  list_control_versions: [control],
  get_control_version: [control],
};

/** Finds the page of the same resource, as a path below the public URL; undefined where there is none. */
function pageOf(operationId: string, named: Named): string | undefined {
  const entry = pagesOf[operationId];
  if (entry === undefined || !Object.values(named).every((value) => value === undefined || isStorable(value)))
    return undefined;
  const [path, shared = {}] = entry;
  const expression = named["snapshot_expression"] ?? named["snapshot"] ?? "-1";
  const filled = fill(path, { ...named, snapshot_on_page: snapshotOnPage(expression) });
  const query = Object.entries(shared).flatMap(([from, to]) => {
    const value = named[from];
    return value === undefined || value === "" ? [] : [`${to}=${encodeURIComponent(value)}`];
  });
  return filled === undefined || query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

/** Says whether a person opens this address in a browser. Programs do not say what they will do with an answer. */
function isOpenedByPerson({ method, headers }: FastifyRequest): boolean {
  return (
    method === "GET" &&
    headers["sec-fetch-dest"] === "document" &&
    /\btext\/html\b/.test(headers.accept ?? "")
  );
}

/** Reads what a request names. Of a parameter that is given twice nobody knows which one is meant. */
function namedBy(request: FastifyRequest): Named {
  const { "*": rest, ...params } = request.params as Record<string, string>;
  const texts = Object.entries(request.query as Record<string, unknown>).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return { ...Object.fromEntries(texts), ...params, ...(rest === undefined ? {} : { repo_name: rest }) };
}

/**
 * Leads people who open a link of an answer to the page that shows it, before anybody asks who they are: the page does. Tells
 * nothing but what the address says.
 */
export function registerPageLinks(app: FastifyInstance, publicUrl: string): void {
  app.addHook("onRequest", async (request, reply) => {
    const { operationId } = request.routeOptions.config;
    if (operationId === undefined || !isOpenedByPerson(request)) return undefined;
    const page = pageOf(operationId, namedBy(request));
    if (page === undefined) return undefined;
    return reply.header("vary", "Accept, Sec-Fetch-Dest").redirect(publicUrl + page, 303);
  });
}
