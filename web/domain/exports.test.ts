import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { csvHead, csvRows } from "./csv.ts";
import { type Batches, exportList } from "./exports.ts";

/** Gives items a few at a time, and counts how many times it was asked. */
function listOf(items: readonly unknown[], size: number) {
  const asked = { pages: 0 };
  async function* batches() {
    for (let at = 0; at === 0 || at < items.length; at += size) {
      asked.pages += 1;
      yield { items: items.slice(at, at + size), total: items.length };
    }
  }
  return { asked, batches: (): Batches => batches() };
}

const lists = fc.array(fc.dictionary(fc.constantFrom("a", "b"), fc.jsonValue({ maxDepth: 2 })), {
  maxLength: 30,
});

describe("an exported list", () => {
  it("has all items up to the limit, in both forms, however they come", async () => {
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 30 }),
        async (items, size, most) => {
          const columns = ["a", "b"];
          const kept = items.slice(0, most);
          const told: number[] = [];
          const json = await exportList(
            listOf(items, size).batches(),
            { form: "json", columns, most },
            (rows) => told.push(rows),
          );
          expect(JSON.parse(json.pieces.join(""))).toEqual(JSON.parse(JSON.stringify(kept)));
          expect(json).toMatchObject({ rows: kept.length, isCut: items.length > most });
          expect(told.at(-1)).toBe(kept.length);
          const csv = await exportList(
            listOf(items, size).batches(),
            { form: "csv", columns, most },
            () => {},
          );
          expect(csv.pieces.join("")).toBe(csvHead(columns) + csvRows(columns, kept));
        },
      ),
      { numRuns: 50 },
    );
  });

  it("asks for no more than it takes", async () => {
    const items = Array.from({ length: 100 }, (_, index) => ({ a: index }));
    const { asked, batches } = listOf(items, 10);
    const { isCut } = await exportList(batches(), { form: "csv", columns: ["a"], most: 20 }, () => {});
    expect({ isCut, ...asked }).toEqual({ isCut: true, pages: 2 });
  });
});
