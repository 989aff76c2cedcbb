import perfHooks from "node:perf_hooks";

import { expect, it, vi } from "vitest";

import { eventLoopDelay } from "../lib/event-loop-delay.ts";
import { createProcessMetrics } from "./process-metrics.ts";

it("shows how late the event loop was while there was work, and leaves an idle process alone", async () => {
  const monitor = vi.spyOn(perfHooks, "monitorEventLoopDelay");
  const registry = createProcessMetrics();
  expect(monitor.mock.calls.map(([options]) => options?.resolution)).toEqual([2 ** 31 - 1]);
  const take = { min: 1, max: 2, mean: 3, stddev: 4, p50: 5, p90: 6, p99: 7 };
  vi.spyOn(eventLoopDelay, "take").mockReturnValue(take);
  const text = await registry.metrics();
  for (const [name, value] of Object.entries(take))
    expect(text).toContain(`\nnodejs_eventloop_lag_${name}_seconds ${value}\n`);
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds /m);
  vi.restoreAllMocks();
});
