import { describe, expect, it } from "vitest";

import { threadTime } from "../../../../test/support/turns.ts";
import { ExpressionError } from "../errors.ts";
import { evaluateExpression } from "./evaluate.ts";
import { expressionLimits, parseExpression } from "./parser.ts";

const known = { flow: null, artifact: { name: "web", fingerprint: "" } };

function holds(text: string, context = known): boolean {
  return evaluateExpression(parseExpression(text), context);
}

function failure(text: string): ExpressionError {
  try {
    parseExpression(text);
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
  throw new Error(`Accepted: ${text.slice(0, 100)}`);
}

describe("what is refused, why and where", () => {
  it.each([
    ["", "Expression is empty", 0, ""],
    ["  ", "Expression is empty", 2, ""],
    ["flow.name", "Expected a condition, found a text; compare it with something", 0, "flow.name"],
    ["flow", "Expected a condition, found the flow as a whole; use exists(flow)", 0, "flow"],
    ["'x'", "Expected a condition, found a text; compare it with something", 0, "'x'"],
    ["(1)", "Expected a condition, found a number; compare it with something", 0, "(1)"],
    ["[1]", "Expected a condition, found a list; compare it with something", 0, "[1]"],
    ["exists(flow) and 'x'", "Expected a condition, found a text; compare it with something", 17, "'x'"],
    [
      "exists(flow) or flow.name",
      "Expected a condition, found a text; compare it with something",
      16,
      "flow.name",
    ],
    ["not flow.tags.x", "Expected a condition, found a text; compare it with something", 4, "flow.tags.x"],
    [
      "flow == 'x'",
      "The flow as a whole cannot be compared; use exists(flow) or flow.name",
      0,
      "flow == 'x'",
    ],
    [
      "'x' in flow",
      "The flow as a whole cannot be compared; use exists(flow) or flow.name",
      0,
      "'x' in flow",
    ],
    ["[1] == [1]", "A list can only stand to the right of 'in', not beside '=='", 0, "[1] == [1]"],
    ["1 in 'x'", "'in' needs a list to its right, or a text to both sides", 0, "1 in 'x'"],
    ["'x' not in 1", "'not in' needs a list to its right, or a text to both sides", 0, "'x' not in 1"],
    ["[1] in [1]", "A list cannot be in a list", 0, "[1] in [1]"],
    ["exists(flow) in [1]", "A condition cannot be in a list", 0, "exists(flow) in [1]"],
    ["(1 == 1) == 1", "A condition cannot be compared with a number", 0, "(1 == 1) == 1"],
    ["'x' != exists(flow)", "A condition cannot be compared with a text", 0, "'x' != exists(flow)"],
    ["(1 == 1) < (2 == 2)", "Conditions cannot be ordered with '<'", 0, "(1 == 1) < (2 == 2)"],
    ["1 in [[1]]", "Lists hold texts and numbers, not a list", 6, "[1]"],
    ["1 in [flow]", "Lists hold texts and numbers, not the flow as a whole", 6, "flow"],
    ["1 in [(1 == 1)]", "Lists hold texts and numbers, not a condition", 6, "(1 == 1)"],
    ["matches(1, 'x')", "matches searches a text, not a number", 8, "1"],
    ["matches(flow, 'x')", "matches searches a text, not the flow as a whole", 8, "flow"],
    ["1 == 2 == 3", "Comparisons cannot be chained; connect them with 'and'", 7, "=="],
    ["1 < 2 not in [1]", "Comparisons cannot be chained; connect them with 'and'", 6, "not"],
    ["1 not 2", "Expected 'in' after 'not', found '2'", 6, "2"],
    ["1 ==", "Expected a value, found the end of the expression", 4, ""],
    ["== 1", "Expected a value, found '=='", 0, "=="],
    ["1 == and", "Expected a value, found 'and'", 5, "and"],
    ["exists(flow) and", "Expected a value, found the end of the expression", 16, ""],
    ["exists(flow) exists(flow)", "Expected the end, 'and' or 'or', found 'exists'", 13, "exists"],
    ["exists(flow))", "Expected the end, 'and' or 'or', found ')'", 12, ")"],
    ["(exists(flow)", "Expected ')', found the end of the expression", 13, ""],
    [
      "exists flow",
      "Unknown name 'exists'; known are flow, flow.name, flow.tags.<key>, artifact.name and artifact.fingerprint",
      0,
      "exists",
    ],
    ["exists()", "Expected a value, found ')'", 7, ")"],
    ["exists(flow, flow)", "Expected ')', found ','", 11, ","],
    ["exists(1 == 1)", "Expected ')', found '=='", 9, "=="],
    ["matches(flow.name)", "Expected ',', found ')'", 17, ")"],
    [
      "matches(flow.name, flow.tags.x)",
      "Expected a regular expression in quotes, found 'flow.tags.x'",
      19,
      "flow.tags.x",
    ],
    ["starts(flow.name, 'x')", "Unknown function 'starts'; known are exists and matches", 0, "starts"],
    ["1 in [1,]", "Expected a value, found ']'", 8, "]"],
    ["1 in [1 2]", "Expected ']', found '2'", 8, "2"],
    [
      "artifact == 'x'",
      "Unknown name 'artifact'; known are flow, flow.name, flow.tags.<key>, artifact.name and artifact.fingerprint",
      0,
      "artifact",
    ],
    [
      "flow.tags == 'x'",
      "Unknown name 'flow.tags'; known are flow, flow.name, flow.tags.<key>, artifact.name and artifact.fingerprint",
      0,
      "flow.tags",
    ],
    [
      "flow.tags. == 'x'",
      "Unknown name 'flow.tags.'; known are flow, flow.name, flow.tags.<key>, artifact.name and artifact.fingerprint",
      0,
      "flow.tags.",
    ],
    ["flow.tags.x == null", "Unknown name 'null'; use exists(…)", 15, "null"],
    ["exists(flow) AND exists(flow)", "Expected the end, 'and' or 'or', found 'AND'", 13, "AND"],
    ["true", "Unknown name 'true'; conditions are not compared with it", 0, "true"],
    ["flow.name = 'x'", "Unexpected character '='; write '==' to compare", 10, "="],
    ["exists(flow) && exists(flow)", "Unexpected character '&'; write 'and'", 13, "&"],
    ["exists(flow) || exists(flow)", "Unexpected character '|'; write 'or'", 13, "|"],
    ["!exists(flow)", "Unexpected character '!'; write 'not' or '!='", 0, "!"],
    [
      "${{ exists(flow)",
      "Unexpected character '$'; the expression must be closed with '}}' when it opens with '${{'",
      0,
      "$",
    ],
    ["exists(flow) }} and ${{ exists(flow)", "Unexpected character '}'", 13, "}"],
    ["flow.name == `x`", "Unexpected character '`'; texts stand in single or double quotes", 13, "`"],
    ["flow.tags.ü == 'x'", "Unexpected character 'ü'", 10, "ü"],
    ["1 == \u{1f600}", "Unexpected character '\u{1f600}'", 5, "\u{1f600}"],
    ["flow.name == 'x", "This text has no closing '", 13, "'x"],
    [String.raw`flow.name == "x\"`, 'This text has no closing "', 13, String.raw`"x\"`],
    ["1 == 2x", "'2x' is not a number", 5, "2x"],
    ["1<2and 3>2", "'2and' is not a number", 2, "2and"],
    ["1 == 2.", "'2.' is not a number", 5, "2."],
    ["1 == 1.2.3", "'1.2.3' is not a number", 5, "1.2.3"],
    ["1 == 1e999", "'1e999' is not a number", 5, "1e999"],
    ["1 == 5e+", "'5e' is not a number", 5, "5e"],
    ["1 - 1 == 0", "Unexpected character '-'", 2, "-"],
    ["matches(flow.name, '(')", "Invalid regular expression: missing closing ): `(`", 19, "'('"],
    [
      "matches(flow.name, 'a(?=b)')",
      "Invalid regular expression: invalid or unsupported Perl syntax: `(?=`",
      19,
      "'a(?=b)'",
    ],
    [
      "matches(flow.name, '[z-a]')",
      "Invalid regular expression: invalid character class range: `z-a`",
      19,
      "'[z-a]'",
    ],
    [
      "matches(flow.name, 'x{1001}')",
      "Invalid regular expression: invalid repeat count: `{1001}`",
      19,
      "'x{1001}'",
    ],
    [
      "matches(flow.name, 'x{900}y{900}z{900}')",
      "Regular expression repeats too much",
      19,
      "'x{900}y{900}z{900}'",
    ],
  ])("%j", (text, reason, offset, found) => {
    expect(failure(text)).toMatchObject({ reason, offset, found, line: 1, column: offset + 1 });
  });

  it("counts lines and characters", () => {
    const error = failure("flow.name == '\u{1f600}' and\n  '\u{1f600}' == 1 ?");
    expect(error).toMatchObject({ line: 2, column: 12, found: "?" });
    expect(error.message).toBe("Invalid expression at line 2, column 12: Unexpected character '?'");
  });

  it("quotes little of what is long", () => {
    expect(failure(`${"x".repeat(5000)} == 1`).reason.length).toBeLessThan(200);
    expect(failure(`1 == 1 ${"'x'".repeat(2000)}`).reason.length).toBeLessThan(200);
  });
});

describe("limits", () => {
  const { depth, length, nodes } = expressionLimits;

  it("bounds the length", () => {
    const most = "1 == 1".padEnd(length);
    expect(holds(most)).toBe(true);
    expect(failure(`${most} `).reason).toBe(`Expression is longer than ${length} characters`);
    expect(failure(`matches('', '${"x".repeat(501)}')`).reason).toBe(
      "Regular expression is longer than 500 characters",
    );
  });

  it.each([
    ["(", ")"],
    ["not ", ""],
    ["not (", ")"],
    ["exists(", ")"],
  ])("bounds the depth of %j", (opening, closing) => {
    const most = opening === "not (" ? depth / 2 : depth;
    const nested = (levels: number) => `${opening.repeat(levels)}exists(flow)${closing.repeat(levels)}`;
    expect(parseExpression(nested(most - 1))).toBeDefined();
    expect(failure(nested(most + 1)).reason).toBe(`Expression is nested deeper than ${depth} levels`);
    expect(failure(opening.repeat(2000)).reason).toBe(`Expression is nested deeper than ${depth} levels`);
  });

  it("bounds the number of parts, not of characters", () => {
    const list = (items: number) => `1 in [${Array.from({ length: items }, () => "1").join(",")}]`;
    expect(holds(list(nodes - 3))).toBe(true);
    expect(failure(list(nodes - 2)).reason).toBe(`Expression has more than ${nodes} parts`);
    const long = Array.from({ length: nodes / 4 }, () => "1 == 1").join(" or ");
    expect(holds(long)).toBe(true);
  });

  it("evaluates hostile patterns in time linear in the text", () => {
    const context = { ...known, artifact: { name: `${"a".repeat(20_000)}!`, fingerprint: "" } };
    const started = threadTime();
    expect(holds("matches(artifact.name, '^(a+)+$')", context)).toBe(false);
    expect(holds("matches(artifact.name, '^(a|aa)+$')", context)).toBe(false);
    expect(holds("matches(artifact.name, '(.*)*(.*)*(.*)*b$')", context)).toBe(false);
    expect(threadTime() - started).toBeLessThan(3000);
  });
});
