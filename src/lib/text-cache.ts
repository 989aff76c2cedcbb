/**
 * A cache by text that drops the least recently used entries when all together are too long. Values that change have to be
 * set again, or deleted.
 */
export class TextCache<Value> {
  readonly #maxLength: number;
  readonly #entries = new Map<string, { value: Value; length: number }>();
  #length = 0;

  /** @param maxLength limit to the sum of the entries' lengths, in any unit. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The sum of the entries' lengths. */
  get length(): number {
    return this.#length;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Maps keep the order of insertion: the first is the one that was not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  delete(key: string): void {
    this.#length -= this.#entries.get(key)?.length ?? 0;
    this.#entries.delete(key);
  }

  set(key: string, value: Value, length: number): void {
    this.delete(key);
    this.#length += length;
    this.#entries.set(key, { value, length });
    for (const [oldest, entry] of this.#entries) {
      if (this.#length <= this.#maxLength) break;
      this.#entries.delete(oldest);
      this.#length -= entry.length;
    }
  }
}
