import type pg from "pg";

import { ReplanningClient } from "./replanning-client.ts";
import { runQuery } from "./run-query.ts";

/** A few connections, each with many statements under way. */
export interface PipelinedConnections {
  /** Runs one statement outside any transaction. */
  run(query: pg.QueryConfig<unknown[]>): Promise<pg.QueryResult>;
  /** Ends the connections once the statements under way are done. */
  close(): Promise<void>;
}

interface PipelinedConnection {
  /** Opened for the first statement, and anew for the first one after it broke. */
  client: Promise<pg.Client> | undefined;
  underWay: number;
}

export interface PipelinedOptions {
  client: pg.ClientConfig;
  count: number;
  onConnectionError(error: Error): void;
}

/**
 * Makes connections on which statements are sent without waiting for the answers to those before them (pipelining,
 * PostgreSQL documentation 54.2.4), each a transaction of its own. The process that answers them one after the other is
 * not put to sleep and woken for each, which is a third of what a brief statement costs. Only for brief ones: the next
 * statements wait for a slow one.
 */
export function createPipelinedConnections({
  client: config,
  count,
  onConnectionError,
}: PipelinedOptions): PipelinedConnections {
  const connections: PipelinedConnection[] = Array.from({ length: count }, () => ({
    client: undefined,
    underWay: 0,
  }));

  function open(connection: PipelinedConnection): Promise<pg.Client> {
    const client: pg.Client = new ReplanningClient({ ...config, pipeline: true });
    client.on("error", onConnectionError);
    const opened = client.connect();
    const forget = (): void => {
      if (connection.client === opened) connection.client = undefined;
    };
    client.once("end", forget);
    opened.catch(forget);
    return opened;
  }

  return {
    run: async (query) => {
      const connection = connections.reduce((least, other) =>
        other.underWay < least.underWay ? other : least,
      );
      connection.underWay += 1;
      try {
        connection.client ??= open(connection);
        return await runQuery(await connection.client, query);
      } finally {
        connection.underWay -= 1;
      }
    },
    close: async () => {
      const ends = connections.map(async (connection) =>
        (await connection.client?.catch(() => undefined))?.end(),
      );
      await Promise.all(ends);
    },
  };
}
