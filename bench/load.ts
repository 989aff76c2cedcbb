// Loads one address for a while and sends back what was measured. A process of its own, so that making requests does
// not slow down the server that answers them more than any client would.
import { type Line, openLine } from "./answers.ts";
import { type LoadJob, requestsOf, warmUpSeconds } from "./requests.ts";

/** What was measured: throughput in answers per second, times in milliseconds. */
export interface LoadResult {
  throughput: number;
  p50: number;
  p99: number;
  /** Requests that failed or were not answered with success. */
  failed: number;
  /** Requests answered, including the warm-up. */
  answered: number;
}

interface Counts {
  /** Time of each answer, in milliseconds. */
  times: number[];
  failed: number;
}

/** Sends one request after the other on one connection until `isOver`. */
function sendOnOne(
  target: { host: string; port: number },
  requests: Generator<Buffer, never>,
  counts: Counts,
  { isOver, isSuccess }: { isOver: () => boolean; isSuccess: (status: number) => boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const send = (line: Line): void => {
      const begun = performance.now();
      line.ask(requests.next().value, (status) => {
        counts.times.push(performance.now() - begun);
        if (!isSuccess(status)) counts.failed += 1;
        if (!isOver()) return send(line);
        line.end();
        resolve();
      });
    };
    openLine(target, { onOpen: send, onBroken: reject });
  });
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function load(job: LoadJob, requests: Generator<Buffer, never>, seconds: number): Promise<LoadResult> {
  const { hostname, port } = new URL(job.url);
  const counts: Counts = { times: [], failed: 0 };
  const begun = performance.now();
  const isOver = (): boolean => performance.now() - begun > seconds * 1000;
  const isSuccess = (status: number): boolean =>
    job.tag === undefined ? status >= 200 && status <= 299 : status === 304;
  const target = { host: hostname, port: Number(port) };
  const connections = Array.from({ length: job.connections }, () =>
    sendOnOne(target, requests, counts, { isOver, isSuccess }),
  );
  await Promise.all(connections);
  const duration = (performance.now() - begun) / 1000;
  const sorted = Float64Array.from(counts.times).sort();
  return {
    throughput: counts.times.length / duration,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    failed: counts.failed,
    answered: counts.times.length,
  };
}

process.once("message", (message) => {
  const job = message as LoadJob;
  const requests = requestsOf(job);
  void load(job, requests, warmUpSeconds)
    .then(async (warmUp) => {
      const result = await load(job, requests, job.seconds);
      return { ...result, answered: result.answered + warmUp.answered };
    })
    .then((result) => process.send?.(result, () => process.disconnect()));
});
