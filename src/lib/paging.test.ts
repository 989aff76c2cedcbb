import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { pageSlice } from "./paging.ts";

describe("pageSlice", () => {
  it("takes the rows after those on the pages before", () => {
    expect(pageSlice({ page: 1, per_page: 15 })).toEqual({ limit: 15, offset: 0 });
    expect(pageSlice({ page: 3, per_page: 20 })).toEqual({ limit: 20, offset: 40 });
  });

  it("has every row on one page, in order", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.integer({ min: 1, max: 7 }), (count, per_page) => {
        const rows = Array.from({ length: count }, (_, at) => at);
        const pages = Array.from({ length: Math.ceil(count / per_page) }, (_, at) => {
          const { limit, offset } = pageSlice({ page: at + 1, per_page });
          return rows.slice(offset, offset + limit);
        });
        expect(pages.flat()).toEqual(rows);
      }),
    );
  });

  it("takes nothing but the numbers of the page", () => {
    const query = { page: 2, per_page: 5, search: "web" };
    expect(pageSlice(query)).toEqual({ limit: 5, offset: 5 });
  });

  it("has no rows on pages of none", () => {
    expect(pageSlice({ page: 4, per_page: 0 })).toEqual({ limit: 0, offset: 0 });
  });
});
