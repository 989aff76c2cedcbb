/** The smallest buffer there is, in bytes. */
const smallest = 32 * 1024;

/**
 * Keeps long buffers for the next one who needs such. V8 counts what is outside of its heap too, and when enough of it is
 * new it looks through all of the heap: answers of megabytes, made anew each time, cost more so than in the making.
 */
export class BufferShelf {
  readonly #free = new Map<number, Buffer[]>();
  readonly #limit: number;
  #kept = 0;

  /** @param limit how many bytes to keep at most. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A buffer with room for so many bytes, with anything in it. */
  take(length: number): Buffer {
    const size = Math.max(smallest, 2 ** Math.ceil(Math.log2(Math.max(1, length))));
    const found = this.#free.get(size)?.pop();
    if (found === undefined) return Buffer.allocUnsafeSlow(size);
    this.#kept -= size;
    return found;
  }

  /** Makes a buffer that was taken available to others. Nobody may use it any more. */
  giveBack(buffer: Buffer): void {
    const size = buffer.length;
    if (this.#kept + size > this.#limit) return;
    this.#kept += size;
    const alike = this.#free.get(size);
    if (alike === undefined) this.#free.set(size, [buffer]);
    else alike.push(buffer);
  }
}
