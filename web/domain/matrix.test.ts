import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { layOutMatrix, type MatrixTrailLike, mergeOrders, moveInMatrix, progressOf } from "./matrix.ts";

const names = ["lint", "review", "scan", "tests"];
const status = fc
  .record({ is_compliant: fc.constantFrom(true, false, undefined), unexpected: fc.boolean() })
  .map(({ is_compliant, unexpected }) => ({
    ...(is_compliant === undefined
      ? { status: "MISSING" as const }
      : { status: "COMPLETE" as const, is_compliant, attestation_id: "a" }),
    ...(unexpected ? { unexpected: true as const } : {}),
  }));
const statuses = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...names), status), { selector: ([name]) => name })
  .map((all) => all.map(([attestation_name, rest]) => ({ attestation_name, ...rest })));
const artifact = fc.record({
  status: fc.constantFrom("COMPLIANT", "NON-COMPLIANT", "MISSING"),
  attestations_statuses: statuses,
});
const trail: fc.Arbitrary<MatrixTrailLike> = fc
  .tuple(statuses, fc.dictionary(fc.constantFrom("api", "worker", "site"), artifact))
  .map(([attestations_statuses, artifacts_statuses]) => ({
    compliance_status: { attestations_statuses, artifacts_statuses },
  }));
const trails = fc.array(trail, { maxLength: 8 });

const count = ({ compliance_status }: MatrixTrailLike): number =>
  compliance_status.attestations_statuses.length +
  Object.values(compliance_status.artifacts_statuses).reduce(
    (sum, one) => sum + 1 + one.attestations_statuses.length,
    0,
  );

describe("the trail matrix", () => {
  it("has one cell for all that a trail tells, and no column twice", () => {
    fc.assert(
      fc.property(trails, (all) => {
        const { columns, rows } = layOutMatrix(all);
        expect(new Set(columns.map(({ key }) => key)).size).toBe(columns.length);
        expect(rows.map((cells) => cells.filter((cell) => cell !== undefined).length)).toEqual(
          all.map(count),
        );
      }),
    );
  });

  it("counts in its columns what stands in their cells", () => {
    fc.assert(
      fc.property(trails, (all) => {
        const { columns, rows } = layOutMatrix(all);
        for (const [at, { met, failed, missing, isAsked }] of columns.entries()) {
          const cells = rows.flatMap((row) => row[at] ?? []);
          expect(met + failed + missing).toBe(cells.length);
          expect(met).toBe(cells.filter(({ outcome }) => outcome === "met").length);
          expect(isAsked).toBe(cells.some(({ isUnasked }) => !isUnasked));
        }
      }),
    );
  });

  it("puts what is asked for first, and groups what is about the same", () => {
    fc.assert(
      fc.property(trails, (all) => {
        const { columns, groups } = layOutMatrix(all);
        const firstUnasked = columns.findIndex(({ isAsked }) => !isAsked);
        if (firstUnasked !== -1)
          expect(columns.slice(firstUnasked).every(({ isAsked }) => !isAsked)).toBe(true);
        expect(groups.reduce((sum, group) => sum + group.columns, 0)).toBe(columns.length);
        const places = groups.map(({ artifact: place, isAsked }) => `${place} ${isAsked}`);
        expect(new Set(places).size).toBe(places.length);
      }),
    );
  });

  it("keeps the order of the template that all trails have", () => {
    const order = ["tests", "scan", "lint"].map((attestation_name) => ({
      attestation_name,
      status: "MISSING" as const,
    }));
    const one = { compliance_status: { attestations_statuses: order, artifacts_statuses: {} } };
    expect(layOutMatrix([one, one]).columns.map(({ attestation }) => attestation)).toEqual([
      "tests",
      "scan",
      "lint",
    ]);
    expect(progressOf(one)).toEqual({ met: 0, asked: 3, failed: 0 });
  });
});

describe("merged orders", () => {
  it("have everything once, and the first order as it is", () => {
    const order = fc.uniqueArray(fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(fc.array(order), (orders) => {
        const merged = mergeOrders(orders);
        expect(new Set(merged)).toEqual(new Set(orders.flat()));
        expect(merged.length).toBe(new Set(merged).size);
        const first = orders[0] ?? [];
        expect(merged.filter((item) => first.includes(item))).toEqual(first);
      }),
    );
  });

  it("put what a later template adds where that has it", () => {
    expect(
      mergeOrders([
        ["a", "c"],
        ["a", "b", "c"],
      ]),
    ).toEqual(["a", "b", "c"]);
  });
});

describe("moving in the matrix", () => {
  it("never leaves it", () => {
    const key = fc.constantFrom("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageDown");
    fc.assert(
      fc.property(fc.array(key), fc.integer({ min: 1, max: 5 }), fc.nat(5), (keys, rows, columns) => {
        let place = { row: 0, column: -1 };
        for (const one of keys) place = moveInMatrix(place, one, { rows, columns }) ?? place;
        expect(place.row).toBeGreaterThanOrEqual(0);
        expect(place.row).toBeLessThan(rows);
        expect(place.column).toBeGreaterThanOrEqual(-1);
        expect(place.column).toBeLessThan(Math.max(columns, 1));
      }),
    );
    expect(moveInMatrix({ row: 0, column: 0 }, "x", { rows: 1, columns: 1 })).toBeUndefined();
  });
});
