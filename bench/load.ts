// Loads one address for a while and sends back what was measured. A process of its own, so that making requests does
// not slow down the server that answers them more than any client would.
import { connect, type Socket } from "node:net";

import { type LoadJob, requestsOf, warmUpSeconds } from "./requests.ts";

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

interface Answer {
  status: number;
  /** Bytes that are still to come. */
  missing: number;
}

/** Reads the head of an answer, and how much of its body came with it; undefined while the head is not all there. */
function readHead(bytes: Buffer): Answer | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`An answer does not say how long it is:\n${head}`);
  return { status: Number(head.slice(9, 12)), missing: Number(length) - (bytes.length - end - 4) };
}

interface Counts {
  /** Milliseconds of each answer. */
  times: number[];
  failed: number;
}

/**
 * Sends one request after the other on one connection until `isOver`. It looks at no more than an answer's status and
 * length: a complete client takes as much of the processors as the server that is measured.
 */
function sendOnOne(
  target: { host: string; port: number },
  requests: Generator<Buffer, never>,
  counts: Counts,
  isOver: () => boolean,
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
      } else answer.missing -= bytes.length;
      if (answer === undefined || answer.missing > 0) return;
      counts.times.push(performance.now() - begun);
      if (answer.status < 200 || answer.status > 299) counts.failed += 1;
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
  const target = { host: hostname, port: Number(port) };
  const connections = Array.from({ length: job.connections }, () =>
    sendOnOne(target, requests, counts, isOver),
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
