/**
 * Remembers what texts come to, as long as the texts together are not too long; what was not asked for longest is
 * forgotten first. Only for what never changes.
 */
export class TextCache<Value> {
  readonly #maxLength: number;
  readonly #entries = new Map<string, { value: Value; length: number }>();
  #length = 0;

  /** @param maxLength UTF-16 units of all texts remembered. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Maps keep the order of insertion: the first is the one that was not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value, length: number): void {
    this.#length += length - (this.#entries.get(key)?.length ?? 0);
    this.#entries.delete(key);
    this.#entries.set(key, { value, length });
    for (const [oldest, entry] of this.#entries) {
      if (this.#length <= this.#maxLength) break;
      this.#entries.delete(oldest);
      this.#length -= entry.length;
    }
  }
}
