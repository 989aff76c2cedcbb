import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

import { type Delays, eventLoopDelay } from "../lib/event-loop-delay.ts";
import { isWaiting } from "./slow-requests.ts";

/** The longest interval of a timer, in milliseconds: so long does the monitor rest that comes with the metrics of Node.js. */
const never = 2 ** 31 - 1;

/** Figures of how late the event loop was, by the end of their names. */
const shown: Readonly<Record<keyof Delays, string>> = {
  min: "The minimum recorded event loop delay.",
  max: "The maximum recorded event loop delay.",
  mean: "The mean of the recorded event loop delays.",
  stddev: "The standard deviation of the recorded event loop delays.",
  p50: "The 50th percentile of the recorded event loop delays.",
  p90: "The 90th percentile of the recorded event loop delays.",
  p99: "The 99th percentile of the recorded event loop delays.",
};

/** Shows delays as measured while there was work, in place of those of a monitor that never rests. */
function showDelays(registry: Registry): void {
  const gauges = new Map<keyof Delays, Gauge>();
  const collect = (): void => {
    const delays = eventLoopDelay.take();
    for (const [name, gauge] of gauges) gauge.set(delays[name]);
  };
  for (const [index, [name, help]] of (Object.entries(shown) as [keyof Delays, string][]).entries()) {
    const full = `nodejs_eventloop_lag_${name}_seconds`;
    registry.removeSingleMetric(full);
    // The first one of them sets all.
    gauges.set(name, new Gauge({ name: full, help, registers: [registry], ...(index === 0 && { collect }) }));
  }
}

/** Makes the metrics of this process, whose observers never end. */
export function createProcessMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: never });
  showDelays(registry);
  return registry;
}

let ofProcess: Registry | undefined;

/** Returns the metrics of this process, which has them once, however many servers it has. */
export function processMetrics(): Registry {
  return (ofProcess ??= createProcessMetrics());
}

/** Has it measured how late the event loop is while requests are answered, but for those that wait for something to happen. */
export function measureDelays(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    // Closed in any case, also where nobody takes the answer.
    if (!isWaiting(request)) reply.raw.once("close", eventLoopDelay.begin());
    done();
  });
}
