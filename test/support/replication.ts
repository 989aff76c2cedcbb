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

/** A PostgreSQL and a standby of the bundled engine, which streams from it. */
export interface Replicated {
  primaryUrl: string;
  standbyUrl: string;
  /** Runs a statement on the standby, as the superuser. */
  onStandby<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]>;
  /** Ends the standby at once, as a crash does. */
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  stop(): Promise<void>;
}

/** Disks do not matter here; the order of commits does. */
const settings = { fsync: "off" };

const socketUrl = (directory: string): string =>
  `postgres://waybill@localhost/waybill?host=${encodeURIComponent(directory)}&port=5432`;

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
  await appendFile(
    join(cluster, "postgresql.conf"),
    `\nprimary_conninfo = 'host=${primarySocket} port=5432 user=waybill application_name=standby'\n`,
  );
}

/** Starts both, with an empty database. */
export async function startReplicated(): Promise<Replicated> {
  const folder = await mkdtemp(join(tmpdir(), "waybill-replicated-"));
  await chmod(folder, 0o755);
  const [primaryDir, standbyDir] = [join(folder, "primary"), join(folder, "standby")];
  const start = (): Promise<ManagedPostgres> =>
    startManagedPostgres({ dataDir: primaryDir, log: silentLog, settings });
  const first = await start();
  await first.stop();
  await copyCluster(primaryDir, standbyDir, first.connection.host);
  const primary = await start();

  const identity = await chooseIdentity(standbyDir);
  const layout = await layoutOf(standbyDir);
  const engine = await prepareEngine({ layout, identity, log: silentLog });
  const socket = await prepareSocketDirectory(layout, identity);
  const standbyUrl = socketUrl(socket);
  let child: ChildProcess | undefined;
  async function startStandby(): Promise<void> {
    const all = {
      ...settings,
      listen_addresses: "",
      unix_socket_directories: socket,
      port: "5432",
      hot_standby: "on",
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
    await untilAnswers(standbyUrl, started, () => output);
  }
  async function killStandby(): Promise<void> {
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGQUIT");
    await ended;
  }
  await startStandby();
  return {
    primaryUrl: socketUrl(primary.connection.host),
    standbyUrl,
    onStandby: (statement) => ask(standbyUrl, statement),
    killStandby,
    startStandby,
    stop: async () => {
      await killStandby();
      await primary.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
