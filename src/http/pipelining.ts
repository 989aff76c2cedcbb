import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { FastifyInstance } from "fastify";

import { AppError } from "../domain/errors.ts";
import type { IntakeMetrics } from "./intake-metrics.ts";

/** The requests of one connection that have not been answered. */
interface Line {
  /** Those whose turn has not come. */
  waiting: (() => void)[];
  /** Whether one is being answered. */
  isBusy: boolean;
  /** There were too many: what else comes is not looked at, for the connection ends with that answer. */
  isOver: boolean;
}

/**
 * Serves the requests of each connection one after the other, however many of them come at once, so that each connection has
 * one turn: answers are sent in that order anyway.
 * @param most how many may be there at once.
 * @returns the requests that came when there were too many, and are served at once to be told so.
 */
function serveInTurn(server: Server, most: number): WeakSet<IncomingMessage> {
  const lines = new WeakMap<Socket, Line>();
  const tooMany = new WeakSet<IncomingMessage>();
  const listeners = server.listeners("request");
  server.removeAllListeners("request");
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { waiting: [], isBusy: false, isOver: false };
    lines.set(socket, line);
    if (line.isOver) return;
    const next = (): void => {
      const begin = line.waiting.shift();
      const isNext = begin !== undefined && !socket.destroyed;
      line.isBusy = isNext;
      // Other connections come in between.
      if (isNext) setImmediate(begin);
    };
    const begin = (): void => {
      response.once("close", next);
      serve(request, response);
    };
    if (!line.isBusy) {
      line.isBusy = true;
      begin();
    } else if (line.waiting.length + 1 < most) line.waiting.push(begin);
    else {
      line.isOver = true;
      tooMany.add(request);
      serve(request, response);
    }
  });
  return tooMany;
}

/** Keeps who sends many requests without waiting for answers from having all of them under way at once. */
export function limitPipelining(app: FastifyInstance, most: number, metrics: IntakeMetrics): void {
  const tooMany = serveInTurn(app.server, most);
  app.addHook("onRequest", async ({ raw }, reply) => {
    if (!tooMany.has(raw)) return;
    metrics.refusedRequests.inc();
    reply.header("connection", "close");
    throw new AppError("unavailable", "Too many requests on this connection wait for their answers");
  });
}
