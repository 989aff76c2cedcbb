import type { Logger } from "../log.ts";

/** What is said of a span: names of the semantic conventions of OpenTelemetry where there are such. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** On which side of what happens a span stands. */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** How a span begins. */
export interface SpanOptions {
  kind?: SpanKind;
  attributes?: SpanAttributes;
  /** When it began, as `performance.now()` says; now when left out. */
  began?: number;
  /** Spans of other traces that it came of, as `traceparent` has them. Others are left out. */
  links?: readonly string[];
}

/** Something that takes time, as a trace shows it. */
export interface Span {
  /** In hexadecimal digits. */
  readonly traceId: string;
  /** Names it to others, in the form of the header `traceparent` (W3C Trace Context). */
  readonly traceparent: string;
  /** Whether it is exported when it ends. Where it is not, neither are its children, and all else does nothing. */
  readonly isRecorded: boolean;
  /** Begins a part of it. */
  child(name: string, options?: SpanOptions): Span;
  set(attributes: SpanAttributes): void;
  /** Takes it for failed. @param type of the error: a code or a class, never a message. */
  fail(type: string): void;
  /** Ends it, once. */
  end(): void;
}

/** Begins traces, and exports those that are recorded. */
export interface Tracing {
  /** Begins a span that is part of none of this process. @param parent what a caller sent as `traceparent`; anything. */
  begin(name: string, options: SpanOptions & { parent?: unknown }): Span;
  /** Spans that were recorded and not exported, since the start: the queue was full, or the collector did not take them. */
  readonly dropped: number;
  /** Exports what is left, for so many milliseconds at most. Never fails. */
  stop(withinMs: number): Promise<void>;
}

/** How many of the traces that nobody else has decided about are recorded, and whether others decide at all. */
export interface Sampling {
  /** Takes the decision of whoever sent `traceparent`. */
  byParent: boolean;
  /** Share of the others, from 0 to 1. */
  ratio: number;
}

/** Where traces go, and how many. */
export interface TraceSettings {
  /** Where they are posted to. */
  url: string;
  /** What is sent along; may be secret. */
  headers: Readonly<Record<string, string>>;
  form: "protobuf" | "json";
  compresses: boolean;
  /** Milliseconds that bringing one batch to the collector may take, with all attempts. */
  timeoutMs: number;
  /** What is said of this process. */
  resource: Readonly<Record<string, string>>;
  sampling: Sampling;
  batch: { delayMs: number; timeoutMs: number; mostWaiting: number; mostAtOnce: number };
}

/** Traces that are wanted, though what makes them is not installed. */
export class TracingMissing extends Error {
  constructor(cause: unknown) {
    super(
      "Traces are switched on (OTEL_EXPORTER_OTLP_ENDPOINT), but the packages of OpenTelemetry are not installed: " +
        "install the optional packages too, or unset it",
      { cause },
    );
    this.name = "TracingMissing";
  }
}

/**
 * Loads what makes traces, which nobody else waits for or has in memory.
 * @throws TracingMissing when it is not installed.
 */
export async function openTracing(
  settings: TraceSettings | undefined,
  log: Pick<Logger, "info" | "warn">,
  load = () => import("./opentelemetry.ts"),
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined;
  const { startTracing } = await load().catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND"
      ? new TracingMissing(error)
      : error;
  });
  return startTracing(settings, log);
}
