import { setTimeout as delay } from "node:timers/promises";

import pg from "pg";

import type { Database } from "./connect.ts";
import { noticeLoss } from "./session-settings.ts";
import { render, type Sql } from "./sql.ts";

/** Something that lasts as long as the connection does: a lock of its session, and what belongs to it. */
export interface Hold {
  /** Takes it, statement after statement; again on each connection that follows a lost one. */
  take: readonly Sql[];
  giveBack: Sql;
}

/** The one connection of a server by which others see that it is there. It does nothing but hold locks, and look who else holds some. */
export interface LastingConnection {
  /**
   * Takes something on it. Whoever fails may call it again with the same name; the connection that comes back takes it, too.
   * @throws whatever went wrong with the present connection, or with making it.
   */
  hold(name: string, hold: Hold): Promise<void>;
  /** Gives back what is held by this name, if anything is. Never fails: a connection that is lost holds nothing. */
  letGo(name: string): Promise<void>;
  /** Asks something over it, so that its loss shows. @throws as `hold` does. */
  ask<Row extends pg.QueryResultRow>(statement: Sql): Promise<Row[]>;
  close(): Promise<void>;
}

const reconnectAfterMs = 500;

/** A connection that does not answer for so long is given up. */
const answerWithinMs = 10_000;

/** Closes a connection at once: asked to end in peace, it may never answer. */
function cut(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

class Lasting implements LastingConnection {
  readonly #options: pg.ClientConfig;
  readonly #holds = new Map<string, Hold>();
  readonly #closing = new AbortController();
  /** What was taken on each connection, by name, or is about to be: locks that are taken twice have to be given back twice. */
  readonly #taken = new WeakMap<pg.Client, Map<string, Promise<void>>>();
  #client: Promise<pg.Client> | undefined;
  #isComingBack = false;

  constructor(options: pg.ClientConfig) {
    this.#options = options;
  }

  async hold(name: string, hold: Hold): Promise<void> {
    this.#holds.set(name, hold);
    await this.#take(await this.#connected(), name, hold);
  }

  async letGo(name: string): Promise<void> {
    const hold = this.#holds.get(name);
    this.#holds.delete(name);
    const client = await this.#client?.catch(() => undefined);
    if (hold === undefined || client === undefined) return;
    const taken = this.#taken.get(client);
    await taken?.get(name)?.catch(() => {});
    taken?.delete(name);
    await this.#run(client, hold.giveBack).catch(() => {});
  }

  async ask<Row extends pg.QueryResultRow>(statement: Sql): Promise<Row[]> {
    return (await this.#run<Row>(await this.#connected(), statement)).rows;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const client = await this.#client?.catch(() => undefined);
    await client?.end().catch(() => {});
  }

  async #run<Row extends pg.QueryResultRow>(client: pg.Client, statement: Sql): Promise<pg.QueryResult<Row>> {
    try {
      return await client.query<Row>(render(statement));
    } catch (error) {
      cut(client);
      throw error;
    }
  }

  /** Takes something on a connection, unless that has it. */
  #take(client: pg.Client, name: string, { take }: Hold): Promise<void> {
    const all = this.#taken.get(client) ?? new Map<string, Promise<void>>();
    this.#taken.set(client, all);
    const taking =
      all.get(name) ??
      (async () => {
        for (const statement of take) await this.#run(client, statement);
      })();
    all.set(name, taking);
    return taking;
  }

  /** Gives the connection with all that is held; a new one when the last one was lost. */
  async #connected(): Promise<pg.Client> {
    if (this.#closing.signal.aborted) throw new Error("The connection is closed");
    this.#client ??= this.#connect();
    return this.#client;
  }

  #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#options, query_timeout: answerWithinMs });
    const connecting = this.#takeAll(client);
    // An error only precedes the end.
    client.on("error", () => {});
    client.once("end", () => void this.#comeBack(connecting));
    connecting.catch(() => this.#forget(connecting));
    return connecting;
  }

  async #takeAll(client: pg.Client): Promise<pg.Client> {
    try {
      await client.connect();
      await client.query(noticeLoss);
      for (const [name, hold] of this.#holds) await this.#take(client, name, hold);
      return client;
    } catch (error) {
      cut(client);
      throw error;
    }
  }

  #forget(lost: Promise<pg.Client>): void {
    if (this.#client === lost) this.#client = undefined;
  }

  /** Takes everything again at once, long before others conclude that we are gone. */
  async #comeBack(lost: Promise<pg.Client>): Promise<void> {
    this.#forget(lost);
    // Each connection that fails comes here as well.
    if (this.#isComingBack) return;
    this.#isComingBack = true;
    const { signal } = this.#closing;
    while (this.#client === undefined && !signal.aborted) {
      await delay(reconnectAfterMs, undefined, { signal }).catch(() => {});
      await this.#connected().catch(() => {});
    }
    this.#isComingBack = false;
  }
}

/** Makes the lasting connection of a server. Nothing is opened before something is held or asked. */
export function createLastingConnection({ direct }: Pick<Database, "direct">): LastingConnection {
  return new Lasting(direct.options);
}
