import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { type Config, readConfig } from "../config.ts";
import { connect, type Database } from "../db/connect.ts";
import { findManagedPostgres } from "../db/managed/index.ts";
import { isConnectionFailure, isDatabaseFull, sqlStateOf } from "../db/sqlstate.ts";
import { createEvidenceStore } from "../evidence/create.ts";
import type { Actor } from "../domain/principal.ts";
import { createIdSource } from "../lib/ids.ts";
import { createLogger, silentLog } from "../lib/log.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { describeSpan, explainDoubt } from "../lib/time-doubt.ts";
import { createTimeGuard, longestPause, type TimeGuard, tolerance } from "../lib/time-guard.ts";
import { timeRecords } from "../modules/kernel/time/store.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { openManaged, type OpenDatabase } from "../open-database.ts";
import { CliError } from "./output.ts";

/** What commands beside a running server work with. */
export type CommandDeps = Pick<Deps, "config" | "db" | "clock" | "ids" | "evidence">;

const pool = { max: 2 };

/** Connects to the database of a running server; undefined when its own PostgreSQL does not run. */
async function findRunning(config: Config): Promise<Database | undefined> {
  const { databaseUrl, databaseDirectUrl: direct, databasePooler: pooler } = config;
  if (direct !== undefined) return connect({ connection: direct, ...pool });
  if (databaseUrl !== undefined) return connect({ connection: databaseUrl, pooler, ...pool });
  const connection = await findManagedPostgres(config.dataDir);
  return connection && connect({ connection, ...pool });
}

async function openRunning(config: Config): Promise<Database> {
  const db = await findRunning(config);
  if (db !== undefined) return db;
  throw new CliError(
    `No server is running on the data directory ${config.dataDir}. ` +
      "Start one with `waybill serve`, or set WAYBILL_DATA_DIR or DATABASE_URL as the server has them.",
  );
}

/** Connects to the database of a server that may be stopped. Then PostgreSQL is started for as long as the command runs. */
async function openAny(config: Config): Promise<OpenDatabase> {
  const isSetUp = existsSync(join(config.dataDir, "postgres", "PG_VERSION"));
  const running = (await findRunning(config)) ?? (isSetUp ? undefined : await openRunning(config));
  return running === undefined
    ? openManaged(config, { log: silentLog, by: "command" }, pool)
    : { db: running, close: () => running.close() };
}

/** Runs work on a database as it is, set up or not, with the server running or not. @throws CliError when it cannot be reached. */
export async function withAnyDatabase<T>(config: Config, work: (db: Database) => Promise<T>): Promise<T> {
  const { db, close } = await openAny(config);
  try {
    return await work(db);
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

/** Reads the time as servers on this database would. */
export async function commandTime(db: Database): Promise<TimeGuard> {
  const time = createTimeGuard({ records: timeRecords(db), log: createLogger("silent") });
  await time.start();
  time.stop();
  return time;
}

/** The time of a database that a restore makes. */
export interface RestoredTime {
  /** The clock of the database. */
  clock: Clock;
  /** Says why nothing may be recorded, as a sentence; undefined unless this machine's clock is ahead of the database's. */
  refused: string | undefined;
  /** Says what has to be done before servers record anything; undefined where nothing has. */
  advice: string | undefined;
}

/** Reads the time of a database that a restore makes. How old the backup is says nothing of the clocks. */
export async function restoredTime(db: Database): Promise<RestoredTime> {
  const { database, recorded } = await timeRecords(db).exchange(undefined);
  const ahead = systemClock.now() - database;
  const doubt = { kind: "ahead_of_database", by: ahead } as const;
  const away = recorded === null ? 0 : database - recorded;
  return {
    clock: { now: () => systemClock.now() - ahead },
    refused: ahead > tolerance ? explainDoubt(doubt).caller : undefined,
    advice:
      away > longestPause
        ? `The last time that was recorded in it is ${describeSpan(away)} ago: servers refuse to record anything until \`waybill admin accept-time\`, beside one that runs, says that the clock is right`
        : undefined,
  };
}

function explained(error: unknown): unknown {
  if (sqlStateOf(error) === "42P01")
    return new CliError("The database is empty: start the server on it once, which sets it up", {
      cause: error,
    });
  if (isDatabaseFull(error)) return new CliError("The disk of the database is full", { cause: error });
  if (!isConnectionFailure(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new CliError(`The database cannot be reached: ${reason}`, { cause: error });
}

/**
 * Runs a command's work on the database of the running server, and closes the connection afterwards.
 * @param options `anyTime` for what records nothing, or is about the time: it runs also while that is in doubt.
 * @throws CliError when there is no such server, or it cannot be reached, and while the time is in doubt.
 */
export async function withRunningServer<T>(
  work: (deps: CommandDeps) => Promise<T>,
  options: { anyTime?: boolean } = {},
): Promise<T> {
  const config = readConfig();
  const db = await openRunning(config);
  return workOn({ db, close: () => db.close() }, work, { config, ...options });
}

/** Runs a command's work with the server running or not, for what is needed when it does not start. */
export async function withDatabase<T>(work: (deps: CommandDeps) => Promise<T>): Promise<T> {
  const config = readConfig();
  return workOn(await openAny(config), work, { config, anyTime: true });
}

/**
 * Runs a command's work on a database that no server works with, and that may be empty.
 * @throws ManagedPostgresError when a server runs on the data directory; CliError when the database cannot be reached.
 */
export async function withIdleDatabase<T>(
  config: Config,
  work: (deps: Pick<CommandDeps, "db" | "evidence">) => Promise<T>,
): Promise<T> {
  const external = config.databaseUrl === undefined ? undefined : await findRunning(config);
  const { db, close } =
    external === undefined
      ? await openManaged(config, { log: silentLog, by: "command" }, pool)
      : { db: external, close: () => external.close() };
  try {
    return await work({ db, evidence: createEvidenceStore(config.evidence) });
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

async function workOn<T>(
  { db, close }: OpenDatabase,
  work: (deps: CommandDeps) => Promise<T>,
  options: { config: Config; anyTime?: boolean },
): Promise<T> {
  const { config, anyTime } = options;
  try {
    const time = await commandTime(db);
    if (time.refused !== undefined && anyTime !== true) throw new CliError(time.refused);
    const evidence = createEvidenceStore(config.evidence);
    const ids = createIdSource(() => time.idMilliseconds());
    return await work({ config, db, clock: time, ids, evidence });
  } catch (error) {
    throw explained(error);
  } finally {
    await close();
  }
}

/** Says on whose behalf the command line writes. */
export function commandActor(command: string): Actor {
  return {
    kind: "system",
    id: null,
    name: "waybill admin",
    api_key_id: null,
    action: command,
    request_id: randomUUID(),
    request_digest: null,
  };
}

/** Says on whose behalf something is done about backups: of somebody at the command line, or of the server by the clock. */
export function runActor(command: string, scheduled: boolean): Actor {
  return { ...commandActor(command), name: scheduled ? "waybill serve" : `waybill ${command}` };
}
