import type { Server as HttpServer, ServerResponse } from "node:http";
import { Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

import type { FastifyInstance } from "fastify";

import { rawSocketOf } from "./sockets.ts";

declare module "fastify" {
  interface FastifyInstance {
    draining: Draining;
  }
}

/** For how long a connection on which nothing is under way is left to its client, in milliseconds. */
const quietMs = 500;

/** For how long a connection on which nothing was asked yet is left to its client, in milliseconds. */
const silentMs = 1_000;

const lookEveryMs = 20;

/** One connection, and what is under way on it. */
interface Line {
  socket: Socket;
  /** Answers that have not been sent to their end, in the order of their requests. */
  answers: Set<ServerResponse>;
  /** The answer that told the client that the connection ends with it. */
  last: ServerResponse | undefined;
  /** When it was opened, or its last answer ended; in milliseconds of the process. */
  quietSince: number;
  /** Bytes that had come by then. */
  bytesRead: number;
  wasAsked: boolean;
}

/** Tells a client with this answer, if it has not begun, that the connection ends with it (RFC 9112 section 9.6). */
function tell(line: Line, answer: ServerResponse | undefined): void {
  if (answer === undefined || answer.headersSent || !answer.shouldKeepAlive) return;
  // One that was sent before, but is not answered yet, is not the last any more.
  if (line.last !== undefined && !line.last.headersSent) line.last.shouldKeepAlive = true;
  answer.shouldKeepAlive = false;
  line.last = answer;
}

/** Says whether nothing is under way on a connection and nothing was for a while. */
function isOver({ socket, answers, quietSince, bytesRead, wasAsked }: Line, closedAt: number): boolean {
  if (answers.size > 0 || socket.bytesRead > bytesRead) return false;
  const now = performance.now();
  return wasAsked ? now - quietSince > quietMs : now - Math.max(quietSince, closedAt) > silentMs;
}

/**
 * Ends the connections of a server so that no client loses a request: while others are still let in, each client is told with an answer that its
 * connection ends. Then nobody is let in any more, what is under way is finished, and connections end on which nothing was for a while.
 */
class Draining {
  readonly #server: HttpServer;
  readonly #lines = new Map<Socket, Line>();
  readonly #ends: (() => void)[] = [];
  #isTelling = false;

  constructor(server: HttpServer) {
    this.#server = server;
    server.on("connection", (socket) => this.#open(socket));
    server.on("secureConnection", (socket: Socket) => {
      this.#lines.delete(rawSocketOf(socket));
      this.#open(socket);
    });
    server.prependListener("request", ({ socket }, answer) => this.#begin(socket, answer));
  }

  /** Has something ended that would go on for as long as its client listens. */
  whenEnding(end: () => void): void {
    this.#ends.push(end);
  }

  /**
   * Ends all connections.
   * @param openMs for how long others are let in at least.
   * @param limitMs after which those that are not done are cut off.
   */
  async drain(openMs: number, limitMs: number): Promise<void> {
    this.#isTelling = true;
    for (const line of this.#lines.values()) tell(line, [...line.answers].at(-1));
    if (openMs > 0 || this.#lines.size > 0) await delay(Math.max(openMs, quietMs));
    for (const end of this.#ends) end();
    // Not the way of HTTP servers, which ends connections whose next request is on its way.
    if (this.#server.listening) Server.prototype.close.call(this.#server);
    const closedAt = performance.now();
    while (this.#lines.size > 0) {
      const isLate = performance.now() - closedAt > limitMs;
      for (const line of this.#lines.values())
        if (isLate) line.socket.destroy();
        else if (isOver(line, closedAt)) line.socket.destroySoon();
      await delay(lookEveryMs);
    }
  }

  #open(socket: Socket): void {
    const { bytesRead } = socket;
    const quietSince = performance.now();
    const line = {
      socket,
      answers: new Set<ServerResponse>(),
      last: undefined,
      quietSince,
      bytesRead,
      wasAsked: false,
    };
    this.#lines.set(socket, line);
    socket.once("close", () => this.#lines.delete(socket));
  }

  #begin(socket: Socket, answer: ServerResponse): void {
    const line = this.#lines.get(socket);
    if (line === undefined) return;
    if (this.#isTelling) tell(line, answer);
    line.answers.add(answer);
    line.wasAsked = true;
    answer.once("close", () => {
      line.answers.delete(answer);
      line.quietSince = performance.now();
      line.bytesRead = socket.bytesRead;
    });
  }
}

/** Makes what ends the connections of this server when it stops. */
export function registerDraining(app: FastifyInstance): void {
  app.decorate("draining", new Draining(app.server));
}
