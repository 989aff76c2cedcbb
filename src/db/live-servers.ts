import { setTimeout as delay } from "node:timers/promises";

import type { Hold, LastingConnection } from "./lasting-connection.ts";
import { sql } from "./sql.ts";

/** How many servers share a database, this one included. */
export interface LiveServers {
  count(): number;
  stop(): Promise<void>;
}

export interface LiveServersOptions {
  /** Holds the lock. */
  lasting: LastingConnection;
  /** Called once when they cannot be counted for now: the last count stands. */
  onError(error: unknown): void;
  /** Milliseconds between two counts; 5 seconds when left out. */
  countEveryMs?: number;
}

const key = sql`hashtextextended('waybill server', 0)`;

const name = "live server";

/** Every server holds the same lock with all others, for as long as its connection lasts. */
const membership: Hold = {
  take: [sql`select pg_advisory_lock_shared(${key})`],
  giveBack: sql`select pg_advisory_unlock_shared(${key})`,
};

const countHolders = sql`
  select count(*) as servers from pg_locks l
  where l.locktype = 'advisory' and l.granted and l.mode = 'ShareLock' and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32 | l.objid::bigint) = ${key}`;

/**
 * Joins the servers on a database and counts them from time to time, over the connection that has the server's locks. A killed
 * server's connection is closed by its kernel, so it is counted no more at once; nothing is written for it.
 */
export function joinServers({ lasting, onError, countEveryMs = 5_000 }: LiveServersOptions): LiveServers {
  const stopping = new AbortController();
  let servers = 1;

  async function keepCounting(): Promise<void> {
    let isFailing = false;
    while (!stopping.signal.aborted) {
      try {
        await lasting.hold(name, membership);
        const [counted] = await lasting.ask<{ servers: number }>(countHolders);
        servers = Math.max(1, counted?.servers ?? 1);
        isFailing = false;
      } catch (error) {
        if (!isFailing) onError(error);
        isFailing = true;
      }
      await delay(countEveryMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
    await lasting.letGo(name);
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
