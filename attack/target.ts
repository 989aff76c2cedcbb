import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { postmasterOf, type Server, type ServerStart, startServer } from "../bench/processes.ts";
import { Client, emptyTally, json, type Target } from "./client.ts";
import { numbers } from "./scene.ts";

/** Makes a data directory that PostgreSQL's own user can reach, and removes it after `work`. */
export async function withDataDir<T>(work: (dataDir: string) => Promise<T>, parent = tmpdir()): Promise<T> {
  const folder = await mkdtemp(join(parent, "waybill-attack-"));
  await chmod(folder, 0o755);
  const dataDir = join(folder, "data");
  await mkdir(dataDir);
  try {
    return await work(dataDir);
  } finally {
    await killPostgres(dataDir, "SIGQUIT");
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** Sends a signal to the PostgreSQL of a data directory, if there is one. @returns whether there was. */
export async function killPostgres(dataDir: string, signal: NodeJS.Signals): Promise<boolean> {
  const pid = await postmasterOf(dataDir);
  if (pid === undefined) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

const listed = 20;

/** Creates the two organizations: one to attack, and one of callers who must not notice. */
export async function createOrganizations(url: string, key: string): Promise<Target> {
  const label = Date.now().toString(36);
  const target: Target = { url, key, org: `attack-${label}`, quietOrg: `quiet-${label}` };
  const client = new Client(target, emptyTally());
  for (const name of [target.org, target.quietOrg])
    await client.need("POST", "/organizations", json({ name }));
  await client.need("PATCH", `/organizations/${target.org}`, json({ public: true }));
  for (const index of numbers(listed)) {
    const environment = { name: `quiet-${index}`, type: "server", description: "" };
    await client.need("PUT", `/environments/${target.quietOrg}`, json(environment));
  }
  client.close();
  return target;
}

/** Starts a server of our own, as users run it; its notifications may go to this machine. */
export function startOwn(dataDir: string, start: ServerStart = {}): Promise<Server> {
  return startServer(dataDir, { ...start, env: { WAYBILL_ALLOW_PRIVATE_TARGETS: "1", ...start.env } });
}

/** Starts a server that tells how long its event loop is held. */
export async function startWatched(dataDir: string, start: ServerStart = {}): Promise<Server> {
  const watch = new URL("loop-watch.mjs", import.meta.url).href;
  const server = await startOwn(dataDir, {
    ...start,
    env: { ...start.env, NODE_OPTIONS: `--import ${watch}` },
  });
  // Node keeps what nobody listens to for the first who does: the start would be taken for the first shape.
  server.child.on("message", () => {});
  return server;
}
