import type { ServerResponse } from "node:http";

import type { FastifyReply, FastifyRequest } from "fastify";

import type { Piece } from "../contract/endpoint.ts";
import { overloaded } from "../domain/errors.ts";
import { ByteWriter } from "../lib/byte-writer.ts";
import { FairSlots, NoSlot } from "../lib/fair-slots.ts";
import { nextTurn } from "../lib/turns.ts";

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

/** Who asked: callers are served in turn. */
export function ownerOf(request: FastifyRequest): string {
  return request.caller?.principal?.api_key_id ?? request.ip;
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

/** Adds pieces until it is worth sending them. @returns whether the last one was among them. */
async function gather(pieces: AsyncIterator<Piece>, writer: ByteWriter): Promise<boolean> {
  const begun = performance.now();
  do {
    const next = await pieces.next();
    if (next.done === true) return true;
    add(writer, next.value);
  } while (writer.length < pieceBytes && performance.now() - begun < pieceMs);
  return false;
}

/** How an answer begins. */
export interface AnswerHead {
  status: number;
  headers: Record<string, string>;
}

export interface LongAnswer extends AnswerHead {
  pieces: AsyncIterable<Piece>;
  /** Making it holds a file or the like from its first piece on, so that its turn has to come before that. */
  holds?: boolean;
}

/** Sends answers of any length: piece by piece, each when the one before has left, a limited number of them at once. */
export class PieceSender {
  readonly #slots: FairSlots;

  /** @param waitMs how long an answer may wait until others are done. */
  constructor(waitMs: number) {
    this.#slots = new FairSlots({ total: 64, perOwner: 32, waiting: 4_000, waitMs });
  }

  /** How many long answers are under way, and how many wait for their turn. */
  get state(): { active: number; waiting: number } {
    return this.#slots.state;
  }

  /**
   * Makes and sends an answer. What fails before its first piece is thrown; later the connection is broken off, because
   * status and headers are gone by then, and the log says why. One that turns out to be short is sent in one.
   * @throws AppError unavailable when too many others are being sent.
   */
  async send(request: FastifyRequest, reply: FastifyReply, answer: LongAnswer): Promise<FastifyReply> {
    const iterator = answer.pieces[Symbol.asyncIterator]();
    const connection = watchConnection(request);
    const { signal } = connection;
    const writer = new ByteWriter(pieceBytes);
    let release: (() => void) | undefined;
    try {
      if (answer.holds === true) release = await this.#takeSlot(request, signal);
      const isShort = await gather(iterator, writer);
      if (isShort) return sendWhole(reply, answer, writer);
      release ??= await this.#takeSlot(request, signal);
      await sendRest(reply, answer, { iterator, writer, signal });
      return reply;
    } catch (error) {
      if (!(error instanceof ClientGone)) throw error;
      request.log.info("client went away before its answer was sent");
      reply.hijack().raw.destroy();
      return reply;
    } finally {
      connection.forget();
      release?.();
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

function sendWhole(reply: FastifyReply, { status, headers }: AnswerHead, writer: ByteWriter): FastifyReply {
  reply.raw.once("finish", () => writer.release());
  return reply.code(status).headers(headers).send(writer.result());
}

interface Rest {
  iterator: AsyncIterator<Piece>;
  /** With the first piece in it. */
  writer: ByteWriter;
  signal: AbortSignal;
}

async function sendRest(reply: FastifyReply, { status, headers }: AnswerHead, rest: Rest): Promise<void> {
  const { iterator, writer, signal } = rest;
  signal.throwIfAborted();
  reply.code(status).headers(headers).hijack();
  const { raw } = reply;
  try {
    raw.writeHead(status, reply.getHeaders() as Record<string, string>);
    for (let isLast = false; !isLast;) {
      if (writer.length > 0) await write(raw, writer.result(), signal);
      writer.clear();
      await nextTurn();
      isLast = await gather(iterator, writer);
    }
    if (writer.length > 0) await write(raw, writer.result(), signal);
    raw.end();
    writer.release();
  } catch (error) {
    if (error instanceof ClientGone || signal.aborted)
      reply.log.info("client went away before its answer was sent");
    else reply.log.error({ err: error }, "response broke off");
    raw.destroy();
  }
}
