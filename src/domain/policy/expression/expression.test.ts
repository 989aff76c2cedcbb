import { describe, expect, it } from "vitest";

import { evaluateExpression, type ExpressionContext } from "./evaluate.ts";
import { parseExpression, unwrapExpression } from "./parser.ts";

const tags = {
  kind: "build",
  "risk-level": "10",
  "team.name": "a~b",
  size: "2.50",
  empty: "",
  "1st": "x",
  weird: "3x",
};
const known: ExpressionContext = {
  flow: { name: "web-ci", tags },
  artifact: { name: "registry.test/web:1.4", fingerprint: "ab".repeat(32) },
};
const unknown: ExpressionContext = { ...known, flow: null };

function holds(text: string, context = known): boolean {
  return evaluateExpression(parseExpression(text), context);
}

describe("what holds with a flow, and without one", () => {
  it.each([
    // Names, and tags that are there.
    ['flow.name == "web-ci"', true, false],
    ["flow.name == 'web-ci'", true, false],
    ['flow.name != "web-ci"', false, true],
    ['"web-ci" == flow.name', true, false],
    ['artifact.name == "registry.test/web:1.4"', true, true],
    [`artifact.fingerprint == "${"ab".repeat(32)}"`, true, true],
    ['flow.tags.kind == "build"', true, false],
    ['flow.tags.kind == "Build"', false, false],
    ['flow.tags.team.name == "a~b"', true, false],
    ['flow.tags.1st == "x"', true, false],
    ['flow.tags.empty == ""', true, false],
    // Absent: no relation to anything, not even to another absent one.
    ['flow.tags.absent == "x"', false, false],
    ['flow.tags.absent != "x"', true, true],
    ["flow.tags.absent == flow.tags.absent", false, false],
    ["flow.tags.absent != flow.tags.absent", true, true],
    ["flow.tags.absent < 1", false, false],
    ["flow.tags.absent >= 1", false, false],
    ["flow.tags.absent <= 'x'", false, false],
    ["not flow.tags.absent >= 1", true, true],
    ['flow.tags.absent in ["a"]', false, false],
    ['flow.tags.absent not in ["a"]', true, true],
    ["flow.tags.absent in flow.name", false, false],
    ["flow.tags.toString == 'x'", false, false],
    ["exists(flow.tags.constructor)", false, false],
    ["exists(flow.tags.__proto__)", false, false],
    // exists
    ["exists(flow)", true, false],
    ["not exists(flow)", false, true],
    ["exists(flow.name)", true, false],
    ["exists(flow.tags.kind)", true, false],
    ["exists(flow.tags.empty)", true, false],
    ["exists(flow.tags.absent)", false, false],
    ["exists(artifact.name)", true, true],
    ["exists('')", true, true],
    ["exists([])", true, true],
    ["exists(exists(flow))", true, true],
    // Numbers
    ["flow.tags.risk-level >= 2", true, false],
    ["flow.tags.risk-level>=2", true, false],
    ["flow.tags.risk-level < 2", false, false],
    ["2 <= flow.tags.risk-level", true, false],
    ["flow.tags.risk-level == 10", true, false],
    ["flow.tags.risk-level == 10.0", true, false],
    ["flow.tags.risk-level > 9.99e0", true, false],
    ["flow.tags.risk-level > -1", true, false],
    ["flow.tags.size == 2.5", true, false],
    ["flow.tags.weird == 3", false, false],
    ["flow.tags.weird != 3", true, true],
    ["flow.tags.weird > 2", false, false],
    ["flow.tags.weird < 2", false, false],
    ["flow.tags.empty == 0", false, false],
    ["1 < 2", true, true],
    ["2 <= 2", true, true],
    ["1 == -0", false, false],
    // Two texts compare as texts, whatever they look like.
    ["flow.tags.risk-level == '10.0'", false, false],
    ["flow.tags.risk-level < '2'", true, false],
    ["'a' < 'b'", true, true],
    ["'\uffff' < '\u{1f600}'", true, true],
    // Membership
    ['flow.tags.kind in ["test", "build"]', true, false],
    ['flow.tags.kind in ["test"]', false, false],
    ["flow.tags.kind in []", false, false],
    ['flow.tags.kind not in ["test"]', true, true],
    ['not flow.tags.kind in ["test"]', true, true],
    ["flow.tags.risk-level in [9, 10]", true, false],
    ["flow.tags.kind in [flow.tags.kind]", true, false],
    ["3 in [1, '3']", true, true],
    ["'web' in artifact.name", true, true],
    ["'web' not in flow.name", false, true],
    ["'' in flow.tags.empty", true, false],
    // matches searches, and is false for what is absent.
    ['matches(artifact.name, "web")', true, true],
    ['matches(artifact.name, "^web")', false, false],
    [String.raw`matches(artifact.name, "^registry\.test/")`, true, true],
    [String.raw`matches(artifact.name, "^registry\\.test/")`, true, true],
    [String.raw`matches(artifact.name, ":\d+\.\d+$")`, true, true],
    ['matches(artifact.name, "(?i)WEB")', true, true],
    ['matches(flow.tags.absent, ".*")', false, false],
    ['not matches(flow.tags.absent, ".*")', true, true],
    ['matches("", "")', true, true],
    // Precedence: not, then and, then or; a comparison binds more tightly than not.
    ["not flow.tags.kind == 'test'", true, true],
    ["exists(flow) or 1 == 2 and 1 == 2", true, false],
    ["(exists(flow) or 1 == 1) and 1 == 2", false, false],
    ["not exists(flow) or 1 == 1", true, true],
    ["not (exists(flow) or 1 == 1)", false, false],
    ["not not exists(flow)", true, false],
    ["exists(flow) and flow.tags.kind != 'build'", false, false],
    ["(exists(flow)) == (1 == 1)", true, false],
    ["(1 == 2) != exists(flow)", true, false],
    // Blanks do not matter.
    ["\n exists ( flow )\n\tand\r\nnot(1==2)", true, false],
  ])("%s", (text, withFlow, withoutFlow) => {
    expect([holds(text), holds(text, unknown)]).toEqual([withFlow, withoutFlow]);
  });
});

describe("texts", () => {
  it.each([
    [String.raw`"a\"b"`, 'a"b'],
    [String.raw`'it\'s'`, "it's"],
    [String.raw`"it's"`, "it's"],
    [String.raw`"\\"`, "\\"],
    [String.raw`"\\\\"`, String.raw`\\`],
    [String.raw`"\d\n"`, String.raw`\d\n`],
    [String.raw`"\\d"`, String.raw`\d`],
    ['"}}"', "}}"],
    ['"two\nlines"', "two\nlines"],
  ])("reads %s", (text, value) => {
    expect(parseExpression(`${text} == 'x'`)).toMatchObject({ left: { kind: "text", value } });
  });
});

describe("unwrapExpression", () => {
  it.each([
    ["${{ exists(flow) }}", "exists(flow)"],
    ["${{exists(flow)}}", "exists(flow)"],
    ["  ${{\n exists(flow)\n}}\n", "exists(flow)"],
    [" exists(flow) ", "exists(flow)"],
    ["${{}}", ""],
    ["${{", "${{"],
    ["${{ x", "${{ x"],
    ["x }}", "x }}"],
    ["${{ a }} and ${{ b }}", "a }} and ${{ b"],
  ])("%j", (text, inner) => {
    expect(unwrapExpression(text)).toBe(inner);
  });
});
