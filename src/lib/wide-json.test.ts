import fc from "fast-check";
import { expect, it } from "vitest";

import { ExactJson, writeJson } from "./exact-json.ts";
import { finish } from "./steps.ts";
import { exactList, isWide, widePieces, wideText } from "./wide-json.ts";

const long = (item: unknown): unknown[] => Array.from({ length: 201 }, () => item);

it("tells long lists, not too deep", () => {
  expect([[], {}, null, "x".repeat(999), long(1).slice(1), { a: { b: { c: long(1) } } }].map(isWide)).toEqual(
    Array.from({ length: 6 }, () => false),
  );
  expect([long(1), { a: 1, b: long(1) }, { a: { b: long({}) } }].map(isWide)).toEqual([true, true, true]);
});

it("tells large objects as it tells long lists", () => {
  const large = (count: number) =>
    Object.fromEntries(
      long(1)
        .slice(-count)
        .map((item, at) => [`m${at}`, item]),
    );
  expect([large(200), large(201), { a: { b: large(201) } }].map(isWide)).toEqual([false, true, true]);
  const pieces = [...widePieces({ a: large(201) })];
  expect(pieces.join("")).toBe(JSON.stringify({ a: large(201) }));
  expect(pieces.length).toBeGreaterThan(400);
});

it("tells much text, however few items have it, and writes these one by one", () => {
  const page = (characters: number) => ({
    items: Array.from({ length: 100 }, () => ({ links: { a: "x".repeat(characters) } })),
  });
  expect([page(2_500), page(2_700), "x".repeat(999_999)].map(isWide)).toEqual([false, true, false]);
  const pieces = [...widePieces(page(20_000))];
  expect(pieces.join("")).toBe(JSON.stringify(page(20_000)));
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(21_000);
});

it("keeps exact JSON as it was written, also in lists, with pauses", () => {
  const exact = ExactJson.ofText("1.0");
  const value = { list: long(exact), exact };
  expect([...widePieces(value, writeJson)].join("")).toBe(writeJson(value));
  const items = [value, exact, undefined, long("x".repeat(1_000))];
  expect(finish(exactList(items))).toBe(writeJson(items));
  expect([...exactList(items)].length).toBe(3);
  expect(finish(exactList([]))).toBe("[]");
});

it("writes what JSON.stringify writes, in many pieces", () => {
  const value = { a: long({ b: 1 }), c: undefined, d: { e: long(undefined), f: () => 1 }, g: new Date(0) };
  const pieces = [...widePieces(value)];
  expect(pieces.join("")).toBe(JSON.stringify(value));
  expect(pieces.length).toBeGreaterThan(400);
});

it("writes a wide value with pauses", () => {
  const value = { list: long("x".repeat(1_000)), g: undefined };
  expect(finish(wideText(value))).toBe(JSON.stringify(value));
  expect([...wideText(value)].length).toBe(3);
  expect([...wideText({ text: "x" })].length).toBe(0);
});

it("writes any value as JSON.stringify does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (item, other) => {
      const value = { item, "": { list: long(other) }, list: long(item) };
      expect([...widePieces(value)].join("")).toBe(JSON.stringify(value));
    }),
    { numRuns: 50 },
  );
});
