import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  changeOf,
  countRows,
  filterRows,
  partExited,
  provenances,
  rowChangeNames,
  rowSorts,
  sortRows,
  verdictOfRow,
} from "./snapshot-rows.ts";

const rows = fc.array(
  fc.record({
    name: fc.string({ maxLength: 6 }),
    fingerprint: fc.string({ unit: fc.constantFrom("a", "b", "0"), maxLength: 6 }),
    compliant: fc.constantFrom(true, false, null),
    allow_listed: fc.boolean(),
    flow_name: fc.constantFrom("web-ci", null),
    git_commit: fc.constantFrom("abc123", null),
    started_at: fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
    instances: fc.nat(3),
    annotation: fc.record({
      type: fc.constantFrom("unchanged", "exited", "started-compliant", "changed", "became-compliant"),
      was: fc.nat(3),
      now: fc.nat(3),
    }),
  }),
);
const directions = fc.constantFrom("asc" as const, "desc" as const);

describe("rows of a snapshot", () => {
  it("are sorted without losing any, by what was asked for", () => {
    fc.assert(
      fc.property(rows, fc.constantFrom(...rowSorts), directions, (all, sort, direction) => {
        const sorted = sortRows(all, sort, direction);
        expect(new Set(sorted)).toEqual(new Set(all));
        expect(sorted).toHaveLength(all.length);
        expect(sortRows(sorted, sort, direction)).toEqual(sorted);
      }),
    );
    const counts = [1, 3, 2].map((instances) => ({
      name: "x",
      fingerprint: "",
      compliant: true,
      allow_listed: false,
      flow_name: null,
      git_commit: null,
      started_at: 4 - instances,
      instances,
      annotation: { type: "unchanged", was: 1, now: 1 },
    }));
    expect(sortRows(counts, "instances", "desc").map((row) => row.instances)).toEqual([3, 2, 1]);
    expect(sortRows(counts, "since", "desc").map((row) => row.instances)).toEqual([1, 2, 3]);
  });

  it("are filtered by text, and by each kind as many as are counted of it", () => {
    fc.assert(
      fc.property(rows, (all) => {
        expect(filterRows(all, {})).toEqual(all);
        const counts = countRows(all);
        for (const [verdict, count] of Object.entries(counts.verdict))
          expect(all.filter((row) => verdictOfRow(row) === verdict)).toHaveLength(count);
        for (const provenance of provenances)
          expect(filterRows(all, { provenance })).toHaveLength(counts.provenance[provenance]);
        for (const change of rowChangeNames)
          expect(filterRows(all, { change })).toHaveLength(counts.change[change]);
        for (const row of filterRows(all, { text: " WEB-ci abc ", verdict: "unknown", provenance: "known" }))
          expect([row.flow_name, row.git_commit, row.compliant]).toEqual(["web-ci", "abc123", null]);
        const { running, exited } = partExited(all);
        expect(running.length + exited.length).toBe(all.length);
      }),
    );
  });

  it("say what changed", () => {
    const words = ["unchanged", "started-unknown", "changed", "became-compliant", "else"].map((type) =>
      changeOf({ type, was: 1, now: 3 }),
    );
    expect(words).toEqual([undefined, "started", "1 → 3 instances", "became compliant", "else"]);
  });
});
