import type { Readable, Writable } from "node:stream";

import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";

import type { Database } from "./connect.ts";
import { createExecutor, type Executor } from "./executor.ts";
import { runQuery } from "./run-query.ts";
import { render, type Sql } from "./sql.ts";

/** A connection of its own, beside the pool, whose statements take as long as they take. */
export interface Dedicated extends Executor {
  /** Reads what `COPY … TO STDOUT` gives; `rowCount` is right at its end. */
  copyOut(statement: Sql): Readable & { rowCount: number };
  /** Takes what `COPY … FROM STDIN` is to get; `rowCount` is right when it has finished. */
  copyIn(statement: Sql): Writable & { rowCount: number };
  /** Closes it at once, whatever is under way. Never fails. */
  cut(): void;
}

/** How long others may hold a table that is asked for. */
const settings = `
  set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '60s';
  set synchronize_seqscans = off`;

/**
 * Opens a connection for long work, such as copying whole tables. `cut` it in the end.
 * @throws what connecting fails with.
 */
export async function openDedicated({ direct }: Pick<Database, "direct">): Promise<Dedicated> {
  const { pipeline: _, stream: __, ...options } = direct.options as pg.ClientConfig & { pipeline?: boolean };
  const client = new pg.Client(options);
  // What is under way fails then.
  client.on("error", () => {});
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  const cut = (): void => connection.stream.destroy();
  try {
    await client.connect();
    await client.query(settings);
  } catch (error) {
    cut();
    throw error;
  }
  return {
    ...createExecutor({
      send: ({ text, values }) => runQuery(client, { text, values }),
      checkRows: false,
    }),
    copyOut: (statement) => client.query(copyTo(render(statement).text)),
    copyIn: (statement) => client.query(copyFrom(render(statement).text)),
    cut,
  };
}
