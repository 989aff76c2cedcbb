import type { WorkerPool } from "graphile-worker";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Looking } from "./looking.ts";

let looking: Looking;
let nudged: number;
const nothing = {} as never;

beforeEach(() => {
  vi.useFakeTimers();
  looking = new Looking(2_000);
  nudged = 0;
  const workerPool = { nudge: (count: number) => (nudged += count) } as unknown as WorkerPool;
  looking.events.emit("pool:create", { ctx: nothing, workerPool });
});
afterEach(() => {
  looking.stop();
  vi.useRealTimers();
});

it("has one worker look at a time, and another one while jobs are found", () => {
  vi.advanceTimersByTime(6_000);
  expect(nudged).toBe(3);
  looking.events.emit("job:start", nothing);
  looking.events.emit("job:start", nothing);
  looking.events.emit("worker:getJob:empty", nothing);
  expect(nudged).toBe(5);
  // Those that the database tells of.
  looking.events.emit("job:start", nothing);
  expect(nudged).toBe(5);
});

it.each(["pool:gracefulShutdown", "pool:fatalError", "worker:fatalError"] as const)(
  "asks nobody after %s",
  (end) => {
    vi.advanceTimersByTime(2_000);
    looking.events.emit(end, nothing);
    looking.events.emit("job:start", nothing);
    vi.advanceTimersByTime(6_000);
    expect([nudged, vi.getTimerCount()]).toEqual([1, 0]);
  },
);
