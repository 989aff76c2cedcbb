import { randomUUID } from "node:crypto";

import {
  type Context,
  type Counter,
  createNoopMeter,
  type Link,
  type Meter,
  type MeterProvider,
  ROOT_CONTEXT,
  type Span as LibrarySpan,
  SpanKind as LibraryKind,
  type SpanOptions as LibraryOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

import type { Logger } from "../log.ts";
import { OtlpExporter } from "./exporter.ts";
import type {
  Sampling,
  Span,
  SpanAttributes,
  SpanKind,
  SpanOptions,
  TraceSettings,
  Tracing,
} from "./tracing.ts";

const kinds: Record<SpanKind, LibraryKind> = {
  internal: LibraryKind.INTERNAL,
  server: LibraryKind.SERVER,
  client: LibraryKind.CLIENT,
  producer: LibraryKind.PRODUCER,
  consumer: LibraryKind.CONSUMER,
};

/** Reads what was sent as `traceparent`. What else callers send of their traces (`tracestate`) is taken no notice of: it would be exported. */
function readParent(traceparent: unknown): Link["context"] | undefined {
  const read = typeof traceparent === "string" ? parseTraceParent(traceparent) : null;
  return read === null ? undefined : { ...read, isRemote: true };
}

function libraryOptions({ kind = "internal", attributes, began, links = [] }: SpanOptions): LibraryOptions {
  const contexts = links.flatMap((link) => readParent(link) ?? []);
  return {
    kind: kinds[kind],
    ...(attributes === undefined ? {} : { attributes }),
    ...(began === undefined ? {} : { startTime: began }),
    ...(contexts.length === 0 ? {} : { links: contexts.map((context) => ({ context })) }),
  };
}

class RecordableSpan implements Span {
  readonly #tracer: Tracer;
  readonly #span: LibrarySpan;
  #context: Context | undefined;

  constructor(tracer: Tracer, span: LibrarySpan) {
    this.#tracer = tracer;
    this.#span = span;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 0 ? "00" : "01"}`;
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  child(name: string, options: SpanOptions = {}): Span {
    this.#context ??= trace.setSpan(ROOT_CONTEXT, this.#span);
    return new RecordableSpan(
      this.#tracer,
      this.#tracer.startSpan(name, libraryOptions(options), this.#context),
    );
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  fail(type: string): void {
    this.#span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end();
  }
}

function samplerOf({ byParent, ratio }: Sampling): Sampler {
  const root =
    ratio === 1
      ? new AlwaysOnSampler()
      : ratio === 0
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  if (byParent) return new ParentBasedSampler({ root });
  // Parts of what is recorded are recorded, whoever decided about the whole.
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
}

/** Counts the spans that the library's queue says it is done with and that were not exported. It says nothing else to anybody. */
function countDropped(): { provider: MeterProvider; count: () => number } {
  let dropped = 0;
  const noop = createNoopMeter();
  const counter: Counter = {
    add: (count, attributes) => {
      if (attributes?.["error.type"] !== undefined) dropped += count;
    },
  };
  const meter = Object.assign(Object.create(noop) as Meter, {
    createCounter: (name: string) =>
      name === "otel.sdk.processor.span.processed" ? counter : noop.createCounter(name),
  });
  return { provider: { getMeter: () => meter }, count: () => dropped };
}

/** Begins to make traces and to export them, in batches, in the background. */
export function startTracing(settings: TraceSettings, log: Pick<Logger, "info" | "warn">): Tracing {
  const { batch, resource, sampling } = settings;
  const exporter = new OtlpExporter(settings, log);
  const dropped = countDropped();
  const provider = new TracerProvider({
    sampler: samplerOf(sampling),
    resource: defaultResource().merge(
      resourceFromAttributes({ "service.instance.id": randomUUID(), ...resource }),
    ),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: batch.delayMs,
        exportTimeoutMillis: batch.timeoutMs,
        maxQueueSize: batch.mostWaiting,
        maxExportBatchSize: batch.mostAtOnce,
        selfObsMeterProvider: dropped.provider,
      }),
    ],
  });
  const tracer = provider.getTracer("waybill");
  return {
    begin: (name, { parent, ...options }) => {
      const context = readParent(parent);
      const around = context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
      return new RecordableSpan(tracer, tracer.startSpan(name, libraryOptions(options), around));
    },
    get dropped() {
      return dropped.count();
    },
    stop: async (withinMs) => {
      exporter.hurry();
      const limit = setTimeout(() => exporter.giveUp(), withinMs);
      // What could not be exported was counted.
      await provider.shutdown().catch(() => {});
      await exporter.forceFlush();
      clearTimeout(limit);
    },
  };
}
