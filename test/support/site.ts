import { setTimeout as delay } from "node:timers/promises";

import { initialAdminKey, type ServerProcess, startServer } from "./server-process.ts";

/** Where a server is, and whose key is used there. */
interface Called {
  url: string;
  key: string;
}

/** A server process and its first organization, as its administrator uses them. Its address is that of whichever server it has. */
export interface Site extends Readonly<Called> {
  server: ServerProcess;
  org: string;
}

/** Calls the API, with JSON or with a form. @param path below `/api/v2`. */
export function call({ url, key }: Called, method: string, path: string, body?: unknown): Promise<Response> {
  const isForm = body instanceof FormData;
  const isJson = body !== undefined && !isForm;
  return fetch(`${url}/api/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(isJson ? { "content-type": "application/json" } : {}),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
}

// Tests read answers freely; what they read is compared at once.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** Calls the API, which has to go well. */
export async function ask(called: Called, method: string, path: string, body?: unknown): Promise<Json> {
  const answer = await call(called, method, path, body);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

/** A form as clients send it: fields of JSON, and files. */
export function form(fields: Record<string, unknown>, files: Record<string, string> = {}): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, JSON.stringify(value));
  for (const [name, content] of Object.entries(files)) data.set(name, new Blob([content]), `${name}.txt`);
  return data;
}

/** Starts a server on a data directory and finds its first organization. */
export async function startSite(dataDir: string, environment: Record<string, string> = {}): Promise<Site> {
  const site = {
    server: await startServer(dataDir, environment),
    get url() {
      return this.server.url;
    },
    key: initialAdminKey(dataDir),
    org: "",
  };
  const organizations: { name: string; kind: string }[] = await ask(site, "GET", "/organizations");
  site.org = organizations.find(({ kind }) => kind === "shared")!.name;
  return site;
}

/** Deliveries of an action that are still to be made. */
export async function waitingDeliveries(site: Site, action = 1): Promise<number> {
  const path = `/actions/${site.org}/${action}/deliveries?status=waiting&per_page=1`;
  return (await ask(site, "GET", path)).total_count;
}

/** Waits until something is so. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(100);
}
