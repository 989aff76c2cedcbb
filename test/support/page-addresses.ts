import { pagePaths } from "../../web/paths.ts";
import { ask } from "./site.ts";
import type { WebSite } from "./web.ts";

/** Things of the demo, by the names they have in the addresses of pages. */
type Values = Readonly<Record<string, string>>;

interface Named {
  name: string;
}

/** The first of each list; its places are those of `$name`s in addresses. */
async function valuesOf(site: WebSite): Promise<Values> {
  const { org } = site;
  const get = <T>(path: string): Promise<T> => ask(site, "GET", path);
  const [artifact] = await get<{ fingerprint: string; git_commit: string; trail_name: string }[]>(
    `/artifacts/${org}?flow_name=gateway-ci&per_page=1`,
  );
  const [policy] = await get<Named[]>(`/policies/${org}`);
  const [type] = await get<Named[]>(`/custom-attestation-types/${org}`);
  const { controls } = await get<{ controls: { identifier: string }[] }>(`/controls/${org}`);
  const { repos } = await get<{ repos: Named[] }>(`/repos/${org}?per_page=1`);
  return {
    org,
    env: "gateway-prod",
    expression: "latest",
    flow: "gateway-ci",
    trail: artifact!.trail_name,
    fingerprint: artifact!.fingerprint,
    sha: artifact!.git_commit,
    "": repos[0]!.name,
    policy: policy!.name,
    type: type?.name ?? "",
    control: controls[0]?.identifier ?? "",
    number: "1",
  };
}

/** Makes what fills the pattern of a page's address with things of the demo. */
export async function addressFiller(site: WebSite): Promise<(path: string) => string> {
  const values = await valuesOf(site);
  return (path) => path.replaceAll(/\$(\w*)/g, (_whole, name: string) => values[name]!);
}

/** Lists the addresses of all pages, filled with things of the demo. */
export async function pageAddresses(site: WebSite): Promise<string[]> {
  return pagePaths.map(await addressFiller(site));
}
