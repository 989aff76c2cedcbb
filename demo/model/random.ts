/** A source of pseudo-random choices, the same for the same seed. Not for secrets. */
export interface Random {
  /** Gives a number from 0 (included) to 1 (excluded). */
  next(): number;
  /** Gives a whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  /** Gives true with this probability. */
  chance(probability: number): boolean;
  /** Picks one of the items, each as likely as its weight says. */
  weighted<T extends { weight: number }>(items: readonly T[]): T;
  /** Gives the items in another order. */
  shuffled<T>(items: readonly T[]): T[];
}

/** Hashes a text to 32 bits (FNV-1a). */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Makes a generator of numbers from 0 to 1, `mulberry32`: 32 bits of state are enough to make things up. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Creates a source.
 * @param seed any text. Give each purpose its own, so that a change of one leaves the others alone.
 */
export function createRandom(seed: string): Random {
  const next = mulberry32(hash32(seed));
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  function pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("Nothing to pick from");
    return items[Math.floor(next() * items.length)] as T;
  }
  function weighted<T extends { weight: number }>(items: readonly T[]): T {
    let rest = next() * items.reduce((sum, item) => sum + item.weight, 0);
    for (const item of items) {
      rest -= item.weight;
      if (rest < 0) return item;
    }
    return pick(items);
  }
  function shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let last = result.length - 1; last > 0; last -= 1) {
      const other = int(0, last);
      [result[last], result[other]] = [result[other] as T, result[last] as T];
    }
    return result;
  }
  return { next, int, pick, chance: (probability) => next() < probability, weighted, shuffled };
}
