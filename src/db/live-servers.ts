import { setTimeout as delay } from "node:timers/promises";

import pg from "pg";

import type { Database } from "./connect.ts";
import { noticeLoss } from "./session-settings.ts";
import { render, sql } from "./sql.ts";

/** How many servers share a database, this one included. */
export interface LiveServers {
  count(): number;
  stop(): Promise<void>;
}

export interface LiveServersOptions {
  db: Pick<Database, "direct">;
  /** Called once when they cannot be counted for now: the last count stands. */
  onError(error: unknown): void;
  /** Milliseconds between two counts; 5 seconds when left out. */
  countEveryMs?: number;
}

const key = sql`hashtextextended('waybill server', 0)`;

/** Every server holds the same lock with all others, for as long as its connection lasts. */
const join = sql`select pg_advisory_lock_shared(${key})`;

const countHolders = sql`
  select count(*) as servers from pg_locks l
  where l.locktype = 'advisory' and l.granted and l.mode = 'ShareLock' and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = ${key}`;

const answerWithinMs = 10_000;

/**
 * Joins the servers on a database and counts them from time to time, over a connection that does nothing else. A killed
 * server's connection is closed by its kernel, so it is counted no more at once; nothing is written for it.
 */
export function joinServers({ db, onError, countEveryMs = 5_000 }: LiveServersOptions): LiveServers {
  const stopping = new AbortController();
  let servers = 1;

  async function enter(): Promise<pg.Client> {
    const client = new pg.Client({ ...db.direct.options, query_timeout: answerWithinMs });
    // What follows fails then.
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query(noticeLoss);
      await client.query(render(join));
      return client;
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  async function keepCounting(): Promise<void> {
    let client: pg.Client | undefined;
    let isFailing = false;
    while (!stopping.signal.aborted) {
      try {
        client ??= await enter();
        const { rows } = await client.query<{ servers: number }>(render(countHolders));
        servers = Math.max(1, rows[0]?.servers ?? 1);
        isFailing = false;
      } catch (error) {
        if (!isFailing) onError(error);
        isFailing = true;
        void client?.end().catch(() => {});
        client = undefined;
      }
      await delay(countEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
    await client?.end().catch(() => {});
  }

  const counting = keepCounting();
  return {
    count: () => servers,
    stop: async () => {
      stopping.abort();
      await counting;
    },
  };
}
