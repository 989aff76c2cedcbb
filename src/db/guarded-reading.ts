import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

import type pg from "pg";

import { leftInTurn, nextTurn, spendInTurn } from "../lib/turns.ts";

/** What is guarded of the driver's client and its connection. */
interface Reading {
  connection: EventEmitter & {
    stream: Pick<Socket, "destroy" | "pause" | "resume">;
    /** Has the driver read what comes on the stream; called when the connection is open, with TLS or without. */
    attachListeners(stream: Pick<EventEmitter, "on">): void;
  };
  /** The query whose answer is being read. */
  _activeQuery: { handleError(error: unknown, connection: unknown): void } | null;
}

/** A byte for the kind of a message and four for its length, which counts itself (PostgreSQL documentation 54.7). */
const headBytes = 5;
const lengthBytes = 4;

/** Follows the messages of a connection, of which it holds no more than the head. */
export class MessageLengths {
  readonly #limit: number;
  readonly #head = Buffer.alloc(headBytes);
  #headHas = 0;
  /** Bytes of the present message that are still to come. */
  #left = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes what came. @returns where in it a message begins that has more bytes than the limit; undefined when none does. */
  take(bytes: Buffer): { from: number; length: number } | undefined {
    for (let at = 0; at < bytes.length;) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, bytes.length - at);
        this.#left -= passed;
        at += passed;
        continue;
      }
      const from = Math.max(0, at - this.#headHas);
      const taken = bytes.copy(this.#head, this.#headHas, at);
      this.#headHas += taken;
      at += taken;
      if (this.#headHas < headBytes) break;
      this.#headHas = 0;
      const length = this.#head.readUInt32BE(1);
      if (length > this.#limit) return { from, length };
      this.#left = length - lengthBytes;
    }
    return undefined;
  }
}

/** Milliseconds of reading that are too few to count. */
const briefly = 0.5;

/**
 * Reads what came on a stream, and lets others in between when much has been read in one turn: a socket tells of up to two megabytes in a
 * turn, which are thousands of rows.
 */
function readInTurns(
  stream: Pick<Socket, "pause" | "resume">,
  read: (bytes: Buffer) => void,
  bytes: Buffer,
): void {
  const begun = performance.now();
  read(bytes);
  const took = performance.now() - begun;
  if (took < briefly) return;
  spendInTurn(took);
  if (leftInTurn() > 0) return;
  stream.pause();
  void nextTurn().then(() => stream.resume());
}

/** A row has to fit into a text of V8 (512 MB), and while it is read three times into memory. */
const largestRow = 256 * 1024 * 1024;

/**
 * Has a query fail, and not the process, when the driver fails while it reads: it does so in a listener of the socket, where
 * nobody catches anything. What has more bytes than a limit is not read at all. What of its answer is still to come
 * belongs to nobody then, so the connection is closed, and others that wait for answers on it are told that it is.
 * @param limit bytes of a message, which is a row in most cases.
 */
export function guardReading(client: pg.Client, limit = largestRow): void {
  const reading = client as unknown as Reading;
  const { connection } = reading;
  const attachListeners = connection.attachListeners.bind(connection);

  const giveUp = (error: unknown): void => {
    const { _activeQuery: query } = reading;
    reading._activeQuery = null;
    query?.handleError(error, connection);
    connection.emit(
      "error",
      new Error("Connection terminated: its answers cannot be read", { cause: error }),
    );
    connection.stream.destroy();
  };

  connection.attachListeners = (stream) => {
    const lengths = new MessageLengths(limit);
    const guarded = (read: (bytes: Buffer) => void) => (bytes: Buffer) => {
      try {
        const tooLong = lengths.take(bytes);
        if (tooLong === undefined) return readInTurns(connection.stream, read, bytes);
        // Answers before it are those of others.
        if (tooLong.from > 0) read(bytes.subarray(0, tooLong.from));
        throw new Error(`PostgreSQL answers ${tooLong.length} bytes in one, more than ${limit}`);
      } catch (error) {
        return giveUp(error);
      }
    };
    const guard: Pick<EventEmitter, "on"> = {
      on: (event, listener) => {
        stream.on(event, event === "data" ? guarded(listener) : listener);
        return guard as EventEmitter;
      },
    };
    attachListeners(guard);
  };
}
