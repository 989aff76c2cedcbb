import { capitalized } from "../../../lib/text.ts";
import { ExpressionError } from "../errors.ts";
import { orderOperators, type Expression, type ExpressionKind } from "./ast.ts";

/** Type of a part of an expression. It never depends on the data, so that evaluation cannot fail. */
type Type = "condition" | "text" | "number" | "list" | "flow";

const types: Record<ExpressionKind, Type> = {
  or: "condition",
  and: "condition",
  not: "condition",
  compare: "condition",
  exists: "condition",
  matches: "condition",
  list: "list",
  text: "text",
  number: "number",
  flow: "flow",
  field: "text",
  tag: "text",
};

const called: Record<Type, string> = {
  condition: "a condition",
  text: "a text",
  number: "a number",
  list: "a list",
  flow: "the flow as a whole",
};

type Comparison = Expression & { kind: "compare" };

/** Says why two operands can never be compared so; undefined when they can. */
function comparisonProblem({ operator, left, right }: Comparison): string | undefined {
  const sides: [Type, Type] = [types[left.kind], types[right.kind]];
  if (sides.includes("flow")) return "The flow as a whole cannot be compared; use exists(flow) or flow.name";
  if (operator === "in" || operator === "not in") return membershipProblem(operator, ...sides);
  if (sides.includes("list")) return `A list can only stand to the right of 'in', not beside '${operator}'`;
  const [first, second] = sides;
  if ((first === "condition") !== (second === "condition"))
    return `A condition cannot be compared with ${called[first === "condition" ? second : first]}`;
  if (first === "condition" && (orderOperators as readonly string[]).includes(operator))
    return `Conditions cannot be ordered with '${operator}'`;
  return undefined;
}

function membershipProblem(operator: string, left: Type, right: Type): string | undefined {
  if (right === "list")
    return left === "text" || left === "number"
      ? undefined
      : `${capitalized(called[left])} cannot be in a list`;
  if (left === "text" && right === "text") return undefined;
  return `'${operator}' needs a list to its right, or a text to both sides`;
}

/** Fails where a condition is needed and something else stands. */
export function checkCondition(expression: Expression, source: string): void {
  const type = types[expression.kind];
  if (type === "condition") return;
  const hint = type === "flow" ? "; use exists(flow)" : "; compare it with something";
  throw new ExpressionError(`Expected a condition, found ${called[type]}${hint}`, source, expression);
}

/** Fails when the operands of a comparison do not go together. */
export function checkComparison(comparison: Comparison, source: string): void {
  const problem = comparisonProblem(comparison);
  if (problem !== undefined) throw new ExpressionError(problem, source, comparison);
}

/** Fails when something in a list is neither text nor number. */
export function checkListItem(item: Expression, source: string): void {
  const type = types[item.kind];
  if (type === "text" || type === "number") return;
  throw new ExpressionError(`Lists hold texts and numbers, not ${called[type]}`, source, item);
}

/** Fails when something that is searched is no text. */
export function checkSubject(subject: Expression, source: string): void {
  const type = types[subject.kind];
  if (type !== "text")
    throw new ExpressionError(`matches searches a text, not ${called[type]}`, source, subject);
}
