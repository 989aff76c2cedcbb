import { BufferPool } from "./buffer-pool.ts";

const encoder = new TextEncoder();

/** Buffers that writers share. */
const pool = new BufferPool(32 * 1024 * 1024);

/** Joins many texts and bytes into one buffer, as UTF-8. Each part is copied once. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param capacity bytes to begin with; the buffer grows when they do not suffice. */
  constructor(capacity: number) {
    this.#bytes = pool.take(capacity);
  }

  text(text: string): void {
    // No UTF-16 unit takes more than three bytes, and most take one.
    if (this.#length + text.length * 3 <= this.#bytes.length) {
      this.#length += this.#bytes.write(text, this.#length);
      return;
    }
    const { read, written } = encoder.encodeInto(text, this.#bytes.subarray(this.#length));
    this.#length += written;
    if (read === text.length) return;
    this.#reserve((text.length - read) * 3);
    this.#length += this.#bytes.write(text.slice(read), this.#length);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Number of bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Starts over in the same buffer, which overwrites the last result. */
  clear(): void {
    this.#length = 0;
  }

  /** Gives everything written so far, not as a copy: write nothing afterwards. */
  result(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * Returns the buffer to the pool, once the result is not needed any more. A writer that is not released is
   * garbage-collected.
   */
  release(): void {
    pool.giveBack(this.#bytes);
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = pool.take(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.result());
    pool.giveBack(this.#bytes);
    this.#bytes = larger;
  }
}
