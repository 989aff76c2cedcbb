import pg from "pg";
import { pino } from "pino";

import { type ManagedConnection, startManagedPostgres } from "../../src/db/managed/index.ts";

export type { ManagedConnection } from "../../src/db/managed/index.ts";

/** Runs PostgreSQL on a data directory that no server runs on, with these settings, while `work` uses it. */
export async function withPostgres<T>(
  dataDir: string,
  settings: Record<string, string>,
  work: (connection: ManagedConnection) => Promise<T>,
): Promise<T> {
  const postgres = await startManagedPostgres({ dataDir, log: pino({ level: "warn" }), settings });
  try {
    return await work(postgres.connection);
  } finally {
    await postgres.stop();
  }
}

/** Connects, without a limit of time, while `work` uses it. */
export async function withClient<T>(
  connection: ManagedConnection,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query("set statement_timeout = 0");
    return await work(client);
  } finally {
    await client.end();
  }
}
