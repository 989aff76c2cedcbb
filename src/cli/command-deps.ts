import { randomUUID } from "node:crypto";

import { type Config, readConfig } from "../config.ts";
import { connect, type Database } from "../db/connect.ts";
import { findManagedPostgres } from "../db/managed/index.ts";
import { isConnectionFailure, sqlStateOf } from "../db/sqlstate.ts";
import { createEvidenceStore } from "../evidence/create.ts";
import type { Actor } from "../domain/principal.ts";
import { createIdSource } from "../lib/ids.ts";
import { createLogger } from "../lib/log.ts";
import { createTimeGuard, type TimeGuard } from "../lib/time-guard.ts";
import { timeRecords } from "../modules/time/store.ts";
import type { Deps } from "../modules/deps.ts";
import { CliError } from "./output.ts";

/** What commands beside a running server work with. */
export type CommandDeps = Pick<Deps, "config" | "db" | "clock" | "ids" | "evidence">;

async function openRunning(config: Config): Promise<Database> {
  const pool = { max: 2 };
  if (config.databaseUrl !== undefined) return connect({ connection: config.databaseUrl, ...pool });
  const connection = await findManagedPostgres(config.dataDir);
  if (connection === undefined)
    throw new CliError(
      `No server is running on the data directory ${config.dataDir}. ` +
        "Start one with `waybill serve`, or set WAYBILL_DATA_DIR or DATABASE_URL as the server has them.",
    );
  return connect({ connection, ...pool });
}

/** The time as servers on this database would take it. */
export async function commandTime(db: Database): Promise<TimeGuard> {
  const time = createTimeGuard({ records: timeRecords(db.query), log: createLogger("silent") });
  await time.start();
  time.stop();
  return time;
}

function explained(error: unknown): unknown {
  if (sqlStateOf(error) === "42P01")
    return new CliError("The database is empty: start the server on it once, which sets it up", {
      cause: error,
    });
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
  try {
    const time = await commandTime(db);
    if (time.refused !== undefined && options.anyTime !== true) throw new CliError(time.refused);
    const evidence = createEvidenceStore(config.evidence);
    const ids = createIdSource(() => time.idMilliseconds());
    return await work({ config, db, clock: time, ids, evidence });
  } catch (error) {
    throw explained(error);
  } finally {
    await db.close();
  }
}

/** On whose behalf the command line writes. */
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
