import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

import { readInRounds, readNoMore } from "./read-in-rounds.ts";

/** What comes slowly is taken for so many times as long as a pause may be. */
const pausesInAll = 6;

/** Says whether bytes of a body are still to come. Requests that are injected do not say so: they have all of it. */
export function isUnfinished(request: { complete?: boolean }): boolean {
  return request.complete === false;
}

/**
 * Has a connection that is to end with an answer end in stages (RFC 9112 section 9.6): a sender that is still at its body
 * would lose an answer after which the connection is closed at once. `stayForTheRest` does the second stage.
 */
export function closeInStages(socket: Socket): void {
  socket.destroySoon = () => void socket.end();
}

/**
 * Takes the rest of a body that nobody wants from its connection, because who is still sending may not look at the answer
 * before. A sender that pauses for longer than `seconds`, or that has not come to the end after a few times as long, is cut
 * off.
 */
export function stayForTheRest(request: IncomingMessage, seconds: number): void {
  const { socket } = request;
  // An answered request is not told by Node when its connection ends, and whoever still reads from it would wait for ever.
  const cutOff = (): void => {
    socket.destroy();
    request.destroy();
  };
  if (socket.destroyed) return cutOff();
  socket.once("close", cutOff);
  const pause = setTimeout(cutOff, seconds * 1000).unref();
  const end = setTimeout(cutOff, pausesInAll * seconds * 1000).unref();
  request.on("data", (piece: Buffer) => {
    pause.refresh();
    readInRounds(request, piece);
  });
  const stop = (): void => {
    readNoMore(request);
    clearTimeout(pause);
    clearTimeout(end);
  };
  request.once("close", stop);
  request.once("end", () => {
    stop();
    socket.off("close", cutOff);
    if (socket.writableEnded) cutOff();
  });
  request.resume();
}
