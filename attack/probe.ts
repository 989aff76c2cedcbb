// Asks a server small things at every beat and notes how long each took. A process of its own, so that nothing an attack
// takes of this machine's time in its own process is counted.
import { Agent, request } from "node:http";
import { setPriority } from "node:os";

import { isFault } from "./client.ts";
import { type Processes, RunQueue } from "./run-queue.ts";

/** The message from the parent: whom to ask. */
export interface ProbeJob {
  url: string;
  key: string;
  /** Path of the small list. */
  list: string;
  /** Address of a server that does nothing, asked at the same times: its delays are the machine's. */
  bareUrl: string;
  /** The server's processes, if they are on this machine. */
  processes: Processes | undefined;
}

/** What the probe measured since it was last asked, in milliseconds. */
export interface Seen {
  probes: number;
  p50: number;
  p99: number;
  /** The longest wait for an answer. */
  worst: number;
  /** The longest wait for each, less what the machine caused at the same time. */
  own: { live: number; list: number };
  /** The longest wait for the bare server. */
  machine: number;
  /** Failures: 5xx except 503 with `Retry-After`, unexpected statuses, broken connections. */
  failures: string[];
  /** Number of answers 503 with `Retry-After`. */
  refused: number;
}

const beatMs = 50;
const patienceMs = 120_000;
/** Most unanswered questions: beyond that the server is not asked any more. */
const mostWaiting = 400;
const mostFailures = 20;

interface Sample {
  at: number;
  ms: number;
  /** Whether the answer needs the database. */
  reads?: boolean;
}

let samples: Sample[] = [];
let bare: Sample[] = [];
let failures: string[] = [];
let refused = 0;
/** Questions without an answer yet. */
const waiting = new Set<Omit<Sample, "ms">>();
let queue: RunQueue | undefined;

interface Question {
  url: string;
  key?: string;
  /** Undefined for a new connection, as of a new caller. */
  agent?: Agent;
}

/** Asks a question. @returns the status; 0 when the connection broke. */
function ask({
  url,
  key,
  agent,
}: Question): Promise<{ status: number; retryAfter?: string; error?: string }> {
  return new Promise((resolve) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const sent = request(url, { agent: agent ?? false, headers, timeout: patienceMs }, (answer) => {
      answer.resume();
      answer.once("error", (error) => resolve({ status: 0, error: error.message }));
      answer.once("end", () => {
        const retryAfter = answer.headers["retry-after"];
        resolve({ status: answer.statusCode ?? 0, ...(retryAfter === undefined ? {} : { retryAfter }) });
      });
    });
    sent.once("timeout", () => sent.destroy(new Error(`no answer in ${patienceMs / 1000} s`)));
    sent.once("error", (error) => resolve({ status: 0, error: error.message }));
    sent.end();
  });
}

async function probe(question: Question, what: string): Promise<void> {
  if (waiting.size >= mostWaiting) return;
  const mark = { at: performance.now(), reads: question.key !== undefined };
  waiting.add(mark);
  const { status, retryAfter, error } = await ask(question);
  waiting.delete(mark);
  samples.push({ ...mark, ms: performance.now() - mark.at });
  if (status === 200) return;
  if (status === 503 && !isFault(status, retryAfter)) refused += 1;
  else if (failures.length < mostFailures) failures.push(`${what}: ${error ?? status}`);
}

async function probeBare(question: Question): Promise<void> {
  const at = performance.now();
  await ask(question);
  bare.push({ at, ms: performance.now() - at });
}

function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/**
 * Finds how long the machine itself delayed a sample: as long as the bare server took, or as the server waited for a
 * processor.
 */
function machineDuring({ at, ms, reads = false }: Sample): number {
  const during = bare.filter((one) => one.at <= at + ms + beatMs && one.at + one.ms >= at - beatMs);
  const waited = queue?.between(at, at + ms) ?? { server: 0, backends: 0 };
  return Math.max(0, ...during.map((one) => one.ms), waited.server + (reads ? waited.backends : 0));
}

/** Finds the longest wait of one kind, less what the machine caused. Only slow samples are worth that search. */
function worstOwn(all: readonly Sample[], reads: boolean): number {
  const some = all.filter((one) => (one.reads ?? false) === reads);
  const own = some.map((one) => (one.ms < beatMs ? one.ms : Math.max(0, one.ms - machineDuring(one))));
  return Math.max(0, ...own);
}

/** Summarizes everything since the last time. Unanswered questions count with the time they have waited. */
function look(): Seen {
  const now = performance.now();
  const all = [...samples, ...[...waiting].map((mark) => ({ ...mark, ms: now - mark.at }))];
  const sorted = all.map(({ ms }) => ms).sort((a, b) => a - b);
  const seen: Seen = {
    probes: all.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    worst: sorted.at(-1) ?? 0,
    own: { live: worstOwn(all, false), list: worstOwn(all, true) },
    machine: Math.max(0, ...bare.map(({ ms }) => ms)),
    failures,
    refused,
  };
  [samples, bare, failures, refused] = [[], [], [], 0];
  queue?.forget();
  return seen;
}

function begin({ url, key, list, bareUrl, processes }: ProbeJob): void {
  queue = processes && new RunQueue(processes);
  const kept = new Agent({ keepAlive: true });
  const keptBare = new Agent({ keepAlive: true });
  setInterval(() => {
    queue?.sample();
    void probe({ url: `${url}/live`, agent: kept }, "/live");
    void probe({ url: `${url}${list}`, key }, "the list");
    void probeBare({ url: bareUrl, agent: keptBare });
  }, beatMs);
}

try {
  // Whoever may: the one who looks at the clock goes first.
  setPriority(-5);
} catch {
  // Only some may.
}
process.on("message", (message) => {
  if (message === "look") process.send?.(look());
  else begin(message as ProbeJob);
});
process.once("disconnect", () => process.exit());
