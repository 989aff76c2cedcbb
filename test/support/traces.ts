import { vi } from "vitest";

import { type Receiver, startReceiver } from "./receiver.ts";

/** A span as a collector receives it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  /** As the protocol numbers them: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  attributes: Record<string, unknown>;
  /** 2 is an error. */
  status: number;
  links: { traceId: string; spanId: string }[];
  ms: number;
}

/** Somebody's collector. It understands JSON. */
export interface Collector extends Receiver {
  /** What makes a server export to it at once, and all. */
  settings: Record<string, string>;
  spans(): ReceivedSpan[];
  /** What is said of the process that sent them. */
  resource(): Record<string, unknown>;
  /** Waits until all these spans have come. @returns the first that fits each. */
  wait(...wanted: ((span: ReceivedSpan) => boolean)[]): Promise<ReceivedSpan[]>;
}

interface KeyValue {
  key: string;
  value: Record<string, unknown>;
}

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes?: KeyValue[];
  status?: { code?: number };
  links?: { traceId: string; spanId: string }[];
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface WireBody {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: WireSpan[] }[] }[];
}

function attributesOf(pairs: KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function read(span: WireSpan): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, status, links = [] } = span;
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId === "" ? undefined : parentSpanId,
    name,
    kind,
    attributes: attributesOf(attributes),
    status: status?.code ?? 0,
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  };
}

/** Starts a collector on a free port of this machine. */
export async function startCollector(): Promise<Collector> {
  const receiver = await startReceiver();
  const bodies = (): WireBody[] => receiver.received.map(({ json }) => json as WireBody);
  const spans = (): ReceivedSpan[] =>
    bodies().flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(read))),
    );
  return {
    ...receiver,
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_SAMPLER: "parentbased_always_on",
      OTEL_BSP_SCHEDULE_DELAY: "20",
    },
    spans,
    resource: () => attributesOf(bodies()[0]?.resourceSpans[0]?.resource.attributes),
    wait: (...wanted) =>
      vi.waitFor(
        () => {
          const received = spans();
          return wanted.map((fits) => {
            const found = received.find(fits);
            if (found === undefined)
              throw new Error(`${fits.toString()}: ${received.map(({ name }) => name).join(", ")}`);
            return found;
          });
        },
        { timeout: 20_000, interval: 20 },
      ),
  };
}
