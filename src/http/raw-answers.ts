import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

import type { FastifyReply, FastifyRequest } from "fastify";

import { AppError } from "../domain/errors.ts";

const statusTexts = {
  400: "Bad Request",
  404: "Not Found",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  503: "Service Unavailable",
} as const;

export type RawStatus = keyof typeof statusTexts;

/** Writes a whole answer in the shape of all errors, for connections on which there is no request to answer. */
export function rawAnswer(status: RawStatus, message: string): string {
  const body = JSON.stringify({ message });
  const retry = status === 503 ? "Retry-After: 2\r\n" : "";
  return `HTTP/1.1 ${status} ${statusTexts[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${retry}Connection: close\r\n\r\n${body}`;
}

const clientErrors: Record<string, [status: RawStatus, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, "Request line and headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [400, "Request is not valid HTTP"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request was not complete in time"],
};

/** Says whether these bytes would be taken for the answer to an earlier request, or for a part of one. */
function isAnswering(socket: Duplex): boolean {
  const { _httpMessage: answer } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  return answer !== undefined && answer !== null && (answer.headersSent || answer.req.complete);
}

/** Errors before there is anybody to answer to. */
const failedHandshake = /^(?:EPROTO|ERR_SSL_|ERR_TLS_)/;

/** Says what is wrong with bytes that are not HTTP enough to become a request, and closes the connection. */
export function handleClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  const isUnanswerable = error.code === "ECONNRESET" || failedHandshake.test(error.code ?? "");
  if (isUnanswerable || !socket.writable || isAnswering(socket)) return void socket.destroy();
  const [status, message] = clientErrors[error.code ?? ""] ?? [400, "Request is not valid HTTP"];
  socket.end(rawAnswer(status, message), () => socket.destroy());
}

function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ message: "Expectation cannot be met, only 100-continue can" });
  const type = "application/json; charset=utf-8";
  response.writeHead(417, { "content-type": type, "content-length": body.length, connection: "close" });
  response.end(body);
}

/** Answers in JSON what the HTTP server of Node would answer by itself with nothing, or by closing the connection. */
export function registerRawAnswers(server: Server): void {
  server.on("checkExpectation", refuseExpectation);
  // A tunnel has no path: there is nothing here that it could lead to (RFC 9110 section 9.3.6).
  server.on("connect", (_request, socket) => {
    socket.on("error", () => socket.destroy());
    socket.end(rawAnswer(404, "Not found"), () => socket.destroy());
  });
}

/**
 * Refuses a request that does not say whom it is for (RFC 9112 section 3.2).
 * @throws AppError invalid.
 */
export function requireHost({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.httpVersion !== "1.1" || raw.headers.host !== undefined) return;
  reply.header("connection", "close");
  throw new AppError("invalid", "Request has no Host header");
}
