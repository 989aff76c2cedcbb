/** What was found of something that something else may change. */
interface Found {
  /** Stands for the state of the world that it was found in; null where nothing does. */
  state: string | null;
  /** When it no longer holds though the state is the same, in Unix seconds; null: never. */
  ends_at: number | null;
}

/** What is known of some things, if the world is still in this state. */
export interface Recalled<Value> {
  state: string;
  values: Value[];
}

/** What is looked for, by its name, at a moment in Unix seconds. */
interface Asked {
  name: string;
  at: number;
}

/** Things remembered at most. */
const mostKnown = 2_000;

/** What has a longer name is not remembered: callers may choose it. In UTF-16 units. */
const longestName = 300;

/** So long is nothing believed without being looked up again, whatever the state says. In milliseconds. */
const longestMs = 1_000;

/**
 * Remembers what was found for as long as the world is in the state in which it was found, so that one need only ask for the state. Where states
 * hardly last, so that asking would be in vain, nothing is recalled.
 */
export class KnownInState<Value extends Found> {
  #state: string | null = null;
  #since = -Infinity;
  /** Whether the state has been found more than once. */
  #lasts = false;
  readonly #values = new Map<string, Value>();

  /** Gives what is known of these, in their order; undefined when something is not. */
  recall(asked: readonly Asked[]): Recalled<Value> | undefined {
    if (this.#state === null || !this.#lasts || performance.now() - this.#since > longestMs) return undefined;
    const values: Value[] = [];
    for (const { name, at } of asked) {
      const value = this.#values.get(name);
      if (value === undefined || (value.ends_at !== null && value.ends_at <= at)) return undefined;
      values.push(value);
    }
    return { state: this.#state, values };
  }

  /**
   * Remembers what was found of these, in one state.
   * @param sentAt when it was asked for, as `performance.now()` says.
   */
  note(asked: readonly Asked[], found: readonly Value[], sentAt: number): void {
    const state = found[0]?.state ?? null;
    const isSame = state === this.#state && sentAt - this.#since <= longestMs;
    this.#lasts = isSame;
    if (!isSame) {
      this.#values.clear();
      this.#state = state;
      this.#since = sentAt;
    }
    for (const [index, { name }] of asked.entries())
      if (this.#values.size < mostKnown && name.length <= longestName)
        this.#values.set(name, found[index] as Value);
  }
}
