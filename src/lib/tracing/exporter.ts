import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";

import type { Logger } from "../log.ts";
import type { TraceSettings } from "./tracing.ts";

const forms = {
  protobuf: { serializer: ProtobufTraceSerializer, type: "application/x-protobuf" },
  json: { serializer: JsonTraceSerializer, type: "application/json" },
};

/** Answers after which the same is to be sent again (OTLP specification, "Retryable Response Codes"). */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const firstPauseMs = 1_000;
const longestPauseMs = 5_000;

/** An answer that is none of success. What else the collector says of it is its own. */
class CollectorRefusal extends Error {
  readonly isPassing: boolean;
  /** For how many milliseconds it wants to be left alone; undefined when it does not say. */
  readonly pauseMs: number | undefined;

  constructor(response: Response) {
    super(`The collector answered with status ${response.status}`);
    this.name = "CollectorRefusal";
    this.isPassing = passing.has(response.status);
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    this.pauseMs = Number.isFinite(seconds) ? Math.max(firstPauseMs, seconds * 1000) : undefined;
  }
}

const compressed = promisify(gzip);

/**
 * Posts spans to a collector (OTLP over HTTP). The library's own exporter tries again for as long as it likes, also when
 * the process wants to end; this one can be told to hurry.
 */
export class OtlpExporter implements SpanExporter {
  readonly #settings: TraceSettings;
  readonly #log: Pick<Logger, "info" | "warn">;
  /** Aborted when nothing is tried again any more, and when nothing is waited for. */
  readonly #hurry = new AbortController();
  readonly #giveUp = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #isFailing = false;

  constructor(settings: TraceSettings, log: Pick<Logger, "info" | "warn">) {
    this.#settings = settings;
    this.#log = log;
  }

  export(spans: ReadableSpan[], tell: (result: ExportResult) => void): void {
    const told = this.#outcomeOf(spans).then(tell);
    this.#underWay.add(told);
    void told.finally(() => this.#underWay.delete(told));
  }

  async #outcomeOf(spans: ReadableSpan[]): Promise<ExportResult> {
    try {
      await this.#send(spans);
      if (this.#isFailing) this.#log.info("traces are exported again");
      this.#isFailing = false;
      return { code: ExportResultCode.SUCCESS };
    } catch (error) {
      // Once, until it works again: a collector that is away for a day is one line.
      if (!this.#isFailing) this.#log.warn({ err: error }, "traces cannot be exported");
      this.#isFailing = true;
      return {
        code: ExportResultCode.FAILED,
        error: error instanceof Error ? error : new Error(String(error)),
      };
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

  async forceFlush(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  shutdown(): Promise<void> {
    return this.forceFlush();
  }

  async #send(spans: ReadableSpan[]): Promise<void> {
    const { form, compresses, timeoutMs } = this.#settings;
    const written = forms[form].serializer.serializeRequest(spans);
    if (written === undefined) throw new Error("Spans cannot be written");
    const body = compresses ? await compressed(written) : written;
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

  async #post(body: Uint8Array, ms: number): Promise<void> {
    const { url, headers, form, compresses } = this.#settings;
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "user-agent": "waybill",
        ...headers,
        "content-type": forms[form].type,
        ...(compresses ? { "content-encoding": "gzip" } : {}),
      },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: "error",
      signal: AbortSignal.any([AbortSignal.timeout(Math.ceil(Math.max(1, ms))), this.#giveUp.signal]),
    });
    await response.body?.cancel();
    if (!response.ok) throw new CollectorRefusal(response);
  }
}
