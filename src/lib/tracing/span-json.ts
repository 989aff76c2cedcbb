import {
  type Attributes,
  type Link,
  type SpanContext,
  SpanKind as LibraryKind,
  SpanStatusCode,
} from "@opentelemetry/api";
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";

import { present } from "../present.ts";
import { nanosecondsOf, secondsOf, type SpanBatch, type SpanRecord, type TracedProcess } from "./span.ts";
import type { SpanAttributes, SpanKind } from "./tracing.ts";

const kinds: Record<SpanKind, LibraryKind> = {
  internal: LibraryKind.INTERNAL,
  server: LibraryKind.SERVER,
  client: LibraryKind.CLIENT,
  producer: LibraryKind.PRODUCER,
  consumer: LibraryKind.CONSUMER,
};

const hrTimeOf = (ms: number): [number, number] => [secondsOf(ms), nanosecondsOf(ms)];

/** A span as the library has them. A class: copying what all have in common into each by `...` takes longer than writing it. */
class LibrarySpan implements ReadableSpan {
  readonly #span: SpanRecord;
  readonly name: string;
  readonly kind: LibraryKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: [number, number];
  readonly endTime: [number, number];
  readonly status: { code: SpanStatusCode };
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly resource: Resource;
  readonly instrumentationScope: { name: string };
  readonly events = [];
  readonly ended = true;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;

  constructor(span: SpanRecord, resource: Resource, scope: { name: string }) {
    const { traceId, parentId, isParentRemote } = span;
    this.#span = span;
    this.name = span.name;
    this.kind = kinds[span.kind];
    if (parentId !== undefined)
      this.parentSpanContext = { traceId, spanId: parentId, traceFlags: 1, isRemote: isParentRemote };
    this.startTime = hrTimeOf(span.startMs);
    this.endTime = hrTimeOf(span.endMs);
    this.status = { code: span.hasFailed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET };
    this.attributes = withoutUndefined(span.attributes);
    this.links = span.links.map((context) => ({ context: { ...context, isRemote: true } }));
    this.resource = resource;
    this.instrumentationScope = scope;
  }

  get duration(): [number, number] {
    return hrTimeOf(this.#span.endMs - this.#span.startMs);
  }

  spanContext(): SpanContext {
    return { traceId: this.#span.traceId, spanId: this.#span.spanId, traceFlags: 1 };
  }
}

function withoutUndefined(attributes: SpanAttributes): Attributes {
  const given: Attributes = {};
  for (const key in attributes) if (attributes[key] !== undefined) given[key] = attributes[key];
  return given;
}

/** Makes of spans what the library understands. All of one call are of one resource. */
export function librarySpans(
  spans: readonly SpanRecord[],
  { resource, scope }: TracedProcess,
): ReadableSpan[] {
  const shared = resourceFromAttributes(withoutUndefined(resource));
  const by = { name: scope };
  return spans.map((span) => new LibrarySpan(span, shared, by));
}

/** Collects spans and writes them as OTLP's JSON, by the library: a form for those who look at it, which may take its time. */
export class SpansAsJson implements SpanBatch {
  readonly #process: TracedProcess;
  #spans: SpanRecord[] = [];

  constructor(process: TracedProcess) {
    this.#process = process;
  }

  get count(): number {
    return this.#spans.length;
  }

  add(span: SpanRecord): void {
    this.#spans.push(span);
  }

  take(): Uint8Array {
    const spans = librarySpans(this.#spans, this.#process);
    this.#spans = [];
    return present(JsonTraceSerializer.serializeRequest(spans), "the library writes all spans");
  }
}
