import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

import type { FastifyInstance } from "fastify";

import { AppError } from "../domain/errors.ts";
import type { IntakeMetrics } from "./intake-metrics.ts";
import { onServedConnection } from "./sockets.ts";

/** After so many requests that must wait, other connections are read in the next turn of the event loop. */
const mostInTurn = 256;

/**
 * Bounds the requests that are read in one turn of the event loop. Node.js parses all that has come of a connection, thousands of requests
 * in a chunk of 64 KB, and does so with all connections before it does anything else.
 */
class ReadingTurns {
  readonly #connections = new Set<Socket>();
  #requests = 0;

  add(socket: Socket): void {
    this.#connections.add(socket);
    socket.once("close", () => this.#connections.delete(socket));
  }

  /** Counts a request that came before it could be served. */
  count(): void {
    this.#requests += 1;
    // Not at once: with each request that ends Node.js reads on.
    if (this.#requests === mostInTurn) process.nextTick(() => this.#hold());
    else if (this.#requests === 1) setImmediate(() => (this.#requests = 0));
  }

  #hold(): void {
    // Those that wait for another reason, as for a body to be taken, go on when that is gone.
    const held = [...this.#connections].filter((socket) => !socket.isPaused());
    for (const socket of held) socket.pause();
    setImmediate(() => {
      for (const socket of held) socket.resume();
    });
  }
}

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
 * Keeps the end of a connection cheap: Node.js makes an error for each request that was not answered, and nobody reads where that was. To
 * find out is nine tenths of the work.
 */
function endWithoutStacks(socket: Socket): void {
  let before: number;
  socket.prependOnceListener("close", () => {
    before = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once("close", () => (Error.stackTraceLimit = before));
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
  const turns = new ReadingTurns();
  onServedConnection(server, (socket) => turns.add(socket));
  const lineOf = (socket: Socket): Line => {
    const known = lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { waiting: [], isBusy: false, isOver: false };
    lines.set(socket, line);
    endWithoutStacks(socket);
    return line;
  };
  const listeners = server.listeners("request");
  server.removeAllListeners("request");
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const line = lineOf(socket);
    if (line.isBusy || line.isOver) turns.count();
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
