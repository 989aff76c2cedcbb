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
}

/** More than a writer of backups reads at a time. */
const mostAtATime = 16;

async function send({ input }: Loading, bytes: Buffer): Promise<void> {
  if (!input.write(bytes)) await Promise.race([once(input, "drain"), finished(input)]);
}

async function begin(connection: Dedicated, table: BackupTable): Promise<Loading> {
  await connection.run(sql`begin`);
  // With the table emptied in the same transaction its rows are written as old ones, which nobody has to look at again.
  await connection.run(sql`truncate ${nameOf(table)}`);
  const input = connection.copyIn(
    sql`copy ${nameOf(table)} (${columnsOf(table)}) from stdin (format binary, freeze)`,
  );
  // Shows where it is waited for.
  input.on("error", () => {});
  return { connection, input, sending: Promise.resolve() };
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
