import { once } from "node:events";
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { Logger } from "../log.ts";
import type { TraceSettings } from "./tracing.ts";

const types = { protobuf: "application/x-protobuf", json: "application/json" };

/** Answers after which the same is to be sent again (OTLP specification, "Retryable Response Codes"). */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** For how long a connection is kept that nothing is sent on: less than collectors do, so that none is closed while something comes. */
const idleMs = 4_000;

const firstPauseMs = 1_000;
const longestPauseMs = 5_000;

/** An answer that is none of success. What else the collector says of it is its own. */
class CollectorRefusal extends Error {
  readonly isPassing: boolean;
  /** For how many milliseconds it wants to be left alone; undefined when it does not say. */
  readonly pauseMs: number | undefined;

  constructor({ statusCode = 0, headers }: IncomingMessage) {
    super(`The collector answered with status ${statusCode}`);
    this.name = "CollectorRefusal";
    this.isPassing = passing.has(statusCode);
    const seconds = Number(headers["retry-after"] ?? Number.NaN);
    this.pauseMs = Number.isFinite(seconds) ? Math.max(firstPauseMs, seconds * 1000) : undefined;
  }
}

const compressed = promisify(gzip);

/**
 * Posts spans to a collector (OTLP over HTTP). The library's own exporter tries again for as long as it likes, also when
 * the process wants to end; this one can be told to hurry.
 */
export class OtlpExporter {
  readonly #settings: TraceSettings;
  readonly #log: Pick<Logger, "info" | "warn">;
  /** Aborted when nothing is tried again any more, and when nothing is waited for. */
  readonly #hurry = new AbortController();
  readonly #giveUp = new AbortController();
  readonly #agent: HttpAgent;
  #isFailing = false;

  constructor(settings: TraceSettings, log: Pick<Logger, "info" | "warn">) {
    this.#settings = settings;
    this.#log = log;
    const agent = settings.url.startsWith("https:") ? HttpsAgent : HttpAgent;
    this.#agent = new agent({ keepAlive: true, timeout: idleMs });
  }

  /** Brings a batch to the collector, if it takes it. @returns whether it did. Never fails. */
  async export(spans: Uint8Array): Promise<boolean> {
    try {
      await this.#send(spans);
      if (this.#isFailing) this.#log.info("traces are exported again");
      this.#isFailing = false;
      return true;
    } catch (error) {
      // Once, until it works again: a collector that is away for a day is one line.
      if (!this.#isFailing) this.#log.warn({ err: error }, "traces cannot be exported");
      this.#isFailing = true;
      return false;
    }
  }

  /** Tries nothing again from now on. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** Waits for nothing from now on: what is under way has failed. */
  giveUp(): void {
    this.#giveUp.abort();
  }

  async #send(spans: Uint8Array): Promise<void> {
    const { compresses, timeoutMs } = this.#settings;
    const body = compresses ? await compressed(spans) : spans;
    const until = performance.now() + timeoutMs;
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.5, longestPauseMs))
      try {
        return await this.#post(body, until - performance.now());
      } catch (error) {
        const refusal = error instanceof CollectorRefusal ? error : undefined;
        const pauseMs = refusal?.pauseMs ?? pause;
        const isLast = performance.now() + pauseMs >= until || this.#hurry.signal.aborted;
        if (isLast || refusal?.isPassing === false || !(await this.#mayGoOn(pauseMs))) throw error;
      }
  }

  /** Waits before the next attempt. @returns whether there is to be one: there is none when the server stops. */
  async #mayGoOn(pauseMs: number): Promise<boolean> {
    const { signal } = this.#hurry;
    return delay(pauseMs, true, { signal, ref: false }).catch(() => false);
  }

  /** Posts once. @param ms that it may take. @throws CollectorRefusal, and what goes wrong on the way. */
  async #post(body: Uint8Array, ms: number): Promise<void> {
    const request = this.#begin(body.length);
    // Whatever is waited for tells of it.
    request.on("error", () => {});
    const late = setTimeout(
      () => request.destroy(new Error("The collector did not answer in time")),
      Math.max(1, ms),
    ).unref();
    try {
      const answered = once(request, "response") as Promise<[IncomingMessage]>;
      request.end(body);
      const [response] = await answered;
      // What is said besides the status is of no interest, but has to be taken for the connection to be used again.
      await finished(response.resume());
      if (response.statusCode === undefined || response.statusCode >= 300)
        throw new CollectorRefusal(response);
    } finally {
      clearTimeout(late);
    }
  }

  /** Begins a request. `fetch` would take four times as much of the processor. */
  #begin(length: number): ClientRequest {
    const { url, headers, form, compresses } = this.#settings;
    const begin = url.startsWith("https:") ? requestHttps : requestHttp;
    return begin(url, {
      method: "POST",
      agent: this.#agent,
      signal: this.#giveUp.signal,
      headers: {
        "user-agent": "waybill",
        ...headers,
        "content-type": types[form],
        "content-length": length,
        ...(compresses ? { "content-encoding": "gzip" } : {}),
      },
    });
  }
}
