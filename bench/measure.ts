import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import type { BareAnswer } from "./bare-server.ts";
import type { LoadResult } from "./load.ts";
import type { MiniStart } from "./mini-server.ts";
import type { PacedJob, PacedResult } from "./paced-load.ts";
import { type Cpu, cpuOfNode, cpuOfServer, type Server, startNode, stopProcess } from "./processes.ts";
import type { LoadJob, ReportKind, Sent } from "./requests.ts";

function script(name: string): string[] {
  return ["--import", "tsx", new URL(name, import.meta.url).pathname];
}

/** What a load measured, and what it cost the answering side. */
interface Loaded extends LoadResult {
  /** Processor time for each request, in microseconds. */
  cost: Cpu;
}

/** Has a load generator do a job in a process of its own. @returns what it sends back. */
async function inProcess<Result>(
  name: string,
  job: LoadJob | PacedJob,
  whileRunning?: (child: ChildProcess) => void,
): Promise<Result> {
  const child = startNode({ args: script(name) });
  try {
    const ended = once(child, "exit").then(() => {
      throw new Error("The load generator ended without a result");
    });
    // Only the race below looks at it; afterwards its ending is what we want.
    ended.catch(() => {});
    child.send(job);
    whileRunning?.(child);
    const [result] = (await Promise.race([once(child, "message"), ended])) as [Result];
    return result;
  } finally {
    await stopProcess(child);
  }
}

/** Loads an address from a process of its own. */
export function runLoad(job: LoadJob): Promise<LoadResult> {
  return inProcess<LoadResult>("load.ts", job);
}

/** Sends new reports at a rate from a process of its own, until they are sent or it is told to stop. */
export async function runPacedLoad(job: PacedJob, stop?: AbortSignal): Promise<PacedResult> {
  return inProcess<PacedResult>("paced-load.ts", job, (child) =>
    stop?.addEventListener("abort", () => child.send("stop"), { once: true }),
  );
}

/** Loads an address for some seconds, from a process of its own, and measures what that cost the answering side. */
async function loadAddress(job: LoadJob, cpu: () => Promise<Cpu>): Promise<Loaded> {
  const before = await cpu();
  const result = await runLoad(job);
  const after = await cpu();
  const each = (part: keyof Cpu): number => ((after[part] - before[part]) * 1e6) / result.answered;
  return { ...result, cost: { node: each("node"), postgres: each("postgres") } };
}

/** Runs a server of this folder in a process of its own, which it tells `start`, while `work` measures it. */
async function withServer<T>(
  name: string,
  start: BareAnswer | MiniStart,
  work: (url: string, pid: number) => Promise<T>,
): Promise<T> {
  const child = startNode({ args: script(name) });
  try {
    child.send(start);
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return await work(`http://127.0.0.1:${port}`, child.pid ?? 0);
  } finally {
    await stopProcess(child);
  }
}

/** Runs the bare server while `work` measures it. */
export function withBareServer<T>(
  objects: unknown,
  work: (url: string, pid: number) => Promise<T>,
  { ready = false } = {},
): Promise<T> {
  return withServer("bare-server.ts", { objects, ready }, work);
}

/** Runs the server that only stores while `work` measures it. */
export function withMiniServer<T>(
  connection: MiniStart["connection"],
  work: (url: string, pid: number) => Promise<T>,
): Promise<T> {
  return withServer("mini-server.ts", { connection }, work);
}

/** One line of the results. */
export interface Figure {
  scenario: string;
  connections: number;
  own: Loaded;
  /** The bare server's result, where there is something comparable. */
  bare?: Loaded;
}

/** What to load: an address of the API that answers with objects, or one that takes reports. */
export interface Subject {
  scenario: string;
  /** With the API's prefix. */
  path: string;
  /** More addresses of the kind, read in turn with it. */
  others?: string[];
  report?: ReportKind;
  /** Of an answer that the caller has. */
  tag?: string;
  /** Sends these by PUT in turn, instead of reading. */
  puts?: readonly Sent[];
}

/** The server to measure, and how long. */
export interface Setting {
  server: Server;
  url: string;
  key: string;
  seconds: number;
  /** How often everything is measured; an odd number. */
  rounds: number;
}

/** Measures as often as the setting says. */
export async function inRounds<T>(
  { rounds }: Pick<Setting, "rounds">,
  measureOnce: () => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await measureOnce());
  return results;
}

/** Measures several times and gives the median round: a single one depends as much on the machine as on the program. */
async function middleOf<T>(
  setting: Setting,
  measureOnce: () => Promise<T>,
  rank: (result: T) => number,
): Promise<T> {
  const results = await inRounds(setting, measureOnce);
  return results.sort((a, b) => rank(a) - rank(b))[(setting.rounds - 1) / 2]!;
}

/**
 * Loads some addresses for a few seconds, unmeasured: a server that has just started compiles its hot paths, opens its
 * connections and plans their statements.
 */
export async function warmUp(setting: Setting, paths: string[]): Promise<void> {
  for (const path of paths)
    await runLoad({ url: setting.url + path, key: setting.key, connections: 64, seconds: 3 });
}

/** Measures an address with each number of connections, without a bare server to compare with. */
export async function measureAlone(
  setting: Setting,
  subject: Subject,
  connections: number[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of connections) {
    const own = await middleOf(
      setting,
      () => loadOwn(setting, subject, jobFor(setting, subject, count)),
      ({ p50 }) => p50,
    );
    figures.push({ scenario: subject.scenario, connections: count, own });
  }
  return figures;
}

let measurement = 0;

/** Describes how to load a subject. Reports are others each time. */
export function jobFor(setting: Setting, subject: Subject, connections: number): Omit<LoadJob, "url"> {
  const { path, others, report, tag, puts } = subject;
  measurement += 1;
  return {
    key: setting.key,
    seconds: setting.seconds,
    connections,
    ...(others === undefined ? {} : { paths: [path, ...others] }),
    ...(puts === undefined ? {} : { puts }),
    ...(tag === undefined ? {} : { tag }),
    ...(report === undefined
      ? {}
      : { reports: { kind: report, seed: `bench ${Date.now()} ${measurement}` } }),
  };
}

/** Loads an address of the measured server. @throws Error when a request failed. */
export async function loadOwn(
  setting: Setting,
  subject: Subject,
  job: Omit<LoadJob, "url">,
): Promise<Loaded> {
  const url = setting.url + subject.path;
  const own = await loadAddress({ ...job, url }, () => cpuOfServer(setting.server));
  if (own.failed > 0) throw new Error(`${subject.scenario}: ${own.failed} requests failed`);
  return own;
}

/** Finds the tag of what an address answers. @throws Error when it has none. */
export async function tagAt(setting: Setting, path: string): Promise<string> {
  const headers = { authorization: `Bearer ${setting.key}`, "if-none-match": '"none"' };
  const response = await fetch(setting.url + path, { headers });
  await response.text();
  const tag = response.headers.get("etag");
  if (tag === null) throw new Error(`${path} has no tag`);
  return tag;
}

/** Loads another server as the measured one was loaded. */
export function loadOther(
  { url, pid }: { url: string; pid: number },
  { path }: Subject,
  job: Omit<LoadJob, "url">,
): Promise<Loaded> {
  // To a server that keeps nothing of it, every report is new.
  const reports = job.reports === undefined ? {} : { reports: { ...job.reports, again: true } };
  return loadAddress({ ...job, ...reports, url: url + path }, () => cpuOfNode(pid));
}

/** Reads what an address answers. */
export async function objectsAt(setting: Setting, path: string): Promise<unknown> {
  const response = await fetch(setting.url + path, { headers: { authorization: `Bearer ${setting.key}` } });
  if (response.status !== 200)
    throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/**
 * Measures an address with each number of connections, and after it a bare server that answers the same objects. The
 * round that counts is the one with the median throughput for reports, and with the median share of the bare server's
 * for reads.
 */
export async function measure(setting: Setting, subject: Subject, connections: number[]): Promise<Figure[]> {
  const objects = subject.report !== undefined ? "OK" : await objectsAt(setting, subject.path);
  return withBareServer(objects, async (bareUrl, barePid) => {
    const figures: Figure[] = [];
    const measureOnce = async (count: number): Promise<Required<Figure>> => {
      const job = jobFor(setting, subject, count);
      const own = await loadOwn(setting, subject, job);
      const bare = await loadOther({ url: bareUrl, pid: barePid }, subject, job);
      return { scenario: subject.scenario, connections: count, own, bare };
    };
    const rank = ({ own, bare }: Required<Figure>): number =>
      own.throughput / (subject.report === undefined ? bare.throughput : 1);
    for (const count of connections) figures.push(await middleOf(setting, () => measureOnce(count), rank));
    return figures;
  });
}
