import type { PoolClient } from "pg";

import type { TestApp } from "./app.ts";

/** Does to the database, in one transaction, what the program never does: no trigger keeps it from that. */
export async function writeUnguarded(
  app: TestApp,
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const client = await app.deps.db.pool.connect();
  try {
    await client.query("begin");
    // On Citus the rows are on a worker, which is told of settings of a transaction; elsewhere it means nothing.
    await client.query("set local citus.propagate_set_commands = 'local'");
    await client.query("set local session_replication_role = replica");
    await work(client);
    await client.query("commit");
  } finally {
    // Whatever state it is in.
    client.release(true);
  }
}
