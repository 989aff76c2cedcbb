import fc from "fast-check";
import { expect, it } from "vitest";

import { createIdSource } from "../lib/ids.ts";
import {
  addMonths,
  beginningOf,
  boundOf,
  monthOf,
  monthOfPartition,
  monthsBetween,
  monthsFrom,
  parseMonth,
  partitionedTables,
  partitionOf,
  writeMonth,
} from "./partitions.ts";

const month = fc.record({
  year: fc.integer({ min: 1970, max: 9000 }),
  month: fc.integer({ min: 1, max: 12 }),
});

it("takes ids for those of the month in which they were made", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (milliseconds) => {
      const id = createIdSource(() => milliseconds).next();
      const made = monthOf(milliseconds / 1000);
      expect(id >= boundOf("attestations", made)).toBe(true);
      expect(id < boundOf("attestations", addMonths(made, 1))).toBe(true);
    }),
  );
});

it("begins each month where the one before ends", () => {
  fc.assert(
    fc.property(month, (one) => {
      const begins = beginningOf(one);
      expect(monthOf(begins)).toEqual(one);
      expect(monthOf(begins - 1)).toEqual(addMonths(one, -1));
    }),
  );
});

it("counts and lists months alike", () => {
  fc.assert(
    fc.property(month, fc.integer({ min: -500, max: 500 }), (from, count) => {
      const to = addMonths(from, count);
      expect(monthsBetween(from, to)).toBe(count);
      expect(monthsFrom(from, to)).toHaveLength(Math.max(0, count + 1));
    }),
  );
});

it("reads the names it writes, and no others", () => {
  fc.assert(
    fc.property(month, fc.constantFrom(...partitionedTables), (one, table) => {
      expect(parseMonth(writeMonth(one))).toEqual(one);
      expect(monthOfPartition(table, partitionOf(table, one))).toEqual(one);
    }),
  );
  expect(parseMonth("2026-13")).toBeUndefined();
  expect(parseMonth("2026-3")).toBeUndefined();
  expect(monthOfPartition("attestations", "attestations_default")).toBeUndefined();
});
