import { parseTraceParent } from "@opentelemetry/core";

import { randomId } from "./ids.ts";
import type { Span, SpanAttributes, SpanKind, SpanOptions } from "./tracing.ts";

/** What names a span of another trace or process. */
export interface SpanReference {
  traceId: string;
  spanId: string;
  /** As the header has them; the lowest bit says that it is recorded. */
  traceFlags: number;
}

/** What is exported of a span. Ids are in hexadecimal digits, times in milliseconds since 1970. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  /** undefined for one that begins a trace. */
  readonly parentId: string | undefined;
  /** Whether the parent is of another process. */
  readonly isParentRemote: boolean;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  /** Those that are undefined do not count. */
  readonly attributes: SpanAttributes;
  readonly links: readonly SpanReference[];
  readonly hasFailed: boolean;
}

/** What makes spans, and what is said of it with each batch of them. */
export interface TracedProcess {
  resource: SpanAttributes;
  /** The part of the program that they are said to be made by. */
  scope: string;
}

/** Spans that are to be sent together. */
export interface SpanBatch {
  readonly count: number;
  add(span: SpanRecord): void;
  /** Gives all that were added, in a form that a collector understands (`ExportTraceServiceRequest`), and begins anew. */
  take(): Uint8Array;
}

/** Gives the whole seconds of a time in milliseconds. */
export const secondsOf = (ms: number): number => Math.floor(ms / 1000);

/** Gives what `secondsOf` leaves of a time in milliseconds, in nanoseconds. */
export const nanosecondsOf = (ms: number): number => Math.round((ms - secondsOf(ms) * 1000) * 1e6);

/** Reads what was sent as `traceparent`. What else callers send of their traces (`tracestate`) is taken no notice of: it would be exported. */
export function readTraceparent(traceparent: unknown): SpanReference | undefined {
  return typeof traceparent === "string" ? (parseTraceParent(traceparent) ?? undefined) : undefined;
}

const none: SpanAttributes = {};
const noLinks: readonly SpanReference[] = [];

/** What the spans of a trace have in common in this process. */
export interface TracePart {
  traceId: string;
  /** What is to be added to `performance.now()` for milliseconds since 1970: one for all, so that parts lie within their whole. */
  epochMs: number;
  /** Takes spans that have ended. */
  take(span: SpanRecord): void;
}

/** A span that is exported. Attributes that are given to it are kept, not copied: nobody changes them later. */
export class RecordedSpan implements Span, SpanRecord {
  readonly #part: TracePart;
  readonly traceId: string;
  readonly spanId = randomId(8);
  readonly parentId: string | undefined;
  readonly isParentRemote: boolean;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly links: readonly SpanReference[];
  endMs = 0;
  attributes: SpanAttributes;
  hasFailed = false;

  /** @param remote its parent, when that is of another process. @param local when it is of this one. */
  constructor(
    part: TracePart,
    name: string,
    options: SpanOptions,
    remote: SpanReference | undefined,
    local?: SpanRecord,
  ) {
    this.#part = part;
    this.traceId = part.traceId;
    this.parentId = (local ?? remote)?.spanId;
    this.isParentRemote = remote !== undefined;
    this.name = name;
    this.kind = options.kind ?? "internal";
    this.startMs = part.epochMs + (options.began ?? performance.now());
    this.links = options.links?.flatMap((link) => readTraceparent(link) ?? []) ?? noLinks;
    this.attributes = options.attributes ?? none;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  get isRecorded(): boolean {
    return this.endMs === 0;
  }

  child(name: string, options: SpanOptions = {}): Span {
    return new RecordedSpan(this.#part, name, options, undefined, this);
  }

  set(attributes: SpanAttributes): void {
    if (!this.isRecorded) return;
    this.attributes = this.attributes === none ? attributes : merged(this.attributes, attributes);
  }

  fail(type: string): void {
    if (!this.isRecorded) return;
    this.set({ "error.type": type });
    this.hasFailed = true;
  }

  end(): void {
    if (!this.isRecorded) return;
    this.endMs = this.#part.epochMs + performance.now();
    this.#part.take(this);
  }
}

/** Adds attributes; those that are undefined leave what is there. */
function merged(attributes: SpanAttributes, more: SpanAttributes): SpanAttributes {
  const set = Object.entries(more).filter(([, value]) => value !== undefined);
  return { ...attributes, ...Object.fromEntries(set) };
}

/** A span that is not exported, and that stands for all its parts. It names the trace to others, who are told that it is not recorded. */
export class UnrecordedSpan implements Span {
  readonly traceId: string;
  readonly isRecorded = false;
  #traceparent: string | undefined;

  constructor(traceId: string) {
    this.traceId = traceId;
  }

  get traceparent(): string {
    return (this.#traceparent ??= `00-${this.traceId}-${randomId(8)}-00`);
  }

  child(): Span {
    return this;
  }

  set(): void {}

  fail(): void {}

  end(): void {}
}
