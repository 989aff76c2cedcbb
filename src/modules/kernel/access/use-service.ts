import type { Executor } from "../../../db/connect.ts";
import type { Principal } from "../../../domain/principal.ts";
import type { Timestamp } from "../../../lib/clock.ts";
import { wideNetworkOf } from "../../../lib/network-list.ts";
import type { Deps } from "../deps.ts";
import { updateLastUses } from "./key-store.ts";
import { insertNetworkUses, type NetworkUse } from "./network-store.ts";
import { updateSessionUses } from "./session-store.ts";

/** When keys and sessions were used, and keys from which networks: remembered, and written down now and then, so that requests need not. */
export interface KeyUse {
  used(by: Pick<Principal, "api_key_id" | "session_id" | "address">): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

type UseDeps = Pick<Deps, "db" | "clock" | "log">;

/** Uses of one kind of things, by their ids. */
class Uses {
  readonly #write: (db: Executor, uses: ReadonlyMap<string, Timestamp>) => Promise<void>;
  #seen = new Map<string, Timestamp>();

  constructor(write: (db: Executor, uses: ReadonlyMap<string, Timestamp>) => Promise<void>) {
    this.#write = write;
  }

  note(id: string | null, at: Timestamp): void {
    if (id !== null) this.#seen.set(id, at);
  }

  /** Writes down what was noted. What cannot be written is kept for the next time. */
  async flush({ db, log }: UseDeps): Promise<void> {
    if (this.#seen.size === 0) return;
    const batch = this.#seen;
    this.#seen = new Map();
    try {
      await this.#write(db, batch);
    } catch (error) {
      log.warn({ err: error }, "could not record the last use of keys");
      for (const [id, at] of batch) if (!this.#seen.has(id)) this.#seen.set(id, at);
    }
  }
}

/** Networks of keys that are known to be written, or wait to be; beyond that all are looked at again. */
const mostKnown = 10_000;

/** Networks that keys were used from. */
class Networks {
  readonly #known = new Set<string>();
  #fresh: NetworkUse[] = [];

  note(key_id: string, address: string, at: Timestamp): void {
    const name = `${key_id} ${address}`;
    if (this.#known.has(name)) return;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.add(name);
    const network = wideNetworkOf(address);
    if (network !== undefined && this.#fresh.length < mostKnown) this.#fresh.push({ key_id, network, at });
  }

  /** Writes down what was noted. What cannot be written is noted again when it is used again. */
  async flush({ db, log }: UseDeps): Promise<void> {
    if (this.#fresh.length === 0) return;
    const batch = this.#fresh;
    this.#fresh = [];
    try {
      await insertNetworkUses(db, batch);
    } catch (error) {
      log.warn({ err: error }, "could not record the networks of keys");
      this.#known.clear();
    }
  }
}

const flushEveryMs = 30_000;

/** Begins to remember uses. They are written at most half a minute late; a crash loses the last half minute of them. */
export function trackKeyUse(deps: UseDeps): KeyUse {
  const keys = new Uses(updateLastUses);
  const sessions = new Uses(updateSessionUses);
  const networks = new Networks();

  async function flush(): Promise<void> {
    await keys.flush(deps);
    await sessions.flush(deps);
    await networks.flush(deps);
  }

  const timer = setInterval(() => void flush(), flushEveryMs);
  timer.unref();
  return {
    used: ({ api_key_id, session_id, address }) => {
      const at = deps.clock.now();
      keys.note(api_key_id, at);
      sessions.note(session_id, at);
      if (api_key_id !== null && address !== null) networks.note(api_key_id, address, at);
    },
    flush,
    stop: () => {
      clearInterval(timer);
      return flush();
    },
  };
}
