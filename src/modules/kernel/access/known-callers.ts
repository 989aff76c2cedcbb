import type { Timestamp } from "../../../lib/clock.ts";

/** What was found of a caller. */
interface Found {
  /** Stands for the state of the database that it was found in; null where nothing does. */
  state: string | null;
  /** When it no longer holds, though nothing is written; null: never. */
  ends_at: Timestamp | null;
}

/** What is known of some callers, if the database is still in this state. */
export interface Recalled<Row> {
  state: string;
  rows: Row[];
}

interface Asked {
  key: Buffer | null;
  session: Buffer | null;
  org: string | null;
  at: Timestamp;
}

/** Callers remembered at most. */
const mostKnown = 2_000;

/** So long is nothing believed without looking at the rows again, whatever the state says. In milliseconds. */
const longestMs = 1_000;

function nameOf({ key, session, org }: Asked): string {
  const secret = key === null ? `s${session?.toString("latin1") ?? ""}` : `k${key.toString("latin1")}`;
  return `${secret} ${org ?? ""}`;
}

/**
 * Remembers callers for as long as the database is in the state in which they were found, so that it need only be asked for its state. Where
 * states hardly last, so that asking would be in vain, it remembers none.
 */
export class KnownCallers<Row extends Found> {
  #state: string | null = null;
  #since = -Infinity;
  /** Whether the state has been found more than once. */
  #lasts = false;
  readonly #rows = new Map<string, Row>();

  /** Gives what is known of these callers; undefined when something is not. */
  recall(asked: readonly Asked[]): Recalled<Row> | undefined {
    if (this.#state === null || !this.#lasts || performance.now() - this.#since > longestMs) return undefined;
    const rows: Row[] = [];
    for (const one of asked) {
      const row = this.#rows.get(nameOf(one));
      if (row === undefined || (row.ends_at !== null && row.ends_at <= one.at)) return undefined;
      rows.push(row);
    }
    return { state: this.#state, rows };
  }

  /**
   * Remembers what one statement has found of these callers, and when it was sent.
   * @param sentAt as `performance.now()` says.
   */
  note(asked: readonly Asked[], rows: readonly Row[], sentAt: number): void {
    const state = rows[0]?.state ?? null;
    const isSame = state === this.#state && sentAt - this.#since <= longestMs;
    this.#lasts = isSame;
    if (!isSame) {
      this.#rows.clear();
      this.#state = state;
      this.#since = sentAt;
    }
    for (const [index, one] of asked.entries())
      if (this.#rows.size < mostKnown) this.#rows.set(nameOf(one), rows[index] as Row);
  }
}
