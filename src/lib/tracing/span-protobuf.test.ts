import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import type { SpanRecord, SpanReference } from "./span.ts";
import { librarySpans } from "./span-json.ts";
import { SpansAsProtobuf } from "./span-protobuf.ts";
import type { SpanKind } from "./tracing.ts";

const id = (bytes: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => Buffer.from(all).toString("hex"));

/** Texts of all sorts: of plain letters and not, halves of letters too, and of lengths that take one, two and three bytes to say. */
const texts = fc.oneof(
  fc.stringMatching(/^[a-z.-]{0,20}$/),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 100 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .tuple(
      fc.constantFrom("a", "é", "€", "\u{1f4e6}"),
      fc.constantFrom(41, 42, 43, 63, 64, 127, 128, 5462, 16_383, 16_384),
    )
    .map(([letter, times]) => letter.repeat(times)),
);
const edges = [0x7f, 0x80, 0x3fff, 0x4000, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64].flatMap(
  (edge) => [edge, -edge],
);
const values = fc.oneof(
  texts,
  fc.boolean(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double(),
  fc.constantFrom(...edges, -0),
  fc.constant(undefined),
);
const attributes = fc.dictionary(texts, values, { maxKeys: 6 });
const links: fc.Arbitrary<SpanReference[]> = fc.array(
  fc.record({ traceId: id(16), spanId: id(8), traceFlags: fc.integer({ min: 0, max: 255 }) }),
  { maxLength: 20 },
);
/** To the end of the century after next. */
const times = fc.oneof(
  fc.double({ min: 0, max: 7e12, noNaN: true }),
  fc.integer({ min: 0, max: 7e12 }),
  fc.constantFrom(0, 0.000_001, 2 ** 32, 1_764_000_000_000.999_9, 65_535_999.5, 65_536_000),
);
const kinds = fc.constantFrom<SpanKind[]>("internal", "server", "client", "producer", "consumer");
const parents = fc.oneof(
  fc.constant({ parentId: undefined, isParentRemote: false }),
  fc.record({ parentId: id(8), isParentRemote: fc.boolean() }),
);
const others = fc.record({
  traceId: id(16),
  spanId: id(8),
  name: texts,
  kind: kinds,
  startMs: times,
  endMs: times,
  attributes,
  links,
  hasFailed: fc.boolean(),
});
const spans: fc.Arbitrary<SpanRecord> = fc
  .tuple(others, parents)
  .map(([other, parent]) => ({ ...other, ...parent }));

describe("spans in Protobuf", () => {
  it("are byte for byte what OpenTelemetry's library writes, batch after batch", () => {
    fc.assert(
      fc.property(
        fc.record({ resource: attributes, scope: fc.stringMatching(/^[a-z]{1,200}$/) }),
        fc.array(fc.array(spans, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 }),
        (process, batches) => {
          const ours = new SpansAsProtobuf(process);
          for (const batch of batches) {
            for (const span of batch) ours.add(span);
            expect(ours.count).toBe(batch.length);
            const theirs = ProtobufTraceSerializer.serializeRequest(librarySpans(batch, process));
            expect(ours.take().equals(theirs!)).toBe(true);
            expect(ours.count).toBe(0);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it("are that, too, where the buffer has to grow many times", () => {
    const process = { resource: { "service.name": "waybill" }, scope: "waybill" };
    const batch = fc.sample(spans, { numRuns: 400, seed: 1 });
    const ours = new SpansAsProtobuf(process);
    for (const span of batch) ours.add(span);
    const taken = ours.take();
    expect(taken.length).toBeGreaterThan(512 * 1024);
    expect(taken.equals(ProtobufTraceSerializer.serializeRequest(librarySpans(batch, process))!)).toBe(true);
  });
});
