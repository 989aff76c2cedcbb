import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { connect, type Database } from "../src/db/connect.ts";
import { findManagedPostgres } from "../src/db/managed/index.ts";
import { send } from "./api.ts";
import { type Server, startNode, startServer } from "./processes.ts";
import { loadTags, loadViews, viewNames } from "./views-data.ts";

/** Names of the organizations whose lists are measured, all in one database. */
export const orgs = {
  /** 100,000 environments, 1,000,000 builds. */
  large: "bench-large",
  /** 1,000 environments, 10,000 builds. */
  small: "bench-small",
  /** Receives the reports of the load. */
  reports: "bench-reports",
} as const;

/** How much the lists have. */
export interface Size {
  name: "full" | "small";
  /** Of the large organization. */
  environments: number;
  builds: number;
}

/** The usual amounts, and those of a quick look, whose figures compare with nothing. */
export const sizes: Readonly<Record<Size["name"], Size>> = {
  full: { name: "full", environments: 100_000, builds: 1_000_000 },
  small: { name: "small", environments: 1_000, builds: 10_000 },
};

const few = ["--size", "large", "--environments", "1000", "--builds", "10000"];

const fillings: Readonly<Record<Size["name"], { org: string; args: string[] }[]>> = {
  full: [
    { org: orgs.small, args: few },
    { org: orgs.reports, args: ["--size", "small"] },
    { org: orgs.large, args: ["--size", "large"] },
  ],
  small: [{ org: orgs.large, args: few }],
};

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

/** Runs `work` on the database of a running server, by its data directory, without a statement timeout. */
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

/** Vacuums and analyzes the tables, so that every run begins alike. */
async function vacuum(dataDir: string): Promise<void> {
  await withDatabase(dataDir, (db) => db.pool.query("vacuum (analyze)"));
}

/** Computes a digest of what data is made with: the migrations, and the program that fills the tables. */
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

/** A description of a server's data, and how to make it. */
export interface Filling {
  /** Unique name, also that of its folder. */
  name: string;
  /** Amounts, as text: data of other amounts is made again. */
  plan: string;
  /**
   * Files and folders of the program that makes the data, relative to this file: when they change, the data is made
   * again.
   */
  sources: string[];
  fill(server: Server): Promise<void>;
}

/** Gives the data that lists are measured with. */
export function listsFilling({ name }: Size): Filling {
  return {
    name: name === "full" ? "server" : `server-${name}`,
    plan: JSON.stringify(fillings[name]),
    sources: ["../demo/data", "../demo/model", "../demo/steps", "views-data.ts"],
    fill: async (server) => {
      for (const { org, args } of fillings[name]) {
        console.log(`Making ${org}`);
        await fill(server, org, args);
      }
      await send(server, "POST", "/api/v2/organizations", JSON.stringify({ name: viewNames.tags }));
      await withDatabase(server.dataDir, async (db) => {
        await loadTags(db);
        await loadViews(db, orgs.large);
      });
    },
  };
}

/**
 * Makes sure that a data directory has its data. What an earlier run left is used if tables and program are the same,
 * otherwise it is made again, which takes some minutes.
 * @returns the data directory.
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
    await vacuum(dataDir);
  } finally {
    await server.stop();
  }
  await writeFile(marker, version);
  return dataDir;
}
