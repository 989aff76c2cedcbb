// Loads one address for a while and sends back what was measured. A process of its own, so that making requests does
// not slow down the server that answers them more than any client would.
import autocannon from "autocannon";

import { makeRuns } from "../src/cli/demo/model/builds.ts";
import { createCalendar } from "../src/cli/demo/model/calendar.ts";
import { makePeople } from "../src/cli/demo/model/people.ts";
import { reportOf } from "../src/cli/demo/steps/runs.ts";

/** What to load, and how. */
export interface LoadJob {
  url: string;
  key: string;
  connections: number;
  seconds: number;
  /** Reports new artifacts below this address instead of reading it. Another seed makes other artifacts. */
  reportSeed?: string;
}

/** What came back, per second and in milliseconds. */
export interface LoadResult {
  throughput: number;
  p50: number;
  p99: number;
  /** Requests that failed or were not answered with success. */
  failed: number;
  /** Requests answered, those of the warm-up as well. */
  answered: number;
}

const manyBuilds = 10_000_000;

/** Reports of artifacts nobody has seen, as pipelines send them, with the paths they go to. */
function* newReports(seed: string): Generator<{ flow: string; body: string }> {
  const now = Date.now() / 1000;
  const runs = makeRuns({
    seed,
    people: makePeople(seed, 9),
    calendar: createCalendar(now, 2),
    builds: manyBuilds,
    firstJob: 1,
  });
  for (const run of runs)
    for (const build of run.builds) yield { flow: run.flow.name, body: JSON.stringify(reportOf(run, build)) };
}

function requestsOf(job: LoadJob): autocannon.Request[] {
  if (job.reportSeed === undefined) return [{ method: "GET" }];
  const base = new URL(job.url).pathname;
  const reports = newReports(job.reportSeed);
  return [
    {
      method: "POST",
      setupRequest: (request) => {
        const { flow, body } = reports.next().value as { flow: string; body: string };
        return { ...request, path: `${base}/${flow}`, body };
      },
    },
  ];
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function summary(result: autocannon.Result, sorted: Float64Array): LoadResult {
  const { requests, errors, timeouts, non2xx, duration } = result;
  return {
    throughput: requests.total / duration,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    failed: errors + timeouts + non2xx,
    answered: requests.total,
  };
}

function load(job: LoadJob, requests: autocannon.Request[], seconds: number): Promise<LoadResult> {
  // Its own percentiles are of whole milliseconds, which is too coarse for answers that take less than one.
  const times: number[] = [];
  return new Promise((resolve, reject) => {
    const running = autocannon(
      {
        url: job.url,
        connections: job.connections,
        duration: seconds,
        timeout: 30,
        headers: { authorization: `Bearer ${job.key}`, "content-type": "application/json" },
        requests,
      },
      (error: Error | null, result) => {
        if (error === null) resolve(summary(result, Float64Array.from(times).sort()));
        else reject(error);
      },
    );
    running.on("response", (_client, _status, _bytes, milliseconds) => void times.push(milliseconds));
  });
}

/** A moment of load that does not count: it fills caches and lets the compilers see what is hot. */
const warmUpSeconds = 1;

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
