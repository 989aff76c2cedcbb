import { expect, it } from "vitest";

import { TextCache } from "./text-cache.ts";

it("drops those that were not used for longest when all together are too long", () => {
  const cache = new TextCache<number>(10);
  for (const [value, key] of ["a", "b", "c"].entries()) cache.set(key, value, 4);
  expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([undefined, 1, 2]);
  expect(cache.get("b")).toBe(1);
  cache.set("d", 3, 4);
  expect(["b", "c", "d"].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
  expect(cache.length).toBe(8);
});

it("counts what is set again, or deleted, once", () => {
  const cache = new TextCache<number>(10);
  cache.set("a", 1, 3);
  cache.set("a", 2, 5);
  expect([cache.get("a"), cache.length]).toEqual([2, 5]);
  cache.delete("a");
  cache.delete("a");
  expect([cache.get("a"), cache.length]).toEqual([undefined, 0]);
});

it("keeps nothing that is too long by itself", () => {
  const cache = new TextCache<number>(10);
  cache.set("a", 1, 11);
  expect([cache.get("a"), cache.length]).toEqual([undefined, 0]);
});
