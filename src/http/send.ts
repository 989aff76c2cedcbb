import { Readable } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";
import { Gauge } from "prom-client";

import { type Endpoint, JsonPieces, JsonText, type Piece, type Reply } from "../contract/endpoint.ts";
import { overloaded } from "../domain/errors.ts";
import { ByteWriter } from "../lib/byte-writer.ts";
import { isWide, widePieces } from "../lib/wide-json.ts";
import type { Deps } from "../modules/deps.ts";
import { type LongAnswer, ownerOf, PieceSender } from "./send-pieces.ts";
import { UnsentBytes } from "./unsent-bytes.ts";

const jsonType = "application/json; charset=utf-8";

/** Text that is longer is sent piece by piece. In bytes, about. */
const longText = 256 * 1024;

/** Sends the answers of one server. */
export interface AnswerSender {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Reply<Endpoint>,
    endpoint: Endpoint,
  ): Promise<FastifyReply> | FastifyReply;
}

/** A stream that is closed also when nobody has begun to read it. */
function filePieces(stream: Readable): AsyncIterable<Piece> {
  return {
    [Symbol.asyncIterator]: () => {
      const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>;
      const close = async () => {
        stream.destroy();
        return { done: true as const, value: undefined };
      };
      return { next: () => chunks.next(), return: close };
    },
  };
}

async function* inTurn(pieces: Iterable<Piece>): AsyncGenerator<Piece> {
  yield* pieces;
}

/** The pieces of a JSON body that is long, or may be; undefined for one that is sent at once. */
function piecesOf(body: unknown): AsyncIterable<Piece> | undefined {
  if (body instanceof JsonPieces) return body.pieces;
  if (body instanceof JsonText) return body.length > longText ? inTurn(body.pieces()) : undefined;
  return isWide(body) ? inTurn(widePieces(body)) : undefined;
}

function showLongAnswers({ metrics }: Pick<Deps, "metrics">, long: PieceSender): void {
  for (const which of ["active", "waiting"] as const)
    metrics.registry.registerMetric(
      new Gauge({
        name: `waybill_http_long_answers_${which}`,
        help:
          which === "active" ? "Long answers that are being sent" : "Long answers that wait for their turn",
        registers: [],
        collect() {
          this.set(long.state[which]);
        },
      }),
    );
}

/** Long answers wait for their turn as long as a client may take nothing: then one that does not read has made room. */
export function createSender(deps: Pick<Deps, "config" | "metrics">): AnswerSender {
  const long = new PieceSender(deps.config.sendStallSeconds * 1000);
  showLongAnswers(deps, long);
  const unsent = new UnsentBytes();

  function sendLong(request: FastifyRequest, reply: FastifyReply, answer: LongAnswer) {
    // Nobody would get what is made.
    if (request.method === "HEAD") return reply.code(answer.status).headers(answer.headers).send("");
    return long.send(request, reply, answer);
  }

  /** Sends it, as bytes if it is long: those are outside of the heap, where they are never moved, and used again. */
  function sendText(request: FastifyRequest, reply: FastifyReply, text: JsonText): FastifyReply {
    const short = text.short();
    if (short !== undefined) return reply.send(short);
    const giveBack = unsent.take(ownerOf(request), text.length);
    if (giveBack === undefined) throw overloaded();
    const writer = new ByteWriter(text.length);
    text.writeTo(writer);
    reply.raw.once("close", giveBack);
    // Handed over to the kernel. Of an answer that breaks off before, nobody knows who still looks at its bytes.
    reply.raw.once("finish", () => writer.release());
    return reply.send(writer.result());
  }

  function sendFile(request: FastifyRequest, reply: FastifyReply, file: Readable, answer: LongAnswer) {
    // Before anybody reads it a failure has nobody to be told to.
    file.once("error", () => undefined);
    if (request.method === "HEAD") file.destroy();
    return sendLong(request, reply, answer);
  }

  return {
    send: (request, reply, { status, headers = {}, body }, endpoint) => {
      const { contentType: declared } = endpoint.responses[status] ?? {};
      const contentType = typeof declared === "object" ? declared[0] : declared;
      if (body instanceof Readable) {
        // What the handler knows of this one body goes before what the contract says of all.
        const all = { ...(contentType === undefined ? {} : { "content-type": contentType }), ...headers };
        return sendFile(request, reply, body, {
          status,
          headers: all,
          pieces: filePieces(body),
          holds: true,
        });
      }
      const pieces = contentType === undefined ? piecesOf(body) : undefined;
      if (pieces !== undefined)
        return sendLong(request, reply, {
          status,
          headers: { ...headers, "content-type": jsonType },
          pieces,
        });
      reply.code(status).headers(headers);
      if (contentType !== undefined) {
        if (!reply.hasHeader("content-type")) reply.type(contentType);
        return reply.send(body);
      }
      reply.type(jsonType);
      return body instanceof JsonText ? sendText(request, reply, body) : reply.send(JSON.stringify(body));
    },
  };
}
