import { describe, expect, it } from "vitest";

import { collect } from "../../test/support/collect.ts";
import { inBatches, pagesInBatches } from "./batches.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe("inBatches", () => {
  it.each([0, 1, 2, 3, 4, 7])("reads all of %i rows, each once", async (count) => {
    const asked: (number | undefined)[] = [];
    const read = async (after: number | undefined): Promise<number[]> => {
      asked.push(after);
      const from = after === undefined ? 0 : after + 1;
      return numbers(count).slice(from, from + 3);
    };
    const batches = await inBatches(3, read);
    expect(asked).toEqual([undefined]);
    expect((await collect(batches)).flat()).toEqual(numbers(count));
    expect(asked).toEqual([undefined, ...numbers(Math.floor(count / 3)).map((at) => at * 3 + 2)]);
  });

  it("fails before it answers when the first rows cannot be read", async () => {
    await expect(inBatches(3, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});

describe("pagesInBatches", () => {
  it("reads page by page until one is not full", async () => {
    const pages: unknown[] = [];
    const batches = await pagesInBatches(2, async (page) => {
      pages.push(page);
      return numbers(5).slice((page.page - 1) * 2, page.page * 2);
    });
    expect((await collect(batches)).flat()).toEqual(numbers(5));
    expect(pages).toEqual([1, 2, 3].map((page) => ({ page, per_page: 2 })));
  });
});
