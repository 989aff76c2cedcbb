import { describe, expect, it } from "vitest";

import { judgePlan, outlineOf, type PlanStep, type StatementPlan, wholeReads } from "./plans.ts";

const tables = new Map([
  ["trails", 20_000],
  ["builds", 9_999],
]);

/** A step that read this many rows of a table, once. */
function scan(more: Partial<PlanStep>): PlanStep {
  return {
    "Node Type": "Seq Scan",
    "Relation Name": "trails",
    "Actual Rows": 20_000,
    "Actual Loops": 1,
    ...more,
  };
}

const below = (...Plans: PlanStep[]): PlanStep => ({ "Node Type": "Limit", Plans });

describe("wholeReads", () => {
  it.each<[string, PlanStep, string[]]>([
    ["a growing table from end to end", below(scan({})), ["trails"]],
    [
      "one whose rows were passed over",
      scan({ "Actual Rows": 1, "Rows Removed by Filter": 19_999 }),
      ["trails"],
    ],
    ["one in many turns", scan({ "Actual Rows": 100, "Actual Loops": 100 }), ["trails"]],
    ["an index of it without a condition", scan({ "Node Type": "Index Only Scan" }), ["trails"]],
    ["it twice", below(scan({}), scan({})), ["trails"]],
    ["some of it, up to a limit", below(scan({ "Actual Rows": 9_999 })), []],
    [
      "what a condition on an index bounds",
      scan({ "Node Type": "Index Scan", "Index Cond": "(id = $1)" }),
      [],
    ],
    ["a table of few rows", scan({ "Relation Name": "builds", "Actual Rows": 9_999 }), []],
    ["a table that does not grow", scan({ "Relation Name": "users" }), []],
    ["what was never begun", scan({ "Actual Loops": 0 }), []],
  ])("of a plan that reads %s", (_, plan, found) => {
    expect(wholeReads(plan, tables)).toEqual(found);
  });
});

describe("outlineOf", () => {
  it("has steps, names and figures, and no conditions", () => {
    const plan = { ...below(scan({ "Index Name": "trails_key" })), Filter: "(name = 'secret')" } as PlanStep;
    expect(outlineOf({ ...plan, "Actual Total Time": 2 })).toEqual({
      step: "Limit",
      rows: 0,
      loops: 0,
      ms: 2,
      steps: [
        { step: "Seq Scan", table: "trails", index: "trails_key", rows: 20_000, loops: 1, ms: 0, steps: [] },
      ],
    });
  });
});

describe("judgePlan", () => {
  const plan: StatementPlan = {
    name: "find-trail",
    planning_ms: 1,
    ms: 1.26,
    rows: 1,
    whole: [],
    outline: outlineOf(below()),
    history: undefined,
  };

  it("is content with what reads little", () => {
    expect(judgePlan(plan)).toEqual({ status: "ok", detail: "1.3 ms, 1 row", remedy: null });
    expect(judgePlan({ ...plan, ms: 12.6, rows: 20 }).detail).toBe("13 ms, 20 rows");
    expect(judgePlan({ ...plan, history: { calls: 12_345, mean_ms: 0.31 } }).detail).toBe(
      "1.3 ms, 1 row; run 12,345 times before, 0.3 ms on average",
    );
    expect(judgePlan({ ...plan, history: { calls: 1, mean_ms: 20.2 } }).detail).toBe(
      "1.3 ms, 1 row; run once before, 20 ms on average",
    );
  });

  it("warns of what reads all of a table, and of what could not be run", () => {
    expect(judgePlan({ ...plan, whole: ["trails"] })).toMatchObject({
      status: "warning",
      detail: "1.3 ms, 1 row, reads all of trails",
    });
    expect(judgePlan("stopped after 3 s")).toMatchObject({ status: "warning", detail: "stopped after 3 s" });
  });
});
