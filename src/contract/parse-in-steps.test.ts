import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { exactPlaces } from "./exact.ts";
import { endpoints } from "./index.ts";
import { inputErrors } from "./input-errors.ts";
import { distinctList, listOf, mapOf } from "./lists.ts";
import { parseInSteps } from "./parse-in-steps.ts";
import { safeParse } from "./safe-parse.ts";
import { ServerReport } from "./snapshot-reports.ts";
import { JsonError, readText } from "../lib/json.ts";
import { finish } from "../lib/steps.ts";

const fingerprint = "ab".repeat(32);

/** What callers get to see: the value, or what is wrong in the order in which it is told. */
function shown(parsed: z.ZodSafeParseResult<unknown>): unknown {
  return parsed.success ? { data: parsed.data } : Object.entries(inputErrors("", parsed.error));
}

function inSteps(schema: z.ZodType, value: unknown): unknown {
  return shown(finish(parseInSteps(schema, value)));
}

function atOnce(schema: z.ZodType, value: unknown): unknown {
  return shown(safeParse(schema, value));
}

/** A report of as many artifacts, of which some have a wrong time. */
function report(count: number, wrong: readonly number[] = []): Record<string, unknown> {
  const artifacts = Array.from({ length: count }, (_, at) => ({
    digests: { [`a${at}`]: fingerprint },
    creationTimestamp: wrong.includes(at) ? "soon" : at,
  }));
  return { artifacts };
}

const many = (count: number) => Array.from({ length: count }, (_, at) => at);

describe("a body that is validated in steps", () => {
  it.each([
    ["nothing", report(0)],
    ["one", report(1)],
    ["a few", report(20)],
    ["more", report(21)],
    ["many", report(1001)],
    ["a wrong item", report(400, [0, 19, 20, 399])],
    ["wrong items in a long list", report(1500, [0, 19, 20, 1499])],
    ["nothing but wrong items", report(2000, many(2000))],
    ["what is beside it", { ...report(400, [30]), extra: 1 }],
    ["no list", { artifacts: "none" }],
    ["no object", null],
    ["too long a list", report(20_001)],
    ["no map", { artifacts: [{ digests: [fingerprint], creationTimestamp: 1 }] }],
    [
      "wrong values in a large map",
      {
        artifacts: [
          { digests: Object.fromEntries(many(1500).map((at) => [`a${at}`, at % 9 ? fingerprint : "b"])) },
        ],
      },
    ],
    [
      "a large map",
      {
        artifacts: [
          {
            digests: Object.fromEntries(many(1500).map((at) => [`a${at}`, fingerprint])),
            creationTimestamp: 1,
          },
        ],
      },
    ],
    ["lengths that cannot be compared", { artifacts: [{ digests: { length: { toString: 1 } } }] }],
    [
      "a list of those",
      {
        artifacts: many(30).map(() => ({ digests: { a: { length: { valueOf: {}, toString: 1 } } } })),
      },
    ],
  ])("comes to the same as at once: %s", (_what, value) => {
    expect(inSteps(ServerReport, value)).toEqual(atOnce(ServerReport, value));
  });

  it("is refused without more than anybody is told of", () => {
    const schema = z.object({ lists: listOf(listOf(z.string())) });
    const value = { lists: many(500).map(() => many(500)) };
    expect(inSteps(schema, value)).toEqual(atOnce(schema, value));
    const { error } = finish(parseInSteps(schema, value));
    expect(error!.issues.length).toBeLessThan(1000);
  });

  const item = z.strictObject({
    name: z.string().max(3),
    number: z.int().default(7),
    more: listOf(z.union([z.string(), z.strictObject({ a: z.boolean() })])).nullish(),
    map: mapOf(z.string().max(4), z.string()).nullish(),
  });
  const schema = z.strictObject({
    list: listOf(item, { min: 1, max: 1200 }),
    either: z.union([z.string(), listOf(z.int(), { max: 30 })]).nullish(),
    names: distinctList(z.string(), { max: 5 }).nullish(),
  });
  const odd = fc.oneof(fc.constantFrom(null, "", "text", 1, 1.5, true, {}, []), fc.jsonValue());
  const mostly = (right: fc.Arbitrary<unknown>) =>
    fc.oneof({ arbitrary: right, weight: 30 }, { arbitrary: odd, weight: 1 });
  const long = (one: fc.Arbitrary<unknown>) =>
    fc
      .tuple(fc.array(one, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 4, 30, 250))
      .map(([some, times]) => many(times).flatMap(() => some));
  const items = fc.record(
    {
      name: mostly(fc.string({ maxLength: 3 })),
      number: mostly(fc.nat()),
      more: mostly(long(mostly(fc.oneof(fc.string(), fc.record({ a: fc.boolean() }))))),
      map: mostly(
        fc
          .tuple(fc.constantFrom(1, 1005), mostly(fc.string()))
          .map(([count, value]) =>
            Object.fromEntries(many(count).map((at) => [`k${at}`, at % 500 ? "v" : value])),
          ),
      ),
      extra: odd,
    },
    { requiredKeys: ["name"] },
  );
  const bodies = fc.record(
    {
      list: mostly(long(mostly(items))),
      either: mostly(fc.oneof(fc.string(), long(mostly(fc.nat())))),
      names: mostly(long(mostly(fc.string()))),
    },
    { requiredKeys: ["list"] },
  );

  it("comes to the same as at once, whatever it is", () => {
    fc.assert(
      fc.property(bodies, (body) => {
        expect(inSteps(schema, body)).toEqual(atOnce(schema, body));
      }),
      { numRuns: 100 },
    );
  });
});

describe("evidence that is kept as it was written", () => {
  const { schema } = endpoints.post_junit_attestation.body;
  const suite = '{"name":"a","failures":0,"errors":0,"skipped":0,"total":1e0,"duration":1.50}';
  const body = (suites: string): unknown =>
    finish(
      readText(`{"attestation_name":"a","junit_results":${suites}, "user_data":[1.0]}`, exactPlaces(schema)),
    );

  it.each([
    ["few", `[${suite}]`],
    ["many", `[${`${suite} ,`.repeat(1500)}${suite}]`],
    ["some wrong", `[${`{"a":1},${suite},`.repeat(40)}1.0]`],
    ["none", "1.0"],
  ])("comes to the same as at once: %s", (_what, suites) => {
    expect(inSteps(schema, body(suites))).toEqual(atOnce(schema, body(suites)));
  });

  it("stays as it was written", () => {
    const suites = `[${`${suite} ,`.repeat(1500)}${suite}]`;
    const { data } = finish(parseInSteps(schema, body(suites)));
    expect(data?.junit_results.text === suites).toBe(true);
  });

  it("is refused when it has too many values to look at", () => {
    const suites = `[${"0,".repeat(1_000_000)}0]`;
    expect(() => finish(parseInSteps(schema, body(suites)))).toThrow(JsonError);
  });
});
