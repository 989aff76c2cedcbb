import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gunzipSync } from "node:zlib";

import { afterEach, describe, expect, it, vi } from "vitest";

import { openTracing, type TraceSettings, type Tracing, TracingMissing } from "./tracing.ts";

interface Received {
  type: string | undefined;
  body: Buffer;
}

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** Starts a collector. @param answer says with which status it answers, or that it never does. */
async function startCollector(answer: () => number | "never" = () => 200) {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
      received.push({ type: request.headers["content-type"], body: plain });
      const status = answer();
      if (status !== "never") response.writeHead(status).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces` };
}

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: unknown }[];
  links: unknown[];
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

function spansIn({ body }: Received): WireSpan[] {
  const { resourceSpans } = JSON.parse(body.toString()) as {
    resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** Somebody else's trace. */
const other = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;

const lines: string[] = [];
const log = {
  info: (...line: unknown[]) => void lines.push(String(line.at(-1))),
  warn: (...line: unknown[]) => void lines.push(String(line.at(-1))),
};

async function start(url: string, change: Partial<TraceSettings> = {}): Promise<Tracing> {
  lines.length = 0;
  const settings: TraceSettings = {
    url,
    headers: {},
    form: "json",
    compresses: false,
    timeoutMs: 5_000,
    resource: {},
    sampling: { byParent: true, ratio: 1 },
    batch: { delayMs: 10, timeoutMs: 30_000, mostWaiting: 2048, mostAtOnce: 512 },
    ...change,
  };
  const tracing = await openTracing(settings, log);
  if (tracing === undefined) throw new Error("There are traces");
  open.push(() => tracing.stop(0));
  return tracing;
}

describe("traces", () => {
  it("are none where none are wanted, and nothing is loaded", async () => {
    const load = vi.fn<() => Promise<never>>();
    expect(await openTracing(undefined, log, load)).toBeUndefined();
    expect(load).not.toHaveBeenCalled();
  });

  it("that cannot be made are said to be so in a sentence", async () => {
    const { url } = await startCollector();
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    await start(url);
    const settings = { url } as TraceSettings;
    await expect(openTracing(settings, log, () => Promise.reject(missing))).rejects.toThrow(TracingMissing);
    await expect(openTracing(settings, log, () => Promise.reject(new Error("other")))).rejects.toThrow(
      "other",
    );
  });

  it.each([
    ["protobuf", false, "application/x-protobuf"],
    ["protobuf", true, "application/x-protobuf"],
    ["json", true, "application/json"],
  ] as const)("are sent as %s, compressed: %s", async (form, compresses, type) => {
    const { url, received } = await startCollector();
    const tracing = await start(url, { form, compresses });
    const span = tracing.begin("an-operation", { kind: "server" });
    span.end();
    await tracing.stop(5_000);
    expect(received).toHaveLength(1);
    expect(received[0]!.type).toBe(type);
    expect(received[0]!.body.includes("an-operation")).toBe(true);
    const id = form === "json" ? span.traceId : Buffer.from(span.traceId, "hex");
    expect(received[0]!.body.includes(id)).toBe(true);
    expect(tracing.dropped).toBe(0);
  });

  it("are as many as was said, and parts go with the whole", async () => {
    const { url } = await startCollector();
    const tracing = await start(url, {
      sampling: { byParent: true, ratio: 0.05 },
      batch: { delayMs: 60_000, timeoutMs: 1, mostWaiting: 1, mostAtOnce: 1 },
    });
    let recorded = 0;
    for (let index = 0; index < 20_000; index += 1) {
      const span = tracing.begin("one", {});
      expect(span.child("part").isRecorded).toBe(span.isRecorded);
      if (span.isRecorded) recorded += 1;
    }
    // Six standard deviations to either side.
    expect(recorded).toBeGreaterThan(815);
    expect(recorded).toBeLessThan(1185);
  });

  it.each([
    [true, "01", true],
    [true, "00", false],
    [false, "01", false],
    [false, "00", false],
  ])(
    "by parents: %s, of a caller with the flags %s, are recorded: %s",
    async (byParent, flags, isRecorded) => {
      const { url } = await startCollector();
      const tracing = await start(url, { sampling: { byParent, ratio: 0 } });
      const parent = `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-${flags}`;
      const span = tracing.begin("one", { parent });
      expect(span.isRecorded).toBe(isRecorded);
      expect(span.traceparent).toMatch(isRecorded ? /-01$/ : /-00$/);
      expect(span.traceId).toBe(parent.split("-")[1]);
    },
  );

  it("are sent a batch at a time, none larger than was said, and the rest when its time has come", async () => {
    const { url, received } = await startCollector();
    const tracing = await start(url, {
      batch: { delayMs: 300, timeoutMs: 30_000, mostWaiting: 100, mostAtOnce: 10 },
    });
    for (let index = 0; index < 25; index += 1) tracing.begin(`span-${index}`, {}).end();
    await vi.waitFor(() => expect(received).toHaveLength(2), 10_000);
    await delay(100);
    expect(received).toHaveLength(2);
    await vi.waitFor(() => expect(received).toHaveLength(3), 10_000);
    const names = received.map((batch) => spansIn(batch).map(({ name }) => name));
    expect(names.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(names.flat()).toEqual(Array.from({ length: 25 }, (_, index) => `span-${index}`));
    expect(tracing.dropped).toBe(0);
  });

  it("are dropped once it has stopped", async () => {
    const { url, received } = await startCollector();
    const tracing = await start(url);
    const span = tracing.begin("late", {});
    await tracing.stop(1_000);
    span.end();
    expect(tracing.dropped).toBe(1);
    expect(received).toEqual([]);
  });

  it("say what is part of what, when, and what was said of it until it ended", async () => {
    const { url, received } = await startCollector();
    const tracing = await start(url);
    const before = Date.now();
    const whole = tracing.begin("whole", { attributes: { one: 1, two: "two" } });
    const began = performance.now();
    const part = whole.child("part", { kind: "client", began, links: [other, "nonsense"] });
    part.fail("42P01");
    part.end();
    whole.set({ one: undefined, two: 2.5, three: true });
    whole.end();
    whole.set({ two: "late" });
    whole.fail("late");
    whole.end();
    await tracing.stop(5_000);
    const [inner, outer] = received.flatMap(spansIn) as [WireSpan, WireSpan];
    expect(whole.traceparent).toBe(`00-${outer.traceId}-${outer.spanId}-01`);
    expect(part.traceparent).toBe(`00-${outer.traceId}-${inner.spanId}-01`);
    expect(outer).toMatchObject({ name: "whole", kind: 1, status: { code: 0 }, links: [] });
    expect(outer.parentSpanId).toBeUndefined();
    expect(outer.attributes).toEqual([
      { key: "one", value: { intValue: 1 } },
      { key: "two", value: { doubleValue: 2.5 } },
      { key: "three", value: { boolValue: true } },
    ]);
    expect(inner).toMatchObject({ name: "part", kind: 3, status: { code: 2 }, parentSpanId: outer.spanId });
    expect(inner.attributes).toEqual([{ key: "error.type", value: { stringValue: "42P01" } }]);
    const [, traceId, spanId] = other.split("-");
    expect(inner.links).toMatchObject([{ traceId, spanId }]);
    const times = [outer, inner, inner, outer].map((span, at) =>
      BigInt(at < 2 ? span.startTimeUnixNano : span.endTimeUnixNano),
    );
    expect(times).toEqual(times.toSorted((one, two) => (one < two ? -1 : 1)));
    expect(Number(times[0]! / 1_000_000n)).toBeGreaterThanOrEqual(before - 1);
    expect(Number(times[3]! / 1_000_000n)).toBeLessThanOrEqual(Date.now() + 1);
  });

  it("are sent again when the collector is busy, and not when it refuses them", async () => {
    const statuses = [503, 200];
    const { url, received } = await startCollector(() => statuses.shift() ?? 400);
    const tracing = await start(url);
    tracing.begin("one", {}).end();
    await vi.waitFor(() => expect(received).toHaveLength(2), 10_000);
    await delay(50);
    expect(tracing.dropped).toBe(0);
    tracing.begin("two", {}).end();
    await vi.waitFor(() => expect(tracing.dropped).toBe(1), 10_000);
    expect(received).toHaveLength(3);
    expect(lines).toEqual(["traces cannot be exported"]);
  });
});

describe("a collector that never answers", () => {
  it("keeps the next batch waiting for no longer than was said", async () => {
    const { url, received } = await startCollector(() => "never");
    const tracing = await start(url, {
      timeoutMs: 60_000,
      batch: { delayMs: 10, timeoutMs: 200, mostWaiting: 100, mostAtOnce: 1 },
    });
    tracing.begin("one", {}).end();
    await vi.waitFor(() => expect(received).toHaveLength(1), 10_000);
    tracing.begin("two", {}).end();
    await delay(50);
    expect(received).toHaveLength(1);
    await vi.waitFor(() => expect(received).toHaveLength(2), 10_000);
    expect(tracing.dropped).toBe(0);
    await tracing.stop(0);
    expect(tracing.dropped).toBe(2);
  });

  it("costs no more memory than the queue", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const { url } = await startCollector(() => "never");
    const tracing = await start(url);
    const many = (count: number): void => {
      for (let index = 0; index < count; index += 1) {
        const span = tracing.begin("an-operation", { kind: "server" });
        span.child("a-statement", { attributes: { "db.query.summary": "a-statement" } }).end();
        span.end();
      }
    };
    many(5_000);
    await delay(50);
    collect();
    const before = process.memoryUsage().heapUsed;
    many(50_000);
    await delay(50);
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1024 * 1024);
    expect(tracing.dropped).toBeGreaterThan(100_000);
  });

  it("is waited for no longer than was said", async () => {
    const { url, received } = await startCollector(() => "never");
    const tracing = await start(url);
    for (let index = 0; index < 1500; index += 1) tracing.begin("one", {}).end();
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(0), 10_000);
    const began = performance.now();
    await tracing.stop(300);
    expect(performance.now() - began).toBeGreaterThanOrEqual(295);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe("a collector that is not there", () => {
  it("is not waited for at the end", async () => {
    const { url } = await startCollector();
    await open.pop()?.();
    const tracing = await start(url);
    tracing.begin("one", {}).end();
    const began = performance.now();
    await tracing.stop(30_000);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(tracing.dropped).toBe(1);
  });
});
