import type { Expression, ExpressionKind } from "../../src/domain/policy/expression/ast.ts";

/** How tightly each kind binds. Operands that bind less tightly than their place asks for stand in parentheses. */
const strength: Record<ExpressionKind, number> = {
  or: 0,
  and: 1,
  not: 2,
  compare: 3,
  exists: 4,
  matches: 4,
  list: 4,
  text: 4,
  number: 4,
  flow: 4,
  field: 4,
  tag: 4,
};

function quote(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}

function printAt(expression: Expression, least: number): string {
  const text = printExpression(expression);
  return strength[expression.kind] < least ? `(${text})` : text;
}

/** An expression's canonical text: reading it gives the same expression. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case "or":
    case "and": {
      const least = strength[expression.kind] + 1;
      return expression.operands.map((operand) => printAt(operand, least)).join(` ${expression.kind} `);
    }
    case "not":
      return `not ${printAt(expression.operand, strength.not)}`;
    case "compare":
      return `${printAt(expression.left, 4)} ${expression.operator} ${printAt(expression.right, 4)}`;
    case "exists":
      return `exists(${printAt(expression.operand, 4)})`;
    case "matches":
      return `matches(${printAt(expression.subject, 4)}, ${quote(expression.pattern)})`;
    case "list":
      return `[${expression.items.map((item) => printAt(item, 4)).join(", ")}]`;
    case "text":
      return quote(expression.value);
    case "number":
      return String(expression.value);
    case "flow":
      return "flow";
    case "field":
      return expression.field;
    case "tag":
      return `flow.tags.${expression.key}`;
  }
}
