import { expect, it } from "vitest";

import { finish } from "./steps.ts";
import { readLines } from "./json-lines.ts";

const written = (values: readonly unknown[]): string =>
  values.map((value) => JSON.stringify(value)).join(",\n");

it.each([0, 1, 2, 5_000])("reads %i values as they were written, whatever is in them", (count) => {
  const values = Array.from({ length: count }, (_, at) => ({
    at,
    text: `",\n" 😀 ${"x".repeat(at % 100)}`,
    list: [",\n", null, 1.5],
  }));
  expect(finish(readLines(written(values)))).toEqual(values);
});

it("stops for every piece of many, but for one that is long by itself", () => {
  const stops = (values: readonly unknown[]): number => {
    const steps = readLines(written(values));
    for (let count = 0; ; count += 1) if (steps.next().done === true) return count;
  };
  const line = "x".repeat(1_000);
  expect(stops([line])).toBe(0);
  expect(stops(Array.from({ length: 1_000 }, () => line))).toBeGreaterThan(10);
  expect(stops([line.repeat(1_000)])).toBe(1);
});
