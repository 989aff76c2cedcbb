// Loads one address for a while and sends back what was measured. A process of its own, so that making requests does
// not slow down the server that answers them more than any client would.
import { connect, type Socket } from "node:net";

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

/** How an answer's end is known: by its length, or by the last chunk. */
interface Answer {
  status: number;
  /** Bytes of the body still to come; undefined when it comes in chunks. */
  missing: number | undefined;
  /** The last bytes that came, as many as the end of the last chunk has. */
  tail: string;
}

/** How a body in chunks ends (RFC 9112 section 7.1). */
const lastChunk = "\r\n0\r\n\r\n";

/** Reads the head of an answer, and how its end is known; undefined while the head is incomplete. "Not modified" has no body. */
function readHead(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (status === 304) return { status, missing: 0, tail: "" };
  if (length !== undefined) return { status, missing: Number(length) - (bytes.length - end - 4), tail: "" };
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    throw new Error(`An answer does not say where it ends:\n${head}`);
  return { status, missing: undefined, tail: tailOf("", bytes) };
}

/** Keeps the last bytes of what has come. */
function tailOf(before: string, bytes: Buffer): string {
  const last = bytes.toString("latin1", Math.max(0, bytes.length - lastChunk.length));
  return (before + last).slice(-lastChunk.length);
}

function hasEnded({ missing, tail }: Answer): boolean {
  return missing === undefined ? tail === lastChunk : missing <= 0;
}

interface Counts {
  /** Time of each answer, in milliseconds. */
  times: number[];
  failed: number;
}

/**
 * Sends one request after the other on one connection until `isOver`. It reads no more than an answer's status and
 * where it ends: a complete client would use as much of the processors as the measured server.
 */
function sendOnOne(
  target: { host: string; port: number },
  requests: Generator<Buffer, never>,
  counts: Counts,
  { isOver, isSuccess }: { isOver: () => boolean; isSuccess: (status: number) => boolean },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(target);
    let answer: Answer | undefined;
    let head: Buffer | undefined;
    let begun = 0;
    const send = (): void => {
      begun = performance.now();
      socket.write(requests.next().value);
    };
    const receive = (bytes: Buffer): void => {
      if (answer === undefined) {
        const known = head === undefined ? bytes : Buffer.concat([head, bytes]);
        answer = readHead(known);
        head = answer === undefined ? known : undefined;
      } else if (answer.missing === undefined) answer.tail = tailOf(answer.tail, bytes);
      else answer.missing -= bytes.length;
      if (answer === undefined || !hasEnded(answer)) return;
      counts.times.push(performance.now() - begun);
      if (!isSuccess(answer.status)) counts.failed += 1;
      answer = undefined;
      if (isOver()) socket.end(resolve);
      else send();
    };
    socket.setNoDelay(true).once("connect", send).once("error", reject);
    socket.once("close", () => reject(new Error("The server closed a connection")));
    socket.on("data", (bytes) => {
      try {
        receive(bytes);
      } catch (error) {
        reject(error);
      }
    });
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
