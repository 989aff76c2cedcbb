import { randomUUID } from "node:crypto";

import { type Config, readConfig } from "../config.ts";
import { connect, type Database } from "../db/connect.ts";
import { findManagedPostgres } from "../db/managed/index.ts";
import { isConnectionFailure, sqlStateOf } from "../db/sqlstate.ts";
import { createEvidenceStore } from "../evidence/create.ts";
import type { Actor } from "../domain/principal.ts";
import { systemClock } from "../lib/clock.ts";
import { createIdSource } from "../lib/ids.ts";
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
 * @throws CliError when there is no such server, or it cannot be reached.
 */
export async function withRunningServer<T>(
  work: (deps: CommandDeps) => Promise<T>,
  config: Config = readConfig(),
): Promise<T> {
  const db = await openRunning(config);
  try {
    const evidence = createEvidenceStore(config.evidence);
    return await work({ config, db, clock: systemClock, ids: createIdSource(), evidence });
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
