import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { TestProject } from "vitest/node";

import { prepareDatabase } from "../../src/open-database.ts";
import { endpoints } from "../../src/contract/index.ts";
import { startManagedPostgres } from "../../src/db/managed/index.ts";
import { layoutOf } from "../../src/db/managed/layout.ts";
import { distribute } from "../../src/db/citus/distribute.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import { withSchema } from "../../src/db/migrate.ts";
import { silentLog } from "../../src/lib/log.ts";
import {
  type Connection,
  createDatabase,
  dropDatabase,
  isCluster,
  joinNodes,
  sealTemplate,
  withDatabase,
} from "./databases.ts";
import { divideTables } from "./divide.ts";
import { useMemory } from "./memory-folder.ts";
import { offerFolder } from "./program.ts";
import { offerSite } from "./web-site.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Where the run's PostgreSQL is. */
    postgres: Connection;
    /** A migrated, empty database to clone. */
    template: string;
    /** Whether that is a Citus cluster, over whose nodes the database is spread. */
    cluster: boolean;
    /** Whether its tables of record are divided by months. */
    divided: boolean;
    /** Where tests note the operations they reached. */
    coverageFile: string;
    /** Tells where the run's site with the web app is, and starts it. */
    webSite: string;
  }
}

/**
 * Tests need no durability of their own: the durability tests run a server with the real settings. Each of several servers at a time may take
 * 18 connections.
 */
const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

/** Prints what PostgreSQL logged of files it could not use: statements that failed for it say no more than to look there. */
async function tellOfTroubles(dataDir: string): Promise<void> {
  const { logFile } = await layoutOf(dataDir);
  const log = await readFile(logFile, "utf8").catch(() => "");
  const troubles = log
    .split("\n")
    .filter((line) => /could not (?:write|extend|fsync|open|rename)/.test(line));
  for (const line of troubles.slice(0, 10)) console.warn(`PostgreSQL: ${line}`);
}

async function startPostgres(): Promise<{ connection: Connection; stop(): Promise<void> }> {
  const external = process.env["TEST_DATABASE_URL"];
  if (external !== undefined && external !== "") return { connection: external, stop: async () => {} };
  const dataDir = await mkdtemp(join(tmpdir(), "waybill-test-"));
  await chmod(dataDir, 0o755);
  const managed = await startManagedPostgres({ dataDir, log: silentLog, settings });
  return {
    connection: managed.connection,
    stop: async () => {
      await managed.stop();
      await tellOfTroubles(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whether every test file runs: nothing but the command itself was given. */
function isWholeRun(): boolean {
  return process.argv.slice(2).every((argument) => argument === "run");
}

/** Operations that no test of a whole run called with success. */
async function uncoveredOperations(notes: string): Promise<string[]> {
  const text = await readFile(join(notes, "operations"), "utf8").catch(() => "");
  const reached = new Set(
    text
      .split("\n")
      .filter((line) => / 2\d\d$/.test(line))
      .map((line) => line.split(" ", 1)[0]),
  );
  return Object.keys(endpoints).filter((id) => !reached.has(id));
}

/** Fills the template with the schema, as the environment of the run wants it. */
async function prepareTemplate(
  db: Database,
  { onCluster, divided }: { onCluster: boolean; divided: boolean },
) {
  await prepareDatabase(db, silentLog);
  if (onCluster) await withSchema(db.pool, (client) => distribute(client, () => {}));
  if (!divided) return;
  if (onCluster) throw new Error("WAYBILL_TEST_DIVIDED: tables are not divided by months on Citus");
  await divideTables(db);
  console.log("Tables of record are divided by months in this run: WAYBILL_TEST_DIVIDED.");
}

/** One PostgreSQL for the run, or the one `TEST_DATABASE_URL` names; one migrated database that test files clone. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const leaveMemory = useMemory();
  const { connection, stop } = await startPostgres();
  const template = `waybill_template_${process.pid}`;
  await createDatabase(connection, template);
  const onCluster = await isCluster(connection);
  if (onCluster) await joinNodes(connection, template);
  else console.log("The database is not distributed: TEST_DATABASE_URL names no Citus coordinator.");
  const db = connect({ connection: withDatabase(connection, template), max: 3 });
  const divided = process.env["WAYBILL_TEST_DIVIDED"] === "1";
  await prepareTemplate(db, { onCluster, divided });
  await db.close();
  await sealTemplate(connection, template);
  const notes = await mkdtemp(join(tmpdir(), "waybill-coverage-"));
  project.provide("coverageFile", join(notes, "operations"));
  project.provide("postgres", connection);
  project.provide("cluster", onCluster);
  project.provide("divided", divided);
  project.provide("template", template);
  const folder = offerFolder();
  project.onTestsRerun(folder.renew);
  const site = await offerSite();
  project.provide("webSite", site.address);
  return async () => {
    const uncovered = isWholeRun() ? await uncoveredOperations(notes) : [];
    await rm(notes, { recursive: true, force: true });
    await site.end();
    folder.remove();
    await dropDatabase(connection, template);
    await stop();
    leaveMemory();
    if (uncovered.length === 0) return;
    console.error(`No API test reached these operations: ${uncovered.join(", ")}`);
    // The runner does not fail for an error thrown here.
    process.exitCode = 1;
  };
}
