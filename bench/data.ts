import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { connect } from "../src/db/connect.ts";
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

/** Leaves the tables as autovacuum does when nothing else happens for a while, so that every run begins alike. */
async function settle(dataDir: string): Promise<void> {
  const connection = await findManagedPostgres(dataDir);
  if (connection === undefined) throw new Error("The server's database is not within reach");
  const db = connect({ connection, max: 1 });
  try {
    await db.pool.query("set statement_timeout = 0");
    await db.pool.query("vacuum (analyze)");
  } finally {
    await db.close();
  }
}

/** What the data was made with: the tables, and the program that fills them. */
async function versionOfData(): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(fillings));
  for (const folder of ["../migrations", "../src/cli/demo/model", "../src/cli/demo/steps"]) {
    const path = new URL(folder, import.meta.url).pathname;
    const names = (await readdir(path)).filter((name) => !name.endsWith(".test.ts")).sort();
    for (const name of names) hash.update(name).update(await readFile(join(path, name)));
  }
  return hash.digest("hex");
}

/**
 * Makes sure that a data directory has the benchmark's data: what an earlier run left is used if it was made with the
 * same tables and the same program, else it is made again, which takes some minutes.
 */
export async function prepareData(folder: string, fresh: boolean): Promise<string> {
  const dataDir = join(folder, "server");
  const marker = join(folder, "complete");
  if ((await findManagedPostgres(dataDir)) !== undefined)
    throw new Error(`A server runs on ${dataDir}: stop it, or name another folder with --data`);
  const version = await versionOfData();
  const present = await readFile(marker, "utf8").catch(() => "");
  if (!fresh && present === version) return dataDir;
  await rm(marker, { force: true });
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true });
  await chmod(folder, 0o755);
  const server = await startServer(dataDir);
  try {
    for (const { org, args } of fillings) {
      console.log(`Making ${org}`);
      await fill(server, org, args);
    }
    await settle(dataDir);
  } finally {
    await server.stop();
  }
  await writeFile(marker, version);
  return dataDir;
}
