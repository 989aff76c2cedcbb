import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import pg from "pg";

import { prepareEngine } from "../../src/db/managed/engine-copy.ts";
import { chooseIdentity, spawnOptions } from "../../src/db/managed/identity.ts";
import { type ManagedPostgres, startManagedPostgres } from "../../src/db/managed/index.ts";
import { layoutOf } from "../../src/db/managed/layout.ts";
import { prepareSocketDirectory } from "../../src/db/managed/socket.ts";
import { silentLog } from "../../src/lib/log.ts";

const run = promisify(execFile);

/** A standby of the bundled engine. */
export interface Standby {
  url: string;
  /** The folder of its socket. */
  socket: string;
  /** Runs a statement on it, as the superuser. */
  ask<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]>;
  /** Starts it. @param following what it follows in place of the primary that it was copied from. */
  start(following?: Standby): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>;
}

/** A PostgreSQL and standbys of the bundled engine, which stream from it. */
export interface Replicated {
  primaryUrl: string;
  /** The first one does what is named after the standby here. */
  standbys: readonly Standby[];
  standbyUrl: string;
  onPrimary: Standby["ask"];
  onStandby: Standby["ask"];
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** Ends the primary alone, and what it wrote has reached whoever follows it. */
  stopPrimary(): Promise<void>;
  stop(): Promise<void>;
}

/** Disks do not matter here; the order of commits does. */
const settings = { fsync: "off" };

const socketUrl = (directory: string): string =>
  `postgres://waybill@localhost/waybill?host=${encodeURIComponent(directory)}&port=5432`;

const conninfo = (socket: string): string => `host=${socket} port=5432 user=waybill application_name=standby`;

async function ask<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function untilAnswers(url: string, child: ChildProcess, output: () => string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the standby ended: ${output()}`);
    const answers = await ask(url, "select 1").then(
      () => true,
      () => false,
    );
    if (answers) return;
    await delay(50);
  }
}

/**
 * Makes the standby: the primary's folder as it was when it stopped, which then follows what the primary writes from there
 * on.
 */
async function copyCluster(source: string, target: string, primarySocket: string): Promise<void> {
  await run("cp", ["-a", source, target]);
  const { cluster } = await layoutOf(target);
  await writeFile(join(cluster, "standby.signal"), "");
  await appendFile(join(cluster, "postgresql.conf"), `\nprimary_conninfo = '${conninfo(primarySocket)}'\n`);
}

/** Prepares a standby whose folder was made. */
async function prepareStandby(dataDir: string): Promise<Standby> {
  const identity = await chooseIdentity(dataDir);
  const layout = await layoutOf(dataDir);
  const engine = await prepareEngine({ layout, identity, log: silentLog });
  const socket = await prepareSocketDirectory(layout, identity);
  const url = socketUrl(socket);
  let child: ChildProcess | undefined;
  async function start(following?: Standby): Promise<void> {
    const all: Record<string, string> = {
      ...settings,
      listen_addresses: "",
      unix_socket_directories: socket,
      port: "5432",
      hot_standby: "on",
      ...(following && { primary_conninfo: conninfo(following.socket) }),
    };
    const options = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const started = spawn(join(engine.native, "bin", "postgres"), ["-D", layout.cluster, ...options], {
      ...spawnOptions(identity),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    child = started;
    await untilAnswers(url, started, () => output);
  }
  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGQUIT");
    await ended;
  }
  return { url, socket, ask: (statement) => ask(url, statement), start, kill };
}

/** Starts all, with an empty database. */
export async function startReplicated({ standbys: count = 1 } = {}): Promise<Replicated> {
  const folder = await mkdtemp(join(tmpdir(), "waybill-replicated-"));
  await chmod(folder, 0o755);
  const primaryDir = join(folder, "primary");
  const startPrimary = (): Promise<ManagedPostgres> =>
    startManagedPostgres({ dataDir: primaryDir, log: silentLog, settings });
  const empty = await startPrimary();
  await empty.stop();
  const folders = Array.from({ length: count }, (_, index) => join(folder, `standby-${index}`));
  for (const each of folders) await copyCluster(primaryDir, each, empty.connection.host);
  const primary = await startPrimary();
  const primaryUrl = socketUrl(primary.connection.host);
  const standbys = await Promise.all(folders.map(prepareStandby));
  await Promise.all(standbys.map((each) => each.start()));
  const [first] = standbys as [Standby];
  return {
    primaryUrl,
    standbys,
    standbyUrl: first.url,
    onPrimary: (statement) => ask(primaryUrl, statement),
    onStandby: first.ask,
    killStandby: first.kill,
    startStandby: first.start,
    stopPrimary: () => primary.stop(),
    stop: async () => {
      await Promise.all(standbys.map((each) => each.kill()));
      await primary.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
