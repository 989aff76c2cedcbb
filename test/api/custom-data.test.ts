import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { AppError } from "../../src/domain/errors.ts";
import { createSandbox } from "../../src/lib/sandbox/sandbox.ts";
import {
  findAttestationType,
  judgeCustomData,
  summarize,
} from "../../src/modules/process/attestation-types/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import { amount } from "../support/thorough.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;
const impatient = createSandbox({ timeLimit: 1_500, threads: 1 });

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(async () => {
  await impatient.close();
  await app.close();
});

/** A type as it comes back from the database, after the check of its definition. */
async function storedType(data: Record<string, unknown>, schema?: unknown) {
  const name = uniqueName("type");
  const answer = await org.member.request("POST", `/custom-attestation-types/${org.name}`, {
    parts: partsOf({ name, ...data }, schema),
  });
  expect(answer.status, answer.text).toBe(201);
  return (await findAttestationType(app.deps.db, org.id, name))!;
}

async function judge(rules: string[], data: unknown) {
  return judgeCustomData(app.deps, await storedType({ evaluator: jq(...rules) }), data);
}

describe("judging data", () => {
  it("needs every rule to yield true", async () => {
    const rules = [".line >= 80", ".branch >= 50", '.tool | startswith("j")'];
    const data = { line: 92, branch: 40, tool: "jest" };
    expect(await judge(rules, data)).toEqual({
      is_compliant: false,
      rule_results: [
        { rule: rules[0], passed: true },
        { rule: rules[1], passed: false, error: "yielded false" },
        { rule: rules[2], passed: true },
      ],
    });
    expect((await judge(rules, { ...data, branch: 50 })).is_compliant).toBe(true);
  });

  it.each<[string, string | undefined]>([
    ["true", undefined],
    ["true, true", undefined],
    [".list[] > 0", undefined],
    [". as $d | def f(x): x > 0; all($d.list[]; f(.))", undefined],
    ["true # a comment", undefined],
    ["true # a comment that goes on \\", undefined],
    ["# first\ntrue", undefined],
    ["label $out | true, break $out, false", undefined],
    ["try error catch true", undefined],
    ["true, false", "yielded false"],
    ["false, error", "yielded false"],
    ["null", "yielded null"],
    ["1", "yielded 1"],
    ['"true"', 'yielded "true"'],
    ["[true]", "yielded [true]"],
    ["{}", "yielded {}"],
    ["empty", "yielded nothing"],
    [".list[] | select(. > 9)", "yielded nothing"],
    [".none > 1", "yielded false"],
    [".list.x", 'Cannot index array with string "x"'],
    ['error("own words")', "own words"],
    ['error({"code": 7})', '{"code":7}'],
    ["error(null)", "null"],
    ["true, error", "{"],
    ["halt", "halt is not available"],
    ["true, halt", "halt is not available"],
    ["halt_error", "halt_error is not available"],
    ['"x" | halt_error(0)', "halt_error is not available"],
    ["input", "break"],
    ["$ENV == {} and env == {}", undefined],
    ["$ENV.PATH", "yielded null"],
  ])("by the rule %s", async (rule, error) => {
    const { is_compliant, rule_results } = await judge([rule, "true"], { list: [1, 2] });
    expect(is_compliant).toBe(error === undefined);
    expect(rule_results[1]).toEqual({ rule: "true", passed: true });
    if (error === undefined) expect(rule_results[0]).toEqual({ rule, passed: true });
    else expect(rule_results[0]!.error).toContain(error);
  });

  it("shows long values and errors shortened", async () => {
    const { rule_results } = await judge(['"x" * 100000', 'error("y" * 100000)'], {});
    expect(rule_results.map(({ error }) => error!.length)).toEqual([308, 300]);
  });

  it("reports nothing that cannot be stored", async () => {
    const { rule_results } = await judge(['error("a\\u0000b\\\\u0000")'], {});
    expect(rule_results.map(({ error }) => error)).toEqual(["a\ufffdb\\u0000"]);
  });

  it("judges any JSON value", async () => {
    for (const data of [null, true, 0, -1.5, "", "text", [], {}, [[]], { "": { é: "☃😀" } }])
      expect((await judge([`. == ${JSON.stringify(data)}`], data)).rule_results).toEqual([
        { rule: `. == ${JSON.stringify(data)}`, passed: true },
      ]);
  });

  it("passes values on to jq unchanged", async () => {
    const type = await storedType({
      evaluator: jq('.text == "a" or (.copy == .text and (.text | tojson | fromjson) == .copy)'),
    });
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        const judgement = await judgeCustomData(app.deps, type, { text: value, copy: value });
        expect(judgement.rule_results).toEqual([expect.objectContaining({ passed: true })]);
      }),
      { numRuns: amount(25, 60) },
    );
  });

  it("finds data that do not fit the schema at fault, and tries no rule", async () => {
    const schema = { type: "object", required: ["line"], properties: { line: { type: "number" } } };
    const type = await storedType({ evaluator: jq(".line >= 80") }, schema);
    expect(await judgeCustomData(app.deps, type, { line: "92" })).toEqual({
      is_compliant: false,
      schema_errors: [{ path: "/line", reason: "must be number" }],
      rule_results: [],
    });
    expect(await judgeCustomData(app.deps, type, { line: 92 })).toEqual({
      is_compliant: true,
      rule_results: [{ rule: ".line >= 80", passed: true }],
    });
    expect((await judgeCustomData(app.deps, type, { line: 2 })).is_compliant).toBe(false);
  });

  it("is content with the schema alone, or with nothing at all", async () => {
    const bySchema = await storedType({}, { type: "array" });
    expect(await judgeCustomData(app.deps, bySchema, [])).toEqual({ is_compliant: true, rule_results: [] });
    expect((await judgeCustomData(app.deps, bySchema, {})).is_compliant).toBe(false);
    const free = await storedType({});
    expect(await judgeCustomData(app.deps, free, {})).toEqual({ is_compliant: true, rule_results: [] });
    const noRules = await storedType({ evaluator: jq() });
    expect((await judgeCustomData(app.deps, noRules, {})).is_compliant).toBe(true);
  });

  it("refuses data that are too large", async () => {
    const type = await storedType({ evaluator: jq("true") });
    const judged = judgeCustomData(app.deps, type, "x".repeat(11 * 1024 * 1024));
    await expect(judged).rejects.toThrow(AppError);
  });

  it("keeps the server free while a rule never ends, and tells the rules apart", async () => {
    const type = await storedType({ evaluator: jq(".a", "def f: f; f", ".a") });
    let ended = false;
    const judged = judgeCustomData({ sandbox: impatient }, type, { a: true }).finally(() => {
      ended = true;
    });
    for (let time = 0; time < 5; time += 1)
      expect((await org.reader.get(`/custom-attestation-types/${org.name}`)).status).toBe(200);
    expect((await judge(["true"], {})).is_compliant).toBe(true);
    expect(ended).toBe(false);
    expect(await judged).toEqual({
      is_compliant: false,
      rule_results: [
        { rule: ".a", passed: true },
        { rule: "def f: f; f", passed: false, error: "took longer than 1.5 seconds" },
        { rule: ".a", passed: false, error: "was not reached" },
      ],
    });
  });

  it("does not comply with what needs too much memory", async () => {
    const rule = "[range(1e12)] | length";
    const { rule_results } = await judge([rule], {});
    expect(rule_results).toEqual([{ rule, passed: false, error: "needed too much memory" }]);
  });
});

describe("summarizing data", () => {
  const summary = [
    { name: "Lines", expression: ".line" },
    { name: "Report", expression: ".url" },
    { name: "Tags", expression: ".tags[]?" },
    { name: "Sum", expression: ".line + 1" },
  ];

  it("labels what each expression yields, in order", async () => {
    const type = await storedType({ summary });
    const data = { line: 92, url: "https://ci.test/7?a=b", tags: ["a", { b: 1 }] };
    expect(await summarize(app.deps, type, data)).toEqual({
      groups: [
        [
          { name: "Lines", value: 92 },
          { name: "Report", value: "https://ci.test/7?a=b" },
          { name: "Tags", value: ["a", { b: 1 }] },
          { name: "Sum", value: 93 },
        ],
      ],
    });
  });

  it("makes a group of each element of an array", async () => {
    const type = await storedType({ summary });
    const { groups } = await summarize(app.deps, type, [{ line: 1, tags: ["x"] }, { line: "a" }]);
    expect(groups).toEqual([
      [
        { name: "Lines", value: 1 },
        { name: "Report", value: null },
        { name: "Tags", value: "x" },
        { name: "Sum", value: 2 },
      ],
      [
        { name: "Lines", value: "a" },
        { name: "Report", value: null },
        { name: "Tags", value: null },
        { name: "Sum", value: null, error: 'string ("a") and number (1) cannot be added' },
      ],
    ]);
    expect(await summarize(app.deps, type, [])).toEqual({ groups: [] });
  });

  it("stops at five hundred groups and at long values, and says so", async () => {
    const type = await storedType({ summary: [{ name: "N", expression: "." }] });
    const many = await summarize(
      app.deps,
      type,
      Array.from({ length: 501 }, (_, index) => index),
    );
    expect(many.groups).toHaveLength(500);
    expect(many.incomplete).toBe("Only the first 500 elements are shown");
    const long = await summarize(app.deps, type, "x".repeat(10_000));
    expect(long.groups[0]![0]!.value).toBe(`${"x".repeat(4_000)}…`);
  });

  it("shows values that are too deep to be written down as text", async () => {
    const deep = (levels: number) => ({ name: "D", expression: `reduce range(${levels}) as $i (1; [.])` });
    for (const levels of [0, 10, 90, 240, 250, 253, 254, 255, 256, 257, 300, 5_000]) {
      const { groups } = await summarize(app.deps, await storedType({ summary: [deep(levels)] }), {});
      const { value, error } = groups[0]![0]!;
      expect(error).toBeUndefined();
      if (typeof value === "string") expect(value.startsWith("[".repeat(200))).toBe(true);
      else expect(JSON.stringify(value)).toBe(`${"[".repeat(levels)}1${"]".repeat(levels)}`);
    }
  });

  it("shows what it has when an expression never ends", async () => {
    const type = await storedType({
      summary: [{ name: "A", expression: "if . == 2 then repeat(empty) else . end" }],
    });
    const result = await summarize({ sandbox: impatient }, type, [1, 2, 3]);
    expect(result).toEqual({
      groups: [[{ name: "A", value: 1 }]],
      incomplete: "It took longer than 1.5 seconds",
    });
  });

  it("has nothing to show without a summary", async () => {
    expect(await summarize(app.deps, await storedType({}), { a: 1 })).toEqual({ groups: [] });
  });
});
