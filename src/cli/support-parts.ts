import { cpus, release, totalmem, freemem } from "node:os";
import { join } from "node:path";

import type { Config } from "../config.ts";
import type { Database } from "../db/connect.ts";
import { pendingMigrations } from "../domain/health.ts";
import { scrubLogLine } from "../domain/support/log-lines.ts";
import { shownMetrics } from "../domain/support/metrics-text.ts";
import { type KnownText, scrubValue } from "../domain/support/scrub.ts";
import { openFilesLimit } from "../lib/open-files.ts";
import { readTail } from "../lib/tail.ts";
import {
  listDatabaseSettings,
  listMigrationTimes,
  listSessions,
  listSizedTables,
} from "../modules/maintenance/health/support-store.ts";
import { migrationsFolder, programVersion } from "../open-database.ts";
import { readMigrations } from "../db/migrate.ts";
import { reachableHost } from "../lib/network.ts";
import { examine } from "./doctor.ts";
import { lookAtPlans } from "./doctor-plans.ts";
import { askOwnServer } from "./health.ts";

/** Something that a support bundle has a file of. */
export interface SupportPart {
  file: string;
  /** How long it may take, in milliseconds. */
  ms: number;
  /** @returns the text of the file, with nothing in it that others must not see. @throws Error that says why there is none. */
  make(): Promise<string>;
}

/** What parts are made of. */
export interface SupportSources {
  /** Undefined where the settings have mistakes. */
  config: Config | undefined;
  known: readonly KnownText[];
  /** Opens nothing: a database that is open, or why there is none. */
  db: () => Database;
}

const json = (value: unknown, known: readonly KnownText[]): string =>
  `${JSON.stringify(scrubValue(value, known), undefined, 2)}\n`;

/** Bytes of each log that go into a bundle. */
const mostLogBytes = 10 * 1024 * 1024;
/** Characters of a line beyond which nobody reads it. */
const longestLine = 16 * 1024;
/** Lines after which others have their turn. */
const linesAtOnce = 500;

/** Reads the end of a log, line by line, without what may be secret. */
async function readLog(path: string, known: readonly KnownText[]): Promise<string> {
  const { text, before } = await readTail(path, mostLogBytes);
  const shown: string[] = before === 0 ? [] : [`[${before} bytes before this]`];
  for (const [at, line] of text.split("\n").entries()) {
    shown.push(line.length > longestLine ? `[${line.length} characters removed]` : scrubLogLine(line, known));
    if (at % linesAtOnce === 0) await new Promise(setImmediate);
  }
  return shown.join("\n");
}

/** Lists the parts about logs. They come first: starting PostgreSQL may begin its log anew. @param files that somebody named. */
export function logParts({ config, known }: SupportSources, files: readonly string[]): SupportPart[] {
  const named = files.map((path, at) => ({ file: `logs/server-${at + 1}.log`, path }));
  const own =
    config === undefined || config.databaseUrl !== undefined
      ? []
      : [{ file: "logs/postgres.log", path: join(config.dataDir, "postgres.log") }];
  return [...named, ...own].map(({ file, path }) => ({
    file,
    ms: 60_000,
    make: () => readLog(path, known),
  }));
}

function requireConfig(config: Config | undefined): Config {
  if (config === undefined) throw new Error("the settings have mistakes");
  return config;
}

/** Asks the server of these settings, on this machine. */
async function askServer(
  config: Config | undefined,
  path: string,
): Promise<{ status: number; text: string }> {
  const { host, port, tls, metricsToken } = requireConfig(config);
  const url = `${tls === undefined ? "http" : "https"}://${reachableHost(host)}:${port}${path}`;
  return askOwnServer(url, metricsToken === undefined ? {} : { authorization: `Bearer ${metricsToken}` });
}

async function readHealth({ config, known }: SupportSources): Promise<string> {
  const paths = ["/live", "/ready", "/health"] as const;
  const answers = await Promise.all(paths.map((path) => askServer(config, path)));
  return json(
    Object.fromEntries(
      answers.map(({ status, text }, at) => {
        const isHealth = paths[at] === "/health" && status === 200;
        return [paths[at], { status, ...(isHealth ? { report: JSON.parse(text) as unknown } : {}) }];
      }),
    ),
    known,
  );
}

async function readMetrics({ config, known }: SupportSources): Promise<string> {
  const { status, text } = await askServer(config, "/metrics");
  if (status !== 200) throw new Error(`the server answered ${status}`);
  return shownMetrics(text, known);
}

function describeMachine(): object {
  return {
    program: programVersion(),
    node: process.versions.node,
    openssl: process.versions.openssl,
    platform: process.platform,
    architecture: process.arch,
    kernel: release(),
    processors: cpus().length,
    memory_bytes: totalmem(),
    free_memory_bytes: freemem(),
    memory_limit_bytes: process.constrainedMemory(),
    open_files: openFilesLimit(),
    made_at: new Date().toISOString(),
  };
}

async function listMigrations(db: Database): Promise<object> {
  const applied = await listMigrationTimes(db);
  const known = (await readMigrations(migrationsFolder)).map(({ name }) => name);
  const names = applied.map(({ name }) => name);
  return { pending: pendingMigrations(known, names), newer: pendingMigrations(names, known), applied };
}

const shortMs = 15_000;

/** Lists all other parts, in the order in which they are made: the server and the machine before the database. */
export function livingParts(sources: SupportSources): SupportPart[] {
  const { config, known, db } = sources;
  const ofDatabase = (
    file: string,
    look: (opened: Database) => Promise<unknown>,
    ms = shortMs,
  ): SupportPart => ({
    file,
    ms,
    make: async () => json(await look(db()), known),
  });
  return [
    { file: "machine.json", ms: shortMs, make: async () => json(describeMachine(), known) },
    { file: "health.json", ms: shortMs, make: () => readHealth(sources) },
    { file: "metrics.txt", ms: shortMs, make: () => readMetrics(sources) },
    { file: "doctor.json", ms: 150_000, make: async () => json(await examine(requireConfig(config)), known) },
    ofDatabase("database/settings.json", listDatabaseSettings),
    ofDatabase("database/migrations.json", listMigrations),
    ofDatabase("database/tables.json", listSizedTables),
    ofDatabase("database/activity.json", listSessions),
    ofDatabase("database/plans.json", lookAtPlans, 90_000),
  ];
}
