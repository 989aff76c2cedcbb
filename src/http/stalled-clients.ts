import type { Server } from "node:http";
import type { Socket } from "node:net";

import { Counter } from "prom-client";

import type { Deps } from "../modules/kernel/deps.ts";
import { onServedConnection, rawSocketOf } from "./sockets.ts";

/** How far a client has come with what was sent to it. */
interface Progress {
  /** Bytes that have left. */
  taken: number;
  /** When that last grew, or there was nothing to take; in milliseconds of the process. */
  at: number;
}

/** Looked at so often in the time that a client has. */
const looks = 5;

/** Counts the bytes a client has taken: only whole pieces, and only when all of one is with the kernel. */
function takenFrom(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}

/**
 * Cuts off clients that do not take what is sent to them: one that takes no piece of its answer for
 * `sendStallSeconds` loses its connection, and with it goes all that was held for it. Whoever waits for us is let be.
 */
export function cutOffStalledClients(server: Server, deps: Pick<Deps, "config" | "log" | "metrics">): void {
  const limitMs = deps.config.sendStallSeconds * 1000;
  const cutOff = new Counter({
    name: "waybill_http_stalled_clients_total",
    help: "Connections that were closed because the client took nothing of its answer",
    registers: [deps.metrics.registry],
  });
  const connections = new Map<Socket, Progress>();
  onServedConnection(server, (socket) => {
    connections.set(socket, { taken: 0, at: performance.now() });
    socket.once("close", () => connections.delete(socket));
  });
  const look = (): void => {
    const now = performance.now();
    for (const [socket, progress] of connections) {
      const taken = takenFrom(socket);
      if (socket.writableLength === 0 || taken !== progress.taken)
        connections.set(socket, { taken, at: now });
      else if (now - progress.at >= limitMs) {
        cutOff.inc();
        deps.log.warn({ address: socket.remoteAddress }, "client takes nothing of its answer and is cut off");
        // Not only closed: what the kernel still holds for it goes as well.
        rawSocketOf(socket).resetAndDestroy();
      }
    }
  };
  const timer = setInterval(look, limitMs / looks).unref();
  server.once("close", () => clearInterval(timer));
}
