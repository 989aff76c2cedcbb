import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import type { WebSite } from "./web.ts";

/** Reads that are not made of the demo, and why. */
const notRead: ReadonlyMap<string, string> = new Map([
  ["stream_changes", "never ends, and tells names alone"],
]);

/** A read operation, and its address with things of the demo in place of names. */
export interface DemoRead {
  operation: string;
  /** Below `/api/v2`. */
  path: string;
  /** Whether it is asked for CSV. */
  isCsv: boolean;
}

type Filled = Readonly<Record<string, string>>;

interface Item {
  id: string;
  name: string;
}

interface Attestation {
  attestation_id: string;
  attestation_name: string;
  flow_name: string;
  trail_name: string;
  artifact_fingerprint: string | null;
}

/** Reads the API of a site with its key; what is refused is an error. */
export function readerOf({ url, key }: WebSite) {
  return async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> => {
    const answer = await fetch(`${url}/api/v2${path}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      redirect: "manual",
    });
    if (answer.status >= 400)
      throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
}

const flow = "gateway-ci";

/** Finds a thing of each kind that addresses name, by the name of its place. */
async function thingsOf(site: WebSite): Promise<{ of: Filled; on: ReadonlyMap<string, readonly Filled[]> }> {
  const { org } = site;
  const read = readerOf(site);
  const get = async <T>(path: string): Promise<T> => (await (await read(path)).json()) as T;
  const [artifact] = await get<{ fingerprint: string; git_commit: string; trail_name: string }[]>(
    `/artifacts/${org}?flow_name=${flow}&per_page=1`,
  );
  const [ofTrail] = (await get<{ data: Attestation[] }>(`/attestations/${org}?flow=${flow}&per_page=1`)).data;
  // What is signed is in the organization that is open to all: the artifact, with a file.
  const open = `${org}-open`;
  const [signed] = (await get<{ data: Attestation[] }>(`/attestations/${open}?per_page=1`)).data;
  const signature: Filled = {
    org: open,
    flow_name: signed!.flow_name,
    trail_name: signed!.trail_name,
    fingerprint: signed!.artifact_fingerprint!,
    attestation_id: signed!.attestation_id,
    attestation_name: signed!.attestation_name,
  };
  const [policy] = await get<Item[]>(`/policies/${org}`);
  const [type] = await get<Item[]>(`/custom-attestation-types/${org}`);
  const { controls } = await get<{ controls: { identifier: string }[] }>(`/controls/${org}`);
  const decided = await Promise.all(
    controls.map(async ({ identifier }) => {
      const path = `/controls/${org}/${identifier}/decisions`;
      const { decisions } = await get<{ decisions: { decision_id: string }[] }>(path);
      return { identifier, decision_id: decisions[0]?.decision_id ?? "" };
    }),
  );
  const { repos } = await get<{ repos: Item[] }>(`/repos/${org}?per_page=1`);
  const [key] = await get<Item[]>(`/service-accounts/${org}/pipeline/api-keys`);
  const [member] = await get<{ user: string }[]>(`/members/${org}`);
  const actions = await get<{ number: number }[]>(`/actions/${org}`);
  const sent = await Promise.all(
    actions.map(async ({ number }) => {
      const path = `/actions/${org}/${number}/deliveries`;
      const { deliveries } = await get<{ deliveries: Item[] }>(path);
      return deliveries.map(({ id }) => ({ action_number: String(number), delivery_id: id }));
    }),
  );
  const quality = await get<{ deliveries: Item[] }>(`/integrations/${org}/quality/deliveries`);
  return {
    of: {
      org,
      env_name: "gateway-prod",
      snapshot_expression: "-1",
      flow_name: flow,
      trail_name: artifact!.trail_name,
      fingerprint: artifact!.fingerprint,
      commit_sha: artifact!.git_commit,
      search_value: artifact!.fingerprint,
      policy_name: policy!.name,
      custom_attestation_type_name: type!.name,
      ...decided.find(({ decision_id }) => decision_id !== "")!,
      version_number: "1",
      repo: repos[0]!.id,
      repo_name: repos[0]!.name,
      name: "pipeline",
      key_id: key!.id,
      user: member!.user,
      ...sent.flat()[0]!,
      notification_number: String(actions.at(-1)!.number),
      resource_type: "environment",
    },
    on: new Map<string, readonly Filled[]>([
      // One of each action: what they tell has different parts.
      ["get_notification_delivery", sent.flatMap((deliveries) => deliveries.slice(0, 1))],
      ["get_quality_delivery", [{ delivery_id: quality.deliveries[0]!.id }]],
      [
        "get_trail_attestation",
        [{ trail_name: ofTrail!.trail_name, attestation_name: ofTrail!.attestation_name }],
      ],
      ["get_artifact_attestation", [signature]],
      ["get_attestation_evidence", [signature]],
      ["download_attestation_audit_package", [signature]],
    ]),
  };
}

/** What is asked beside the address, where it has to be, or where answers then have other parts. */
const asked: Readonly<Record<string, readonly string[]>> = {
  environment_diff: [
    "snappish1=gateway-prod~1&snappish2=gateway-prod",
    "snappish1=gateway-prod~1&snappish2=gateway-staging&include=detail",
  ],
  explain_environment: ["", "rules=once"],
  get_attestations: ["per_page=5", "flow=production-release&per_page=20&include=evidence"],
  get_flows: ["per_page=5&include=latest_trails"],
  get_snapshot: ["", "rules=once"],
  list_attestations_for_criteria: ["commit_list={commit_sha}"],
  list_envs: ["per_page=3&page=2", "per_page=5&include=summary"],
  list_events: ["", "kind=verdict"],
  list_repos: ["", "per_page=1&page=2"],
  list_trails: ["per_page=3", "per_page=3&include=matrix"],
  list_trails_for_org: ["per_page=5", "per_page=5&include=matrix", "flow=production-release&per_page=5"],
  search_names: [
    "q=gateway&limit=50",
    "q=HL-&limit=50",
    "q=known&limit=50",
    "q={commit_sha}",
    "q={fingerprint}",
  ],
};

function fill(text: string, things: Filled): string {
  return text.replaceAll(/\{(\w+)(\.\.\.)?\}/g, (whole, name: string, isRest: string | undefined) => {
    const value = things[name];
    if (value === undefined) throw new Error(`The demo has nothing for ${whole} of ${text}`);
    return isRest === undefined ? encodeURIComponent(value) : value;
  });
}

/** Lists every read operation of the contract, asked of things of the demo, some of them in several ways. */
export async function demoReads(site: WebSite): Promise<DemoRead[]> {
  const { of, on } = await thingsOf(site);
  return Object.entries(endpoints as Record<string, Endpoint>)
    .filter(([operation, { method }]) => method === "GET" && !notRead.has(operation))
    .flatMap(([operation, { path, responses }]) =>
      (on.get(operation) ?? [{}]).flatMap((own) =>
        (asked[operation] ?? [""]).flatMap((query) => {
          const filled = fill(query === "" ? path : `${path}?${query}`, { ...of, ...own });
          const forms = responses[200]?.csv === undefined ? [false] : [false, true];
          return forms.map((isCsv) => ({ operation, path: filled, isCsv }));
        }),
      ),
    );
}
