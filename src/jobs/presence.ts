import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import type { Database } from "../db/connect.ts";
import type { LastingConnection } from "../db/lasting-connection.ts";
import type { Logger } from "../lib/log.ts";
import {
  releaseJobs,
  type ReleasedJobs,
  listUnheld,
  presenceOf,
  releaseStrangers,
  retire,
} from "./ends-store.ts";

/**
 * Shows other servers on the database that this one is there, and notices when they are not.
 *
 * A worker is there as long as an advisory lock by its id is held, by the server's lasting connection. A killed
 * server's connection is closed by its kernel, so the lock is free at once; a server that is merely slow, however slow,
 * keeps it, because that takes nothing of the server. A lock that was lost in another way, such as a restart of
 * PostgreSQL, is taken again long before anybody concludes from it.
 */
export interface Presence {
  /** Resolves when others can see that a worker is there. To be awaited before it takes a job. */
  announce(worker: string): Promise<void>;
  /** Gives back what a worker held that has stopped. */
  retire(worker: string): Promise<void>;
  stop(): Promise<void>;
}

export interface PresenceOptions {
  db: Database;
  /** Holds the locks. */
  lasting: LastingConnection;
  log: Logger;
  /** Told of workers that were found to be no more, and of what they held. */
  onRelease(jobs: ReleasedJobs): void;
  /** Milliseconds between two looks; 5 seconds when left out. */
  lookEveryMs?: number;
  /** Milliseconds that a lock is seen free before its worker counts as gone; 10 seconds when left out. */
  graceMs?: number;
}

const tryAgainMs = 500;

/** Looks between two searches for what workers of unknown origin left. */
const looksPerSearch = 6;

function nameOf(worker: string): string {
  return `job worker ${worker}`;
}

class LockedPresence implements Presence {
  readonly #options: Required<PresenceOptions>;
  readonly #server = randomUUID();
  readonly #mine = new Set<string>();
  /** Since when a worker's lock was seen free at every look. */
  readonly #missing = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #work: Promise<void>;
  #looks = 0;

  constructor(options: PresenceOptions) {
    this.#options = { lookEveryMs: 5_000, graceMs: 10_000, ...options };
    this.#work = this.#keepLooking();
  }

  async announce(worker: string): Promise<void> {
    this.#mine.add(worker);
    const { lasting, log } = this.#options;
    for (;;)
      try {
        return await lasting.hold(nameOf(worker), presenceOf(worker, this.#server));
      } catch (err) {
        if (this.#stopping.signal.aborted) throw err;
        log.warn({ err }, "background work waits for the database");
        await this.#pause(tryAgainMs);
      }
  }

  async retire(worker: string): Promise<void> {
    const { db, lasting } = this.#options;
    await retire(db, worker);
    this.#mine.delete(worker);
    await lasting.letGo(nameOf(worker));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
    for (const worker of this.#mine) await this.#options.lasting.letGo(nameOf(worker));
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  async #keepLooking(): Promise<void> {
    for (;;) {
      await this.#pause(this.#options.lookEveryMs);
      if (this.#stopping.signal.aborted) return;
      await this.#look().catch((err: unknown) =>
        this.#options.log.warn({ err }, "could not look for servers that are gone"),
      );
    }
  }

  async #look(): Promise<void> {
    const gone = this.#goneOf(await this.#unheld());
    if (gone.length > 0) {
      const jobs = await releaseJobs(this.#options.db, gone);
      for (const id of gone) this.#missing.delete(id);
      this.#options.onRelease(jobs);
    }
    this.#looks += 1;
    if (this.#looks % looksPerSearch === 0) await releaseStrangers(this.#options.db);
  }

  /** Lists workers of others whose lock is free, asked over the connection that has our own: its loss shows then, too. */
  async #unheld(): Promise<string[]> {
    const rows = await this.#options.lasting.ask<{ id: string }>(listUnheld);
    return rows.map(({ id }) => id).filter((id) => !this.#mine.has(id));
  }

  #goneOf(unheld: readonly string[]): string[] {
    const now = performance.now();
    for (const id of this.#missing.keys()) if (!unheld.includes(id)) this.#missing.delete(id);
    return unheld.filter((id) => {
      const since = this.#missing.get(id) ?? now;
      this.#missing.set(id, since);
      return now - since >= this.#options.graceMs;
    });
  }
}

/** Begins to be there, and to look for others. */
export function bePresent(options: PresenceOptions): Presence {
  return new LockedPresence(options);
}
