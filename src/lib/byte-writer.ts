/** Makes one long text of many, as bytes in UTF-8: each part is copied once. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** @param capacity bytes there is room for at first; it grows when that is too little. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(1, capacity));
  }

  text(text: string): void {
    // No UTF-16 unit takes more than three bytes.
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Everything so far. Nothing may be written afterwards: it is not a copy. */
  result(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.result());
    this.#bytes = larger;
  }
}
