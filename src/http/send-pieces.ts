import type { ServerResponse } from "node:http";

import type { FastifyReply, FastifyRequest } from "fastify";

import { Pause, type Piece } from "../contract/endpoint.ts";
import { overloaded } from "../domain/errors.ts";
import { ByteWriter } from "../lib/byte-writer.ts";
import { FairSlots, NoSlot } from "../lib/fair-slots.ts";
import { nextTurn } from "../lib/turns.ts";
import type { Compression, PieceEncoder } from "./compression.ts";
import { ownerOf } from "./owner.ts";
import { type AnswerHead, tagAnswer, type WholeSender } from "./send-whole.ts";

/** What is sent at a time, in bytes, more or less. */
const pieceBytes = 128 * 1024;

/** How long a piece may take to make before what there is of it is sent. */
const pieceMs = 5;

/** The other side has closed the connection. */
class ClientGone extends Error {
  constructor() {
    super("The client went away before its answer was sent");
  }
}

/** Tells when nobody is there any more to send to. */
function watchConnection({ raw }: FastifyRequest): { signal: AbortSignal; forget: () => void } {
  const controller = new AbortController();
  const { socket } = raw;
  const gone = (): void => controller.abort(new ClientGone());
  if (socket.destroyed) gone();
  else socket.once("close", gone);
  return { signal: controller.signal, forget: () => socket.removeListener("close", gone) };
}

/** Resolves when the kernel has the bytes, so that they may be used again. */
async function write(raw: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    raw.write(bytes, (error) => {
      signal.removeEventListener("abort", onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}

function add(writer: ByteWriter, piece: Piece): void {
  if (typeof piece === "string") writer.text(piece);
  else if (Buffer.isBuffer(piece)) writer.bytes(piece);
  else piece.writeTo(writer);
}

/** What comes after the pieces that were gathered: nothing, more of them, or more of them after a pause. */
type Continuation = "nothing" | "more" | Pause;

/**
 * Adds pieces until it is worth sending them.
 * @param sendAlone sends a piece of bytes that is worth sending by itself, while nothing was added. Without it, such a piece
 * is copied as others are.
 */
async function gather(
  pieces: AsyncIterator<Piece | Pause>,
  writer: ByteWriter,
  sendAlone?: (bytes: Buffer) => Promise<void>,
): Promise<Continuation> {
  const begun = performance.now();
  do {
    const next = await pieces.next();
    if (next.done === true) return "nothing";
    const { value } = next;
    if (value instanceof Pause) return value;
    if (
      sendAlone !== undefined &&
      writer.length === 0 &&
      Buffer.isBuffer(value) &&
      value.length >= pieceBytes
    ) {
      await sendAlone(value);
      return "more";
    }
    add(writer, value);
  } while (writer.length < pieceBytes && performance.now() - begun < pieceMs);
  return "more";
}

export interface LongAnswer extends AnswerHead {
  pieces: AsyncIterable<Piece | Pause>;
  /** Making it holds a file or the like from its first piece on, so that its turn has to come before that. */
  holds?: boolean;
}

/** The turn of an answer among the others that are sent. */
class Turn {
  readonly #take: () => Promise<() => void>;
  #giveBack: (() => void) | undefined;

  constructor(take: () => Promise<() => void>) {
    this.#take = take;
  }

  /** Waits for it, unless it has come. */
  async begin(): Promise<void> {
    this.#giveBack ??= await this.#take();
  }

  end(): void {
    this.#giveBack?.();
    this.#giveBack = undefined;
  }
}

/** Sends answers of any length: piece by piece, each when the one before has left, a limited number of them at once. */
export class PieceSender {
  readonly #slots: FairSlots;
  readonly #whole: WholeSender;
  readonly #compression: Compression;

  /** @param waitMs how long an answer may wait until others are done. */
  constructor(waitMs: number, others: { whole: WholeSender; compression: Compression }) {
    this.#whole = others.whole;
    this.#compression = others.compression;
    this.#slots = new FairSlots({ total: 64, perOwner: 32, waiting: 4_000, waitMs });
  }

  /** How many long answers are under way, and how many wait for their turn. */
  get state(): { active: number; waiting: number } {
    return this.#slots.state;
  }

  /**
   * Makes and sends an answer. What fails before its first piece is thrown; later the connection is broken off, because
   * status and headers are gone by then, and the log says why. One that turns out to be short is sent in one, and of one that the
   * caller has, nothing is made.
   * @throws AppError unavailable when too many others are being sent.
   */
  async send(request: FastifyRequest, reply: FastifyReply, answer: LongAnswer): Promise<FastifyReply> {
    const iterator = answer.pieces[Symbol.asyncIterator]();
    const connection = watchConnection(request);
    const { signal } = connection;
    const writer = new ByteWriter(pieceBytes);
    const turn = new Turn(() => this.#takeSlot(request, signal));
    try {
      if (answer.version !== undefined && tagAnswer(request, reply, answer, answer.version))
        return reply.code(304).send();
      if (answer.holds === true) await turn.begin();
      let next = await gather(iterator, writer);
      // What may be kept has a tag, which without a version only a whole has: whether it is one is not to depend on how busy the machine is.
      while (next === "more" && answer.terms.isKept && writer.length < pieceBytes) {
        await nextTurn();
        next = await gather(iterator, writer);
      }
      if (next === "nothing")
        return await this.#whole.send(request, reply, answer, writer.result(), () => writer.release());
      // Nobody would get the rest.
      if (request.method === "HEAD") return sendHead(reply, answer);
      await turn.begin();
      const { encoding } = answer.terms;
      const client = { owner: ownerOf(request), signal };
      const encoder = encoding === undefined ? undefined : this.#compression.pieces(encoding, client);
      await sendRest(reply, answer, { iterator, next, writer, signal, turn, encoder });
      return reply;
    } catch (error) {
      if (!(error instanceof ClientGone)) throw error;
      request.log.info("client went away before its answer was sent");
      reply.hijack().raw.destroy();
      return reply;
    } finally {
      connection.forget();
      turn.end();
      await iterator.return?.().catch(() => undefined);
    }
  }

  async #takeSlot(request: FastifyRequest, signal: AbortSignal): Promise<() => void> {
    try {
      return await this.#slots.take(ownerOf(request), signal);
    } catch (error) {
      throw error instanceof NoSlot ? overloaded() : error;
    }
  }
}

interface Rest {
  iterator: AsyncIterator<Piece | Pause>;
  /** With the first piece in it. */
  writer: ByteWriter;
  /** What comes after that. */
  next: Continuation;
  signal: AbortSignal;
  /** Which has come. */
  turn: Turn;
  /** What compresses the pieces, if anything does. */
  encoder: PieceEncoder | undefined;
}

function beginAnswer(reply: FastifyReply, { status, headers, terms }: AnswerHead): void {
  reply.code(status).headers(headers);
  if (terms.isCompressible && !reply.hasHeader("vary")) reply.header("vary", terms.vary);
  if (terms.encoding !== undefined) reply.header("content-encoding", terms.encoding);
  reply.hijack();
  reply.raw.writeHead(status, reply.getHeaders() as Record<string, string>);
}

/** Sends the head alone, with a length only if the handler knows it. */
export function sendHead(reply: FastifyReply, head: AnswerHead): FastifyReply {
  beginAnswer(reply, head);
  reply.raw.end();
  return reply;
}

async function sendRest(reply: FastifyReply, head: AnswerHead, rest: Rest): Promise<void> {
  const { iterator, writer, signal, turn, encoder } = rest;
  signal.throwIfAborted();
  const { raw } = reply;
  const sendBytes = async (bytes: Buffer): Promise<void> =>
    write(raw, encoder === undefined ? bytes : await encoder.add(bytes), signal);
  const sendWritten = async (): Promise<void> => {
    if (writer.length > 0) await sendBytes(writer.result());
  };
  try {
    beginAnswer(reply, head);
    for (let { next } = rest; next !== "nothing";) {
      await sendWritten();
      writer.clear();
      if (next instanceof Pause) {
        turn.end();
        await next.over;
        await turn.begin();
      }
      await nextTurn();
      // Also where there was nothing to send, which is when nobody else notices.
      signal.throwIfAborted();
      next = await gather(iterator, writer, sendBytes);
    }
    await sendWritten();
    if (encoder !== undefined) await write(raw, await encoder.end(), signal);
    raw.end();
    writer.release();
  } catch (error) {
    if (error instanceof ClientGone || signal.aborted)
      reply.log.info("client went away before its answer was sent");
    else reply.log.error({ err: error }, "response broke off");
    raw.destroy();
  } finally {
    encoder?.close();
  }
}
