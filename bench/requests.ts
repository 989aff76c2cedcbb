// What the load generator sends, made beforehand: making reports takes as long as sending them.
import { createHash } from "node:crypto";

import { makeRuns } from "../demo/model/builds.ts";
import { createCalendar } from "../demo/model/calendar.ts";
import { makePeople } from "../demo/model/people.ts";
import { reportOf } from "../demo/steps/runs.ts";

/** Kinds of reports: artifacts as JSON, or attestations as forms. */
export type ReportKind = "artifact" | "attestation";

/** A JSON body, and the path it is sent to. */
export interface Sent {
  path: string;
  body: string;
}

/** What to load, and how: the message to the load generator. */
export interface LoadJob {
  url: string;
  key: string;
  connections: number;
  seconds: number;
  /** The tag of an answer that the caller has: what is wanted is to hear that it has not changed. */
  tag?: string;
  /** Reads these paths of the same server in turn, instead of the address. */
  paths?: string[];
  /** Sends these by PUT in turn, instead of reading. */
  puts?: readonly Sent[];
  /**
   * Sends new reports below the address instead of reading it. Another seed makes other reports. With `again` the same
   * ones are sent once more when they are used up.
   */
  reports?: { kind: ReportKind; seed: string; again?: boolean };
}

/** Seconds of load that are not measured: they fill caches and let the compiler see what is hot. */
export const warmUpSeconds = 1;

const manyBuilds = 10_000_000;

/** A report, and its path below the address that is loaded. */
interface Report {
  path: string;
  body: string;
}

/** Makes reports of new artifacts, as pipelines send them. */
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

/** Makes attestations: ten for each of ever new trails, of some flows. */
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

/** What all requests of a job have in common. */
type Common = Pick<LoadJob, "url" | "key" | "tag" | "reports">;

function contentTypeOf(job: Common): string {
  return job.reports?.kind === "attestation"
    ? `multipart/form-data; boundary=${boundary}`
    : "application/json";
}

/** Writes a request as it goes over the connection. */
function requestOf(job: Common, method: string, path: string, body?: string): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `host: ${new URL(job.url).host}`,
    `authorization: Bearer ${job.key}`,
    ...(job.tag === undefined ? [] : [`if-none-match: ${job.tag}`]),
    ...(body === undefined
      ? []
      : [`content-type: ${contentTypeOf(job)}`, `content-length: ${Buffer.byteLength(body)}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

/** Reports to prepare for each second: more than a server takes. */
const reportsEachSecond = 5_000;

function* inTurn(requests: readonly Buffer[]): Generator<Buffer, never> {
  for (;;) yield* requests;
}

function* once(requests: readonly Buffer[]): Generator<Buffer, never> {
  yield* requests;
  throw new Error("All reports were sent");
}

/** Makes requests that report something new each time, when they are asked for. */
export function* newReports(
  job: Common,
  { kind, seed }: { kind: ReportKind; seed: string },
): Generator<Buffer, never> {
  const { pathname } = new URL(job.url);
  const reports = kind === "artifact" ? newArtifacts(seed) : newAttestations(seed);
  for (;;) {
    const { path, body } = reports.next().value;
    yield requestOf(job, "POST", pathname + path, body);
  }
}

/** Makes the job's requests, as many as it may need. */
export function requestsOf(job: LoadJob): Generator<Buffer, never> {
  const { pathname, search } = new URL(job.url);
  if (job.puts !== undefined)
    return inTurn(job.puts.map(({ path, body }) => requestOf(job, "PUT", path, body)));
  if (job.reports === undefined)
    return inTurn((job.paths ?? [pathname + search]).map((path) => requestOf(job, "GET", path)));
  const { again = false, ...wanted } = job.reports;
  const reports = newReports(job, wanted);
  const count = (job.seconds + warmUpSeconds) * reportsEachSecond;
  const requests = Array.from({ length: count }, () => reports.next().value);
  return again ? inTurn(requests) : once(requests);
}
