import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { flag, oneOf, parseSearch, positive, reads, stringifySearch, text, texts } from "./search-params.ts";

const read = reads({ q: text, tag: texts, page: positive, stale: flag, sort: oneOf("name", "state") });

describe("what an address says", () => {
  it("is read by name, and dropped where it makes no sense", () => {
    expect(read(parseSearch("?q=12&tag=a&tag=b&page=3&stale=true&sort=state"))).toEqual({
      q: "12",
      tag: ["a", "b"],
      page: 3,
      stale: true,
      sort: "state",
    });
    expect(read(parseSearch("?q=&page=-1&stale=no&sort=size&other=1"))).toEqual({});
  });

  it("does not count beside what is read of it, where it makes no sense", () => {
    const said = parseSearch("?q=&page=-1&stale=no&sort=size");
    expect({ ...said, ...read(said) }).toEqual({});
  });

  it("comes back as it was written", () => {
    const search = fc.record(
      {
        q: fc.string({ minLength: 1 }),
        tag: fc.array(fc.string({ minLength: 1 }), { minLength: 1 }),
        page: fc.integer({ min: 1 }),
        stale: fc.constant(true as const),
        sort: fc.constantFrom("name", "state"),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(search, (given) => {
        expect(read(parseSearch(stringifySearch(given)))).toEqual(given);
      }),
    );
  });
});
