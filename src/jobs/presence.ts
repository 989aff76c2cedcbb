import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import pg from "pg";

import type { Database } from "../db/connect.ts";
import { noticeLoss } from "../db/session-settings.ts";
import { render } from "../db/sql.ts";
import type { Logger } from "../lib/log.ts";
import {
  releaseJobs,
  type ReleasedJobs,
  holdLock,
  listUnheld,
  releaseStrangers,
  retire,
} from "./ends-store.ts";

/**
 * Shows other servers on the database that this one is there, and notices when they are not.
 *
 * A worker is there as long as an advisory lock by its id is held, by a connection that does nothing else. A killed
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
  log: Logger;
  /** Told of workers that were found to be no more, and of what they held. */
  onRelease(jobs: ReleasedJobs): void;
  /** Milliseconds between two looks; 5 seconds when left out. */
  lookEveryMs?: number;
  /** Milliseconds that a lock is seen free before its worker counts as gone; 10 seconds when left out. */
  graceMs?: number;
}

const reconnectAfterMs = 500;

/** A connection that does not answer for so long is given up. */
const answerWithinMs = 10_000;

/** Looks between two searches for what workers of unknown origin left. */
const looksPerSearch = 6;

/** Closes a connection at once: asked to end in peace, it may never answer. */
function cut(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

class LockedPresence implements Presence {
  readonly #options: Required<PresenceOptions>;
  readonly #server = randomUUID();
  readonly #mine = new Set<string>();
  /** Since when a worker's lock was seen free at every look. */
  readonly #missing = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #work: Promise<void>;
  #client: Promise<pg.Client> | undefined;
  #looks = 0;

  constructor(options: PresenceOptions) {
    this.#options = { lookEveryMs: 5_000, graceMs: 10_000, ...options };
    this.#work = this.#keepLooking();
  }

  async announce(worker: string): Promise<void> {
    this.#mine.add(worker);
    for (;;)
      try {
        return await this.#hold(await this.#connected(), worker);
      } catch (err) {
        if (this.#stopping.signal.aborted) throw err;
        this.#options.log.warn({ err }, "background work waits for the database");
        await this.#pause(reconnectAfterMs);
      }
  }

  async retire(worker: string): Promise<void> {
    await retire(this.#options.db, worker);
    this.#mine.delete(worker);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => {});
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  async #hold(client: pg.Client, worker: string): Promise<void> {
    await client.query(render(holdLock(worker)));
    await client.query("insert into job_workers (id, server) values ($1, $2) on conflict do nothing", [
      worker,
      this.#server,
    ]);
  }

  /** Gives the connection with all of our locks; a new one when the last one was lost. */
  #connected(): Promise<pg.Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#options.db.direct.options, query_timeout: answerWithinMs });
    const connecting = this.#holdAll(client);
    // An error only precedes the end.
    client.on("error", () => {});
    client.once("end", () => void this.#comeBack(connecting));
    connecting.catch(() => this.#forget(connecting));
    return connecting;
  }

  async #holdAll(client: pg.Client): Promise<pg.Client> {
    try {
      await client.connect();
      await client.query(noticeLoss);
      for (const worker of this.#mine) await this.#hold(client, worker);
      return client;
    } catch (error) {
      cut(client);
      throw error;
    }
  }

  #forget(lost: Promise<pg.Client>): void {
    if (this.#client === lost) this.#client = undefined;
  }

  /** Takes the locks again at once, long before others conclude that we are gone. */
  async #comeBack(lost: Promise<pg.Client>): Promise<void> {
    this.#forget(lost);
    while (this.#client === undefined) {
      await this.#pause(reconnectAfterMs);
      if (this.#stopping.signal.aborted) return;
      await this.#connected().catch(() => {});
    }
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
    const client = await this.#connected();
    try {
      const { rows } = await client.query<{ id: string }>(render(listUnheld));
      return rows.map(({ id }) => id).filter((id) => !this.#mine.has(id));
    } catch (error) {
      cut(client);
      throw error;
    }
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
