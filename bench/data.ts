import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { connect, type Database } from "../src/db/connect.ts";
import { findManagedPostgres } from "../src/db/managed/index.ts";
import { type Server, startNode, startServer } from "./processes.ts";

/** The organizations that are measured, all in one database. */
export const orgs = {
  /** 100,000 environments, 1,000,000 builds. */
  large: "bench-large",
  /** The same company with 1,000 environments and 10,000 builds. */
  small: "bench-small",
  /** Takes the reports. */
  reports: "bench-reports",
} as const;

const fillings: { org: string; args: string[] }[] = [
  { org: orgs.small, args: ["--size", "large", "--environments", "1000", "--builds", "10000"] },
  { org: orgs.reports, args: ["--size", "small"] },
  { org: orgs.large, args: ["--size", "large"] },
];

async function fill(server: Server, org: string, args: string[]): Promise<void> {
  const child = startNode({
    args: ["dist/main.js", "demo", "--org", org, "--key", server.key, "--url", server.url, ...args],
    env: { WAYBILL_DATA_DIR: server.dataDir },
  });
  child.stdout?.on("data", (text: Buffer) => {
    // The last thing it prints are commands with a key in them.
    for (const line of text.toString().split("\n"))
      if (/: \d/.test(line) && !line.includes("curl")) console.log(`  ${line}`);
  });
  const [status] = (await once(child, "exit")) as [number | null];
  if (status !== 0) throw new Error(`Filling ${org} failed`);
}

/** Works on the database of a server that runs on a data directory, beside it and without its limits of time. */
export async function withDatabase<T>(dataDir: string, work: (db: Database) => Promise<T>): Promise<T> {
  const connection = await findManagedPostgres(dataDir);
  if (connection === undefined) throw new Error("The server's database is not within reach");
  const db = connect({ connection, max: 1 });
  try {
    await db.pool.query("set statement_timeout = 0");
    return await work(db);
  } finally {
    await db.close();
  }
}

/** Leaves the tables as autovacuum does when nothing else happens for a while, so that every run begins alike. */
async function settle(dataDir: string): Promise<void> {
  await withDatabase(dataDir, (db) => db.pool.query("vacuum (analyze)"));
}

/** What data is made with: the tables, and the program that fills them. */
async function versionOf({ plan, sources }: Filling): Promise<string> {
  const hash = createHash("sha256").update(plan);
  for (const source of ["../migrations", ...sources]) {
    const path = new URL(source, import.meta.url).pathname;
    const files = path.endsWith(".ts")
      ? [path]
      : (await readdir(path)).filter((name) => !name.endsWith(".test.ts")).map((name) => join(path, name));
    for (const file of files.sort()) hash.update(basename(file)).update(await readFile(file));
  }
  return hash.digest("hex");
}

/** How the data of a server is made. */
export interface Filling {
  /** Tells it from the others. */
  name: string;
  /** How much of what, as text. */
  plan: string;
  /** Files and folders of the program that fills, relative to this one: when they change the data is made again. */
  sources: string[];
  fill(server: Server): Promise<void>;
}

/** What lists are measured with. */
export const listsFilling: Filling = {
  name: "server",
  plan: JSON.stringify(fillings),
  sources: ["../demo/model", "../demo/steps"],
  fill: async (server) => {
    for (const { org, args } of fillings) {
      console.log(`Making ${org}`);
      await fill(server, org, args);
    }
  },
};

/**
 * Makes sure that a data directory has the benchmark's data: what an earlier run left is used if it was made with the
 * same tables and the same program, else it is made again, which takes some minutes.
 */
export async function prepareData(folder: string, filling: Filling, fresh: boolean): Promise<string> {
  const dataDir = join(folder, filling.name);
  const marker = join(folder, `${filling.name}-complete`);
  if ((await findManagedPostgres(dataDir)) !== undefined)
    throw new Error(`A server runs on ${dataDir}: stop it, or name another folder with --data`);
  const version = await versionOf(filling);
  const present = await readFile(marker, "utf8").catch(() => "");
  if (!fresh && present === version) return dataDir;
  await rm(marker, { force: true });
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true });
  await chmod(folder, 0o755);
  const server = await startServer(dataDir);
  try {
    await filling.fill(server);
    await settle(dataDir);
  } finally {
    await server.stop();
  }
  await writeFile(marker, version);
  return dataDir;
}
