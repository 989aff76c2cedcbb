import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isNarrowed, trailQuery, trailSearch, trailTitle } from "./trail-search.ts";

describe("the search for trails", () => {
  it("asks for nothing that its address does not say", () => {
    expect(trailQuery({}, 1_000_000)).toEqual({ include: ["matrix"], page: 1, per_page: 50 });
    expect(trailQuery(trailSearch({ before: "not a time" }), 1_000_000)).not.toHaveProperty(
      "end_ts",
      Number.NaN,
    );
    expect(trailQuery(trailSearch({ before: "12.5" }), 1_000_000).end_ts).toBe(12.5);
  });

  it("asks the same within a minute", () => {
    expect(trailQuery({ since: "7d" }, 1_000_001)).toEqual(trailQuery({ since: "7d" }, 1_000_010));
    expect(trailQuery({ since: "24h" }, 1_000_000).start_ts).toBeLessThanOrEqual(1_000_000 - 86_400 + 60);
  });

  it("counts pages as no filter", () => {
    expect(isNarrowed({ page: 3 })).toBe(false);
    expect(isNarrowed({ state: "COMPLIANT" })).toBe(true);
  });
});

describe("titles of trails", () => {
  it("shorten commits alone", () => {
    expect(trailTitle("9e2db203068b72607c5c40e2bbf52d821dfce7de")).toBe("9e2db20");
    fc.assert(
      fc.property(
        fc.string().filter((name) => !/^[\da-f]+$/.test(name)),
        (name) => {
          expect(trailTitle(name)).toBe(name);
        },
      ),
    );
  });
});
