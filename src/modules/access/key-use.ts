import { sql } from "kysely";

import type { Database } from "../../db/connect.ts";
import type { Clock, Timestamp } from "../../lib/clock.ts";
import type { Logger } from "../../lib/log.ts";

/** Remembers when keys were used and writes it down now and then, so that requests need not. */
export interface KeyUse {
  used(keyId: string): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const flushEveryMs = 30_000;

/** `last_used_at` is at most half a minute late; after a crash the last half minute of it is lost. */
export function trackKeyUse(deps: { db: Database; clock: Clock; log: Logger }): KeyUse {
  let seen = new Map<string, Timestamp>();

  async function flush(): Promise<void> {
    if (seen.size === 0) return;
    const batch = seen;
    seen = new Map();
    try {
      await sql`
        update api_keys k set last_used_at = greatest(k.last_used_at, to_timestamp(used.at))
        from unnest(${[...batch.keys()]}::uuid[], ${[...batch.values()]}::float8[]) as used (id, at)
        where k.id = used.id`.execute(deps.db.query);
    } catch (error) {
      deps.log.warn({ err: error }, "could not record the last use of keys");
      for (const [id, at] of batch) if (!seen.has(id)) seen.set(id, at);
    }
  }

  const timer = setInterval(() => void flush(), flushEveryMs);
  timer.unref();
  return {
    used: (keyId) => void seen.set(keyId, deps.clock.now()),
    flush,
    stop: () => {
      clearInterval(timer);
      return flush();
    },
  };
}
