import { createHash } from "node:crypto";

import { answerWithin } from "../answer-within.ts";
import { mebibyte } from "../units.ts";
import type { Bucket, SentPart } from "./bucket.ts";

/** An object that is written piece by piece, and is there when it is finished. */
export interface Upload {
  write(piece: Buffer): Promise<void>;
  finish(): Promise<void>;
  /** Leaves nothing behind, as far as the service answers. Never fails. */
  abandon(): Promise<void>;
}

const leastPartBytes = 8 * mebibyte;
/** Of 10,000 that there may be: what is written may be more than was expected. */
const expectedParts = 4_000;

/** Chooses how many bytes the parts of an object have, all but the last, of which there may be 10,000. */
export function partBytesFor(expectedBytes: number): number {
  return Math.max(leastPartBytes, Math.ceil(expectedBytes / expectedParts / mebibyte) * mebibyte);
}

/** How long the part of an upload that is given up may take to arrive, in milliseconds. */
const lastPartMs = 500;

/** Gathers pieces into parts, one of which is on its way while the next one fills: two are in memory. */
class PartedUpload implements Upload {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #upload: string;
  readonly #buffer: Buffer;
  #hash = createHash("sha256");
  readonly #parts: SentPart[] = [];
  #filled = 0;
  #bytes = 0;
  #number = 0;
  #onItsWay: Promise<void> = Promise.resolve();
  readonly #givingUp = new AbortController();
  #isAbandoned = false;
  #hasAskedToComplete = false;
  #isComplete = false;

  constructor(bucket: Bucket, name: string, upload: string, partBytes: number) {
    this.#bucket = bucket;
    this.#name = name;
    this.#upload = upload;
    this.#buffer = Buffer.allocUnsafe(partBytes);
  }

  /** Sends what was gathered, when the part before it has arrived. */
  async #send(): Promise<void> {
    await this.#onItsWay;
    // What is sent while an upload is aborted may stay there.
    if (this.#isAbandoned) throw new Error("The upload was given up");
    const bytes = Buffer.from(this.#buffer.subarray(0, this.#filled));
    const sha256 = this.#hash.digest("hex");
    this.#hash = createHash("sha256");
    this.#filled = 0;
    this.#number += 1;
    const number = this.#number;
    this.#onItsWay = this.#bucket
      .sendPart(this.#name, this.#upload, { number, bytes, sha256, signal: this.#givingUp.signal })
      .then((sent) => void this.#parts.push(sent));
    // Told by whoever waits for it next.
    this.#onItsWay.catch(() => {});
  }

  async write(piece: Buffer): Promise<void> {
    for (let from = 0; from < piece.length;) {
      const copied = piece.copy(this.#buffer, this.#filled, from);
      // Bit by bit: a digest of a whole part would hold up everybody else.
      this.#hash.update(piece.subarray(from, from + copied));
      from += copied;
      this.#filled += copied;
      this.#bytes += copied;
      if (this.#filled === this.#buffer.length) await this.#send();
    }
  }

  async finish(): Promise<void> {
    if (this.#filled > 0 || this.#number === 0) await this.#send();
    await this.#onItsWay;
    this.#hasAskedToComplete = true;
    await this.#bucket.completeUpload(this.#name, this.#upload, this.#parts, this.#bytes);
    this.#isComplete = true;
  }

  async abandon(): Promise<void> {
    if (this.#isComplete) return;
    this.#isAbandoned = true;
    // What is sent while an upload is aborted may stay there; what takes long is not waited for.
    await answerWithin(
      lastPartMs,
      this.#onItsWay.catch(() => {}),
      () => this.#givingUp.abort(),
    );
    await this.#onItsWay.catch(() => {});
    await this.#bucket.abortUpload(this.#name, this.#upload).catch(() => {});
    // Whoever was not answered does not know what came of it.
    if (this.#hasAskedToComplete) await this.#bucket.remove(this.#name).catch(() => {});
  }
}

/**
 * Begins an object. @param expectedBytes how large it may become, as far as that is known: it can have twice as many.
 * @throws BucketError when that is refused.
 */
export async function openUpload(bucket: Bucket, name: string, expectedBytes: number): Promise<Upload> {
  return new PartedUpload(bucket, name, await bucket.beginUpload(name), partBytesFor(expectedBytes));
}
