import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ExpressionError } from "../errors.ts";
import { fields, operators, orderOperators, type Expression } from "./ast.ts";
import { evaluateExpression, type ExpressionContext } from "./evaluate.ts";
import { parseExpression } from "./parser.ts";
import { printExpression } from "../../../../test/support/print-expression.ts";

function holds(text: string, context: ExpressionContext): boolean {
  return evaluateExpression(parseExpression(text), context);
}

/** The form of an expression, without places and compiled patterns. */
function form(node: Expression): unknown {
  return JSON.parse(
    JSON.stringify(node, (key, value: unknown) =>
      ["offset", "end", "regex"].includes(key) ? undefined : value,
    ),
  );
}

const anyText = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("\\", "'", '"', "a", "\n", "é", "\u{1f600}"), maxLength: 6 }),
);
const nothing: ExpressionContext = { flow: null, artifact: { name: "aé1", fingerprint: "" } };
const place = { offset: 0, end: 0 };

/** Any expression the grammar and the checks allow. */
const { condition: anyExpression } = fc.letrec<{ condition: Expression; value: Expression }>((tie) => ({
  value: fc.oneof(
    anyText.map((value): Expression => ({ kind: "text", value, ...place })),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value): Expression => ({ kind: "number", value: value === 0 ? 0 : value, ...place })),
    fc.constantFrom(...fields).map((field): Expression => ({ kind: "field", field, ...place })),
    fc
      .string({ unit: fc.constantFrom("a", "1", "-", "_", ".", "~", "Z"), minLength: 1, maxLength: 5 })
      .map((key): Expression => ({ kind: "tag", key, ...place })),
  ),
  condition: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant<Expression>({ kind: "exists", operand: { kind: "flow", ...place }, ...place }),
    fc
      .tuple(fc.constantFrom("==", "!=", ...orderOperators), tie("value"), tie("value"))
      .map(([operator, left, right]): Expression => ({ kind: "compare", operator, left, right, ...place })),
    fc
      .tuple(fc.constantFrom("in", "not in"), tie("value"), fc.array(tie("value"), { maxLength: 3 }))
      .map(([operator, left, items]): Expression => {
        const right: Expression = { kind: "list", items, ...place };
        return { kind: "compare", operator, left, right, ...place };
      }),
    fc
      .tuple(fc.constantFrom(...fields), fc.constantFrom("^a", "\\d+", '"', "x{2}"))
      .map(([field, pattern]): Expression => {
        const subject: Expression = { kind: "field", field, ...place };
        return { kind: "matches", subject, pattern, ...place } as Expression;
      }),
    tie("condition").map((operand): Expression => ({ kind: "not", operand, ...place })),
    fc
      .tuple(
        fc.constantFrom("or" as const, "and" as const),
        fc.array(tie("condition"), { minLength: 2, maxLength: 3 }),
      )
      .map(([kind, operands]): Expression => ({ kind, operands, ...place })),
    fc
      .tuple(fc.constantFrom("==", "!="), tie("condition"), tie("condition"))
      .map(([operator, left, right]): Expression => ({ kind: "compare", operator, left, right, ...place })),
    tie("condition").map((operand): Expression => ({ kind: "exists", operand, ...place })),
  ),
}));

describe("properties", () => {
  it("prints what it reads the same again", () => {
    fc.assert(
      fc.property(anyExpression, (expression) => {
        const text = printExpression(expression);
        const read = parseExpression(text);
        expect(form(read)).toEqual(form(expression));
        expect(printExpression(read)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  const anyContext = fc.record({
    flow: fc.option(
      fc.record({ name: anyText, tags: fc.dictionary(fc.constantFrom("a", "1", "Z", "a.1"), anyText) }),
    ),
    artifact: fc.record({ name: anyText, fingerprint: anyText }),
  });

  it("is always true or false, and negation and opposites agree", () => {
    fc.assert(
      fc.property(anyExpression, anyContext, (expression, context) => {
        const text = printExpression(expression);
        const value = holds(text, context);
        expect(typeof value).toBe("boolean");
        expect(holds(`not (${text})`, context)).toBe(!value);
        expect(holds(`(${text}) and (${text}) or (${text})`, context)).toBe(value);
      }),
      { numRuns: 1000 },
    );
  });

  it("puts any two numbers and any two texts in exactly one order", () => {
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true });
    const pair = fc.oneof(fc.tuple(numbers, numbers), fc.tuple(anyText, anyText));
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const literal = (value: string | number) =>
          printExpression(
            typeof value === "number"
              ? { kind: "number", value, ...place }
              : { kind: "text", value, ...place },
          );
        const orders = ["<", "==", ">"].filter((operator) =>
          holds(`${literal(left)} ${operator} ${literal(right)}`, nothing),
        );
        expect(orders).toHaveLength(1);
      }),
    );
  });

  it("throws nothing but its own error, with a place in the text", () => {
    const fragments = fc.constantFrom(
      "flow", "flow.name", "flow.tags.a-b", "artifact.name", "exists", "matches", "and", "or", "not", "in", "true",
      "(", ")", "[", "]", ",", "'", '"', "\\", "'x'", '"^a+$"', "1", "-2.5", "1e9", " ", " ", "\n", "${{", "}}",
      "&", "\0", "\ud800", "é", ...operators,
    ); // prettier-ignore
    const text = fc.oneof(
      fc.array(fragments, { maxLength: 30 }).map((parts) => parts.join("")),
      fc.array(fragments, { maxLength: 30 }).map((parts) => parts.join(" ")),
      fc.string({ unit: "binary", maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, anyContext, (source, context) => {
        try {
          evaluateExpression(parseExpression(source), context);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
          const { offset, found, reason } = error as ExpressionError;
          expect(source.slice(offset, offset + found.length)).toBe(found);
          expect(reason).not.toBe("");
        }
      }),
      { numRuns: 2500 },
    );
  });

  it("throws nothing but its own error for any pattern", () => {
    const parts = fc.constantFrom("a", ".", "*", "+", "?", "{2}", "{1000}", "(", ")", "[", "]", "^", "$", "|", "\\", "\\pL", "(?i)", "(?P<n>", "\\Q", "-", "é"); // prettier-ignore
    const pattern = fc.array(parts, { maxLength: 20 }).map((all) => all.join(""));
    fc.assert(
      fc.property(pattern, (source) => {
        const text = printExpression({ kind: "text", value: source, ...place });
        try {
          expect(typeof holds(`matches(artifact.name, ${text})`, nothing)).toBe("boolean");
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
