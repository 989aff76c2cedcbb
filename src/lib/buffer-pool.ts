/** Size of the smallest buffer, in bytes. Sizes are powers of two. */
const smallest = 32 * 1024;

/**
 * A pool of long buffers that are used again. V8 counts memory outside of its heap, too, and collects garbage when much
 * of that is new: for answers of megabytes a new buffer each time costs more than writing the answer.
 */
export class BufferPool {
  readonly #free = new Map<number, Buffer[]>();
  readonly #limit: number;
  #kept = 0;

  /** @param limit bytes that unused buffers may take together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Gives a buffer of at least this many bytes, whose content is arbitrary. */
  take(length: number): Buffer {
    const size = Math.max(smallest, 2 ** Math.ceil(Math.log2(Math.max(1, length))));
    const found = this.#free.get(size)?.pop();
    if (found === undefined) return Buffer.allocUnsafeSlow(size);
    this.#kept -= size;
    return found;
  }

  /** Returns a buffer to the pool. The caller must not use it any more. */
  giveBack(buffer: Buffer): void {
    const size = buffer.length;
    if (this.#kept + size > this.#limit) return;
    this.#kept += size;
    const alike = this.#free.get(size);
    if (alike === undefined) this.#free.set(size, [buffer]);
    else alike.push(buffer);
  }
}
