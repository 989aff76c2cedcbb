import { database, user } from "./cluster.ts";
import { ManagedPostgresError, messageOf } from "./errors.ts";
import { layoutOf } from "./layout.ts";
import { findPostmaster } from "./postmaster-file.ts";
import { port, socketDirectoryOf, somebodyListens } from "./socket.ts";

/** Connection parameters for `pg`: the host is the directory of a unix socket. */
export interface ManagedConnection {
  host: string;
  port: number;
  user: string;
  database: string;
  /** Always off, so that a PGSSLMODE in the environment does not break the connection over the socket. */
  ssl: false;
}

/**
 * Tells where to connect while a server runs on this data directory, for commands beside it.
 * @returns `undefined` when no PostgreSQL runs there.
 */
export async function findManagedPostgres(dataDir: string): Promise<ManagedConnection | undefined> {
  const layout = await layoutOf(dataDir).catch(() => undefined);
  if (layout === undefined) return undefined;
  const seen = await findPostmaster(layout).catch((error: unknown) => {
    // Invisible to us, but its socket answers: that is enough to connect.
    if (error instanceof ManagedPostgresError) return { socketDirectory: socketDirectoryOf(layout) };
    throw new ManagedPostgresError(
      `Cannot look into ${layout.cluster}: ${messageOf(error)}. Run this as the user of the server.`,
    );
  });
  if (seen === undefined || !(await somebodyListens(seen.socketDirectory))) return undefined;
  return connectionTo(seen.socketDirectory);
}

/** Gives connection parameters for the socket in this directory. */
export function connectionTo(host: string): ManagedConnection {
  return { host, port, user, database, ssl: false };
}
