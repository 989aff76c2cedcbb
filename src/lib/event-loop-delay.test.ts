import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { EventLoopDelay } from "./event-loop-delay.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("measures while there is work, and rests after it", () => {
  const delay = new EventLoopDelay();
  expect([vi.getTimerCount(), delay.take().max]).toEqual([0, 0]);
  const [end, endOther] = [delay.begin(), delay.begin()];
  vi.advanceTimersByTime(100);
  end();
  end();
  vi.advanceTimersByTime(100);
  expect(vi.getTimerCount()).toBe(1);
  endOther();
  vi.advanceTimersByTime(10);
  expect(vi.getTimerCount()).toBe(0);
  const { min, p50, mean, p99, max, stddev } = delay.take();
  for (const seconds of [min, p50, mean, p99, max]) expect(seconds).toBeCloseTo(0.01, 4);
  expect(stddev).toBeCloseTo(0, 4);
  expect(delay.take()).toEqual({ min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 });
});

it("tells of work that held up the loop from its first moment", async () => {
  const delay = new EventLoopDelay();
  await delay.during(() => {
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now + 300);
  });
  vi.advanceTimersByTime(10);
  expect(delay.take().max).toBeCloseTo(0.3, 2);
});

it("passes on what work ends with", async () => {
  const delay = new EventLoopDelay();
  expect(await delay.during(async () => "done")).toBe("done");
  await expect(delay.during(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  vi.advanceTimersByTime(10);
  expect(vi.getTimerCount()).toBe(0);
});
