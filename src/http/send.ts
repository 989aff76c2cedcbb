import { Readable } from "node:stream";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import {
  type Endpoint,
  JsonPieces,
  JsonText,
  type Pause,
  type Piece,
  type Reply,
} from "../contract/endpoint.ts";
import { EventStream } from "../contract/event-stream.ts";
import { inTurn } from "../lib/in-turn.ts";
import { isWide, widePieces } from "../lib/wide-json.ts";
import type { Deps } from "../modules/kernel/deps.ts";
import { showGauge } from "../modules/kernel/metrics.ts";
import { Compression } from "./compression.ts";
import { type AnswerKeeper, jsonType, longText } from "./keep.ts";
import type { KeptAnswer } from "./kept-answers.ts";
import { ByteSender } from "./send-bytes.ts";
import { EventSender } from "./send-events.ts";
import { type LongAnswer, PieceSender, sendHead } from "./send-pieces.ts";
import { WholeSender } from "./send-whole.ts";
import { termsOf } from "./terms.ts";

/** Sends the answers of one server. */
export interface AnswerSender {
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Reply<Endpoint>,
    endpoint: Endpoint,
  ): Promise<FastifyReply> | FastifyReply;
  /** Sends what was made before. */
  sendKept(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: KeptAnswer,
    endpoint: Endpoint,
  ): Promise<FastifyReply> | FastifyReply;
  /** Sends what is made while it is sent, of a type that the handler knows. */
  sendLong(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: { status: number; headers: Record<string, string>; pieces: AsyncIterable<Piece> },
    endpoint: Endpoint,
  ): Promise<FastifyReply>;
}

/** Makes a stream that is closed also when nobody has begun to read it. */
function filePieces(stream: Readable): AsyncIterable<Piece | Pause> {
  return {
    [Symbol.asyncIterator]: () => {
      const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer | string | Pause>;
      const close = async () => {
        stream.destroy();
        return { done: true as const, value: undefined };
      };
      return { next: () => chunks.next(), return: close };
    },
  };
}

/** Finds the pieces of a JSON body that is long, or may be; undefined for one that is sent at once. */
function piecesOf(body: unknown): AsyncIterable<Piece> | undefined {
  if (body instanceof JsonPieces) return body.pieces;
  if (body instanceof JsonText) return body.length > longText ? inTurn(body.pieces()) : undefined;
  return isWide(body) ? inTurn(widePieces(body)) : undefined;
}

function showLongAnswers({ metrics }: Pick<Deps, "metrics">, long: PieceSender): void {
  for (const which of ["active", "waiting"] as const)
    showGauge(
      metrics,
      {
        name: `waybill_http_long_answers_${which}`,
        help:
          which === "active" ? "Long answers that are being sent" : "Long answers that wait for their turn",
      },
      () => long.state[which],
    );
}

/**
 * Makes what sends answers. Long ones wait for their turn as long as a client may take nothing: then one that does not read has
 * made room.
 * @param parts `program`: its version, since another one may write the same in another way.
 */
export function createSender(
  app: FastifyInstance,
  deps: Pick<Deps, "config" | "metrics" | "log">,
  { program, keeper }: { program: string; keeper: AnswerKeeper },
): AnswerSender {
  const waitMs = deps.config.sendStallSeconds * 1000;
  const compression = new Compression(waitMs);
  const whole = new WholeSender(compression);
  const long = new PieceSender(waitMs, { whole, compression });
  showLongAnswers(deps, long);
  const bytes = new ByteSender(whole);
  const events = new EventSender(app, deps);

  function sendFile(request: FastifyRequest, reply: FastifyReply, file: Readable, answer: LongAnswer) {
    // Before anybody reads it a failure has nobody to be told to.
    file.once("error", () => undefined);
    if (request.method !== "HEAD") return long.send(request, reply, answer);
    // Nobody would get what is made. The length is that of what would be sent, or left out (RFC 9110 section 8.6).
    file.destroy();
    return sendHead(reply, answer);
  }

  return {
    sendKept: (...answer) => bytes.kept(...answer),
    sendLong: (request, reply, answer, endpoint) =>
      long.send(request, reply, {
        ...answer,
        terms: termsOf(request, endpoint, answer.headers["content-type"] ?? ""),
      }),
    send: (request, reply, { status, headers = {}, body }, endpoint) => {
      const { contentType: declared } = endpoint.responses[status] ?? {};
      const contentType = typeof declared === "object" ? declared[0] : declared;
      // What may have several types is a file that somebody has uploaded.
      const terms = termsOf(request, endpoint, typeof declared === "object" ? "" : (declared ?? jsonType));
      // What the handler knows of this one body goes before what the contract says of all.
      const head = { status, headers: { "content-type": contentType ?? jsonType, ...headers }, terms };
      if (body instanceof EventStream) return events.send(request, reply, head, body);
      if (body instanceof Readable)
        return sendFile(request, reply, body, { ...head, pieces: filePieces(body), holds: true });
      const pieces = contentType === undefined ? piecesOf(body) : undefined;
      if (pieces !== undefined) {
        const known = body instanceof JsonPieces ? body.version : undefined;
        const version = known === undefined ? undefined : `${program} ${known}`;
        const isKept = body instanceof JsonPieces && endpoint.kept === true;
        return long.send(request, reply, {
          ...head,
          pieces: isKept ? keeper.pieces(request, body) : pieces,
          version,
        });
      }
      if (contentType !== undefined) return whole.send(request, reply, head, body);
      return body instanceof JsonText
        ? bytes.text(request, reply, head, body)
        : whole.send(request, reply, head, JSON.stringify(body));
    },
  };
}
