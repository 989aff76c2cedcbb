/** How a field's value is written, for the lowest bits of its tag (Protobuf, "Message Structure"). */
export const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Bytes that are free after each text and `room`: so much may be written without asking for more. */
const spare = 256;

const sizeOfVarint = (value: number): number =>
  value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;

/** What a hexadecimal digit stands for, by its code: `0` is 48, `a` is 97. */
const valueOf = (code: number): number => (code < 58 ? code - 48 : code - 87);

/**
 * Writes the few sorts of fields that spans need in Protobuf, into a buffer that grows. Values are taken to be of the field's type.
 * What is short is written byte by byte: a call out of the language, as to `Buffer.write`, takes longer than thirty of them.
 */
export class ProtobufWriter {
  #bytes: Buffer;
  #at = 0;

  /** @param capacity bytes to begin with. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  /** Gives what was written, until something is written again, which begins anew. */
  take(): Buffer {
    const written = this.#bytes.subarray(0, this.#at);
    this.#at = 0;
    return written;
  }

  /** Makes room for a part of a message: up to 256 bytes besides its texts. */
  room(count = 0): void {
    const needed = this.#at + count + spare;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = larger;
  }

  tag(field: number, type: number): void {
    this.varint((field << 3) | type);
  }

  /** Writes an integer of 64 bits, as all kinds of integers but `sint` are. */
  varint(value: number): void {
    if (value < 0 || value > 0xffff_ffff) {
      this.#largeVarint(BigInt.asUintN(64, BigInt(value)));
      return;
    }
    let left = value;
    while (left > 0x7f) {
      this.#bytes[this.#at++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    this.#bytes[this.#at++] = left;
  }

  #largeVarint(value: bigint): void {
    let left = value;
    for (; left > 0x7fn; left >>= 7n) this.#bytes[this.#at++] = Number(left & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(left);
  }

  fixed32(value: number): void {
    const [bytes, at] = [this.#bytes, this.#at];
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
    this.#at = at + 4;
  }

  double(value: number): void {
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** Writes so many seconds and nanoseconds as nanoseconds, in a `fixed64`. */
  nanoseconds(seconds: number, rest: number): void {
    // In parts, so that none has more than the 53 bits that a number keeps.
    const upper = Math.floor(seconds / 0x1_0000) * 1e9 * 0x1_0000;
    const lower = (seconds & 0xffff) * 1e9 + rest + (upper % 0x1_0000_0000);
    this.fixed32(lower >>> 0);
    this.fixed32(Math.floor(upper / 0x1_0000_0000) + Math.floor(lower / 0x1_0000_0000));
  }

  /** Writes bytes that are given in hexadecimal digits, in lower case. */
  hex(digits: string): void {
    const length = digits.length / 2;
    this.varint(length);
    const [bytes, at] = [this.#bytes, this.#at];
    for (let index = 0; index < length; index += 1)
      bytes[at + index] =
        (valueOf(digits.charCodeAt(2 * index)) << 4) | valueOf(digits.charCodeAt(2 * index + 1));
    this.#at = at + length;
  }

  /** Writes a text, as UTF-8. */
  text(text: string): void {
    // No UTF-16 unit takes more than three bytes, and most take one.
    this.room(text.length * 3);
    if (text.length < 0x80 && this.#shortAscii(text)) return;
    this.varint(Buffer.byteLength(text));
    this.#at += this.#bytes.write(text, this.#at);
  }

  /** Writes one of those that most texts are, without calling out of the language. @returns whether it is one. */
  #shortAscii(text: string): boolean {
    const [bytes, { length }] = [this.#bytes, text];
    const from = this.#at + 1;
    for (let index = 0; index < length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return false;
      bytes[from + index] = unit;
    }
    bytes[this.#at] = length;
    this.#at = from + length;
    return true;
  }

  /** Begins what is written with its length before it. @param reserved bytes that the length takes, as a rule. @returns what closes it. */
  open(reserved = 1): number {
    this.#at += reserved;
    return this.#at;
  }

  /** Ends it. @param from what `open` gave for the same number of reserved bytes. */
  close(from: number, reserved = 1): void {
    const length = this.#at - from;
    const size = sizeOfVarint(length);
    if (size !== reserved) this.#bytes.copyWithin(from - reserved + size, from, this.#at);
    this.#at = from - reserved;
    this.varint(length);
    this.#at += length;
  }
}
