import { once } from "node:events";

import type { LoadResult } from "./load.ts";
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

async function runLoad(job: LoadJob): Promise<LoadResult> {
  const child = startNode({ args: script("load.ts") });
  try {
    const ended = once(child, "exit").then(() => {
      throw new Error("The load generator ended without a result");
    });
    // Only the race below looks at it; afterwards its ending is what we want.
    ended.catch(() => {});
    child.send(job);
    const [result] = (await Promise.race([once(child, "message"), ended])) as [LoadResult];
    return result;
  } finally {
    await stopProcess(child);
  }
}

/** Loads an address for some seconds, from a process of its own, and measures what that cost the answering side. */
async function loadAddress(job: LoadJob, cpu: () => Promise<Cpu>): Promise<Loaded> {
  const before = await cpu();
  const result = await runLoad(job);
  const after = await cpu();
  const each = (part: keyof Cpu): number => ((after[part] - before[part]) * 1e6) / result.answered;
  return { ...result, cost: { node: each("node"), postgres: each("postgres") } };
}

/** Runs the bare server while `work` measures it. */
export async function withBareServer<T>(
  objects: unknown,
  work: (url: string, pid: number) => Promise<T>,
): Promise<T> {
  const child = startNode({ args: script("bare-server.ts") });
  try {
    child.send({ objects });
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return await work(`http://127.0.0.1:${port}`, child.pid ?? 0);
  } finally {
    await stopProcess(child);
  }
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

/** Measures several times and gives the median round: a single one depends as much on the machine as on the program. */
async function middleOf<T>(
  rounds: number,
  measureOnce: () => Promise<T>,
  rank: (result: T) => number,
): Promise<T> {
  const results: T[] = [];
  for (let round = 0; round < rounds; round += 1) results.push(await measureOnce());
  return results.sort((a, b) => rank(a) - rank(b))[(rounds - 1) / 2]!;
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
      setting.rounds,
      () => loadOwn(setting, subject, jobFor(setting, subject, count)),
      ({ p50 }) => p50,
    );
    figures.push({ scenario: subject.scenario, connections: count, own });
  }
  return figures;
}

let measurement = 0;

function jobFor(setting: Setting, subject: Subject, connections: number): Omit<LoadJob, "url"> {
  const { path, others, report, puts } = subject;
  measurement += 1;
  return {
    key: setting.key,
    seconds: setting.seconds,
    connections,
    ...(others === undefined ? {} : { paths: [path, ...others] }),
    ...(puts === undefined ? {} : { puts }),
    ...(report === undefined
      ? {}
      : { reports: { kind: report, seed: `bench ${Date.now()} ${measurement}` } }),
  };
}

async function loadOwn(setting: Setting, subject: Subject, job: Omit<LoadJob, "url">): Promise<Loaded> {
  const url = setting.url + subject.path;
  const own = await loadAddress({ ...job, url }, () => cpuOfServer(setting.server));
  if (own.failed > 0) throw new Error(`${subject.scenario}: ${own.failed} requests failed`);
  return own;
}

async function objectsAt(setting: Setting, path: string): Promise<unknown> {
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
      // To a server that keeps nothing every report is new.
      const reports = job.reports === undefined ? {} : { reports: { ...job.reports, again: true } };
      const bareJob = { ...job, ...reports, url: bareUrl + subject.path };
      const bare = await loadAddress(bareJob, () => cpuOfNode(barePid));
      return { scenario: subject.scenario, connections: count, own, bare };
    };
    const rank = ({ own, bare }: Required<Figure>): number =>
      own.throughput / (subject.report === undefined ? bare.throughput : 1);
    for (const count of connections)
      figures.push(await middleOf(setting.rounds, () => measureOnce(count), rank));
    return figures;
  });
}
