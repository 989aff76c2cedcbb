import { compressAside, compressNow, type Encoding, PieceCompressor } from "../lib/compress.ts";
import { FairSlots, NoSlot } from "../lib/fair-slots.ts";

/** Shorter answers fit into a packet anyway, and would hardly become shorter. In bytes. */
export const shortestCompressed = 1024;

/** Compressing so much takes a tenth of a millisecond, as handing it to a thread does. In bytes. */
const atOnce = 16 * 1024;

/** For whom something is compressed. */
interface Client {
  owner: string;
  signal: AbortSignal;
}

/** Makes bytes to send of pieces; see `PieceCompressor`. */
export type PieceEncoder = Pick<PieceCompressor, "add" | "end" | "close">;

/**
 * Compresses what is sent, in two of the four threads that files are read and written by as well. Callers take turns, each with a
 * piece at a time, so that nobody waits for a long answer of somebody else.
 */
export class Compression {
  readonly #slots: FairSlots;

  /** @param waitMs how long a piece may wait for its turn. */
  constructor(waitMs: number) {
    this.#slots = new FairSlots({ total: 2, perOwner: 1, waiting: 1_000, waitMs });
  }

  /**
   * Compresses a whole answer, whose bytes must stay as they are meanwhile.
   * @returns undefined when too much else is to be compressed: then it goes out as it is.
   */
  async whole(owner: string, encoding: Encoding, bytes: Buffer): Promise<Buffer | undefined> {
    if (bytes.length <= atOnce) return compressNow(encoding, bytes);
    try {
      const { signal } = new AbortController();
      return await this.#inTurn({ owner, signal }, () => compressAside(encoding, bytes));
    } catch (error) {
      if (error instanceof NoSlot) return undefined;
      throw error;
    }
  }

  /** Begins to compress an answer that is sent in pieces, to a client that is there until `signal` says otherwise. */
  pieces(encoding: Encoding, client: Client): PieceEncoder {
    const compressor = new PieceCompressor(encoding);
    return {
      add: (piece) => this.#inTurn(client, () => compressor.add(piece)),
      end: () => this.#inTurn(client, () => compressor.end()),
      close: () => compressor.close(),
    };
  }

  async #inTurn({ owner, signal }: Client, work: () => Promise<Buffer>): Promise<Buffer> {
    const release = await this.#slots.take(owner, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }
}
