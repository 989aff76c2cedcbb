import { once } from "node:events";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";

import type { Database } from "../../../db/connect.ts";
import { type Dedicated, openDedicated } from "../../../db/dedicated.ts";
import { sql } from "../../../db/sql.ts";
import { columnsOf, nameOf } from "./catalog-store.ts";
import { type BackupTable, tableKey } from "../../../domain/backup-format.ts";
import { silenceTriggers } from "./restore-store.ts";

/** Puts rows into tables, several tables at a time. */
export interface TableLoader {
  /** Takes the next piece of a table. The last one makes its rows durable. */
  part(table: string, bytes: Buffer, isLast: boolean): Promise<void>;
  /** How many rows each table got. */
  rows: ReadonlyMap<string, number>;
  /** Closes its connections, whatever is under way. */
  close(): void;
}

interface Loading {
  connection: Dedicated;
  input: Writable & { rowCount: number };
  /** The piece that is on its way. */
  sending: Promise<void>;
  /** What PostgreSQL has refused, which it may say between two pieces. */
  failure: Error | undefined;
}

/** More than a writer of backups reads at a time. */
const mostAtATime = 16;

function requireNoFailure({ failure }: Loading): void {
  if (failure !== undefined) throw failure;
}

async function send(one: Loading, bytes: Buffer): Promise<void> {
  requireNoFailure(one);
  // Fails as soon as PostgreSQL refuses something.
  if (!one.input.write(bytes)) await once(one.input, "drain");
}

async function begin(connection: Dedicated, table: BackupTable): Promise<Loading> {
  await connection.run(sql`begin`);
  // With the table emptied in the same transaction its rows are written as old ones, which nobody has to look at again.
  await connection.run(sql`truncate ${nameOf(table)}`);
  const input = connection.copyIn(
    sql`copy ${nameOf(table)} (${columnsOf(table)}) from stdin (format binary, freeze)`,
  );
  const loading: Loading = { connection, input, sending: Promise.resolve(), failure: undefined };
  input.on("error", (error) => (loading.failure ??= error));
  return loading;
}

/** Prepares to fill these tables of an empty database, whose foreign keys are gone. */
export function loadTables(db: Database, tables: readonly BackupTable[]): TableLoader {
  const byKey = new Map(tables.map((table) => [tableKey(table), table]));
  const loading = new Map<string, Loading>();
  const idle: Dedicated[] = [];
  const rows = new Map<string, number>();

  async function open(key: string): Promise<Loading> {
    const table = byKey.get(key);
    if (table === undefined || loading.size >= mostAtATime) throw new Error(`${key} cannot be filled now`);
    let connection = idle.pop();
    if (connection === undefined) {
      connection = await openDedicated(db);
      await silenceTriggers(connection);
    }
    const begun = await begin(connection, table);
    loading.set(key, begun);
    return begun;
  }

  return {
    rows,
    part: async (key, bytes, isLast) => {
      const one = loading.get(key) ?? (await open(key));
      await one.sending;
      one.sending = send(one, bytes);
      // Waited for with the next piece, while that one is being unpacked.
      one.sending.catch(() => {});
      if (!isLast) return;
      await one.sending;
      requireNoFailure(one);
      one.input.end();
      await finished(one.input);
      await one.connection.run(sql`commit`);
      rows.set(key, one.input.rowCount);
      loading.delete(key);
      idle.push(one.connection);
    },
    close: () => {
      for (const { connection } of loading.values()) connection.cut();
      for (const connection of idle) connection.cut();
    },
  };
}
