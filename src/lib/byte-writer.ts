import { BufferShelf } from "./buffer-shelf.ts";

const encoder = new TextEncoder();

/** What is kept for the next writers, in bytes. */
const shelf = new BufferShelf(32 * 1024 * 1024);

/** Makes one long text of many, as bytes in UTF-8: each part is copied once. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param capacity bytes there is room for at first; it grows when that is too little. */
  constructor(capacity: number) {
    this.#bytes = shelf.take(capacity);
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

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Begins anew, in the same bytes. Nobody may look at the last result any more. */
  clear(): void {
    this.#length = 0;
  }

  /** Everything so far. Nothing may be written afterwards: it is not a copy. */
  result(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Lets others use the bytes. Call it when nobody looks at the result any more; or never, then they are collected. */
  release(): void {
    shelf.giveBack(this.#bytes);
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = shelf.take(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.result());
    shelf.giveBack(this.#bytes);
    this.#bytes = larger;
  }
}
