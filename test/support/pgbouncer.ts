import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import type { Connection } from "./databases.ts";
import { freePort } from "./server-process.ts";

/** Version of the `pgbouncer` on the path, as `[1, 18]`; undefined when there is none. */
export function pgbouncerVersion(): [major: number, minor: number] | undefined {
  const { stdout } = spawnSync("pgbouncer", ["--version"], { encoding: "utf8" });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? "") ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

/** Whether that version keeps prepared statements in its mode of transactions. */
export function keepsPrepared([major, minor]: [number, number]): boolean {
  return major > 1 || minor >= 21;
}

interface Reached {
  host: string;
  port: number;
  user: string;
  password: string;
}

function reached(connection: Connection): Reached {
  if (typeof connection !== "string") return { ...connection, password: "" };
  const url = new URL(connection);
  const host = url.searchParams.get("host") ?? url.hostname;
  const port = Number(url.searchParams.get("port") ?? (url.port || 5432));
  return { host, port, user: url.username || "postgres", password: decodeURIComponent(url.password) };
}

/** PgBouncer refuses to be root, and private sockets have an owner. */
async function owner({ host }: Reached): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  if (!host.startsWith("/")) return { uid: 65_534, gid: 65_534 };
  const { uid, gid } = await stat(host);
  return uid === 0 ? { uid: 65_534, gid: 65_534 } : { uid, gid };
}

export interface Pooler {
  /** URL of a database through it. */
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** Starts the `pgbouncer` on the path in front of a PostgreSQL. */
export async function startPgbouncer(
  postgres: Connection,
  settings: Readonly<Record<string, string | number>>,
): Promise<Pooler> {
  const to = reached(postgres);
  const identity = await owner(to);
  const folder = await mkdtemp(join(tmpdir(), "waybill-pooler-"));
  const port = await freePort();
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    default_pool_size: 20,
    max_client_conn: 200,
    ...settings,
  };
  const password = to.password === "" ? "" : ` password=${to.password}`;
  const lines = [
    "[databases]",
    `* = host=${to.host} port=${to.port} user=${to.user}${password}`,
    "[pgbouncer]",
    ...Object.entries(all).map(([name, value]) => `${name} = ${value}`),
  ];
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  await chmod(folder, 0o700);
  if (identity !== undefined)
    for (const path of [folder, file]) await chown(path, identity.uid, identity.gid);
  const child = spawn("pgbouncer", [file], { ...identity, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const ended = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${output}`);
    await delay(20);
  }
  return { urlOf: (database) => `postgres://${to.user}@127.0.0.1:${port}/${database}`, stop };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
