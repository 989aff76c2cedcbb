// Loads one address for a while and sends back what was measured. A process of its own, so that making requests does
// not slow down the server that answers them more than any client would.
import { createHash } from "node:crypto";

import autocannon from "autocannon";

import { makeRuns } from "../src/cli/demo/model/builds.ts";
import { createCalendar } from "../src/cli/demo/model/calendar.ts";
import { makePeople } from "../src/cli/demo/model/people.ts";
import { reportOf } from "../src/cli/demo/steps/runs.ts";

/** What is reported: artifacts, or attestations by a form. */
export type ReportKind = "artifact" | "attestation";

/** A body of JSON, and the address it is put to. */
export interface Sent {
  path: string;
  body: string;
}

/** What to load, and how. */
export interface LoadJob {
  url: string;
  key: string;
  connections: number;
  seconds: number;
  /** Reads these addresses of the same server in turn instead. */
  paths?: string[];
  /** Puts these in turn instead. */
  puts?: readonly Sent[];
  /** Reports something new below this address instead of reading it. Another seed makes other reports. */
  reports?: { kind: ReportKind; seed: string };
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

/** A report, and where it goes below the address that is loaded. */
interface Report {
  path: string;
  body: string;
}

/** Reports of artifacts nobody has seen, as pipelines send them. */
function* newArtifacts(seed: string): Generator<Report, never> {
  const now = Date.now() / 1000;
  const runs = makeRuns({
    seed,
    people: makePeople(seed, 9),
    calendar: createCalendar(now, 2),
    builds: manyBuilds,
    firstJob: 1,
  });
  for (const run of runs)
    for (const build of run.builds)
      yield { path: `/${run.flow.name}`, body: JSON.stringify(reportOf(run, build)) };
  throw new Error("All artifacts were reported");
}

const boundary = "waybill-bench-6f1b";
const [attestationsOfTrail, flowsInUse] = [10, 50];

function formOf(data: unknown): string {
  return `--${boundary}\r\ncontent-disposition: form-data; name="data_json"\r\n\r\n${JSON.stringify(data)}\r\n--${boundary}--\r\n`;
}

/** Ten attestations for each of ever new trails, of some flows. */
function* newAttestations(seed: string): Generator<Report, never> {
  for (let count = 0; ; count += 1) {
    const run = Math.floor(count / attestationsOfTrail);
    const sha1 = createHash("sha1").update(`${seed} ${run}`).digest("hex");
    const data = {
      attestation_name: `check-${count % attestationsOfTrail}`,
      is_compliant: count % 50 !== 0,
      git_commit_info: {
        sha1,
        message: "Round prices to whole cents",
        author: "Ines Falk <ines.falk@harborlight.example>",
        branch: "main",
        timestamp: Math.floor(Date.now() / 1000),
      },
      repo_info: {
        name: "harborlight/checkout",
        url: "https://git.harborlight.example/harborlight/checkout",
      },
      origin_url: `https://ci.harborlight.example/runs/${run}`,
      user_data: {},
    };
    const path = `/flow-${run % flowsInUse}/trail/${sha1.slice(0, 12)}/generic`;
    yield { path, body: formOf(data) };
  }
}

function requestsOf(job: LoadJob): autocannon.Request[] {
  if (job.paths !== undefined) return job.paths.map((path) => ({ method: "GET", path }));
  if (job.puts !== undefined) return job.puts.map((put) => ({ method: "PUT", ...put }));
  if (job.reports === undefined) return [{ method: "GET" }];
  const { kind, seed } = job.reports;
  const base = new URL(job.url).pathname;
  const reports = kind === "artifact" ? newArtifacts(seed) : newAttestations(seed);
  return [
    {
      method: "POST",
      setupRequest: (request) => {
        const { path, body } = reports.next().value;
        return { ...request, path: base + path, body };
      },
    },
  ];
}

function contentTypeOf(job: LoadJob): string {
  return job.reports?.kind === "attestation"
    ? `multipart/form-data; boundary=${boundary}`
    : "application/json";
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
        headers: { authorization: `Bearer ${job.key}`, "content-type": contentTypeOf(job) },
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
