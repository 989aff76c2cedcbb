import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";

import { readInRounds, readNoMore } from "./read-in-rounds.ts";

const full = Buffer.alloc(64 * 1024);
const rounds = async (count: number): Promise<void> => {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** A body that goes on for ever, and how many of its pieces were read. */
function endless(): { request: IncomingMessage; read: () => number } {
  const request = new PassThrough({ highWaterMark: full.length }) as unknown as IncomingMessage & PassThrough;
  let read = 0;
  request.on("data", (piece: Buffer) => {
    read += 1;
    request.write(full);
    readInRounds(request, piece);
  });
  request.write(full);
  return { request, read: () => read };
}

it("reads some pieces of all bodies in each round, one after the other", async () => {
  const bodies = Array.from({ length: 40 }, endless);
  await rounds(20);
  const counts = bodies.map(({ read }) => read());
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
  expect(counts.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(40 + 22 * 2 * 8);
  expect(Math.min(...counts)).toBeGreaterThan(2);
  for (const { request } of bodies) {
    readNoMore(request);
    request.removeAllListeners("data");
  }
});

it("lets small pieces through at once", () => {
  const { request } = endless();
  readNoMore(request);
  request.resume();
  readInRounds(request, Buffer.alloc(100));
  expect(request.isPaused()).toBe(false);
  request.removeAllListeners("data");
});
