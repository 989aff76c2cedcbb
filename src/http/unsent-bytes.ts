/** Bytes that may be in memory, of all callers together and of one of them. */
const limits = { total: 64 * 1024 * 1024, perOwner: 32 * 1024 * 1024 };

/** Counts the bytes of answers that are in memory in full until their clients have read them. */
export class UnsentBytes {
  readonly #byOwner = new Map<string, number>();
  #total = 0;

  /**
   * Counts bytes that are about to be sent.
   * @returns what is to be called when they are gone; undefined when there is no room for so many more.
   */
  take(owner: string, bytes: number): (() => void) | undefined {
    const before = this.#byOwner.get(owner) ?? 0;
    const isAlone = before === 0;
    if (this.#total + bytes > limits.total || (!isAlone && before + bytes > limits.perOwner))
      return undefined;
    this.#total += bytes;
    this.#byOwner.set(owner, before + bytes);
    return () => {
      this.#total -= bytes;
      const left = (this.#byOwner.get(owner) ?? 0) - bytes;
      if (left === 0) this.#byOwner.delete(owner);
      else this.#byOwner.set(owner, left);
    };
  }
}
