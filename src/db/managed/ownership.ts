import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { user } from "./cluster.ts";
import { codeOf, DataDirectoryInUseError, ManagedPostgresError } from "./errors.ts";
import type { Layout } from "./layout.ts";
import { isAlive } from "./process-state.ts";
import { port } from "./socket.ts";

/** The exclusive right to a data directory: an advisory lock on a connection of its own, so it ends with its holder. */
export interface Ownership {
  readonly client: Client;
  /** Settles when the connection, and with it the ownership, is gone for whatever reason. Never rejects. */
  readonly lost: Promise<void>;
}

/** Who works with a data directory: a server, which stays, or a command, which ends. */
export type Claimant = "server" | "command";

/** The name of the lock, two arbitrary numbers. It lives in the database `postgres`, away from the application's locks. */
const lock = [1_466_000_251, 1] as const;

/** A killed server's connection ends within moments; its lock is not taken for a living owner's meanwhile. */
const patience = { livingOwner: 500, deadOwner: 3000 };

/**
 * Connects to a PostgreSQL that is ready and takes the ownership of its data directory.
 * @returns `undefined` when PostgreSQL went away or is stopping, so that the caller looks again.
 * @throws DataDirectoryInUseError naming the owner, when another server has it.
 */
export async function claim(
  layout: Layout,
  socketDirectory: string,
  by: Claimant,
): Promise<Ownership | undefined> {
  const client = new Client({
    host: socketDirectory,
    port,
    user,
    database: "postgres",
    ssl: false,
    application_name: `waybill-${by} pid=${process.pid}`,
    connectionTimeoutMillis: 10_000,
  });
  const lost = new Promise<void>((done) => {
    client.once("end", () => done());
    // The error only precedes the end; without a listener it would end the process.
    client.on("error", () => {});
  });
  try {
    await client.connect();
    await takeLock(client, layout);
    return { client, lost };
  } catch (error) {
    await client.end().catch(() => {});
    if (isPassing(error)) return undefined;
    throw explainConnection(error, layout);
  }
}

async function takeLock(client: Client, layout: Layout): Promise<void> {
  const began = Date.now();
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1, $2) AS taken", [
      ...lock,
    ]);
    if (rows[0]?.taken === true) return;
    const owner = await findOwner(client);
    const limit =
      owner !== undefined && (await isAlive(owner.pid)) ? patience.livingOwner : patience.deadOwner;
    if (Date.now() - began > limit) throw inUse(layout, owner);
    await sleep(25);
  }
}

function inUse(layout: Layout, owner: Owner | undefined): DataDirectoryInUseError {
  if (owner?.by === "command")
    return new DataDirectoryInUseError(
      `The data directory ${layout.dataDir} is in use by a Waybill command (process ${owner.pid}). Try again when that has ended.`,
      true,
    );
  const who =
    owner === undefined ? "another Waybill server" : `another Waybill server (process ${owner.pid})`;
  return new DataDirectoryInUseError(
    `The data directory ${layout.dataDir} is in use by ${who}. One server owns a data directory: ` +
      "stop that one first, or give this one a data directory of its own.",
  );
}

interface Owner {
  pid: number;
  by: Claimant;
}

async function findOwner(client: Client): Promise<Owner | undefined> {
  const { rows } = await client.query<{ application_name: string }>(
    `SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND granted AND classid::bigint = $1 AND objid::bigint = $2 AND objsubid = 2
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [...lock],
  );
  const [, by, pid] = /^waybill-(server|command) pid=(\d+)/.exec(rows[0]?.application_name ?? "") ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), by: by === "command" ? by : "server" };
}

/** Starting up, shutting down, crashed, or gone: conditions that pass. */
function isPassing(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  if (["57P01", "57P02", "57P03", "53300", "ECONNREFUSED", "ECONNRESET", "ENOENT", "EPIPE"].includes(code))
    return true;
  return (
    error instanceof Error &&
    /Connection terminated|is not queryable/.test(error.message) &&
    !/timeout/.test(error.message)
  );
}

function explainConnection(error: unknown, layout: Layout): unknown {
  if (error instanceof ManagedPostgresError) return error;
  return new ManagedPostgresError(
    `Cannot connect to the PostgreSQL of the data directory ${layout.dataDir}: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}
