import type { RE2JS } from "re2js";

import { compareText } from "../../../lib/text.ts";
import type { Expression, Field, Operator } from "./ast.ts";
import { numberPattern } from "./lexer.ts";

/** Data that an expression is evaluated on. */
export interface ExpressionContext {
  /** Null when no flow knows the artifact. */
  flow: { name: string; tags: Readonly<Record<string, string>> } | null;
  artifact: { name: string; fingerprint: string };
}

/** Null: a tag that is not set, or anything of a flow that is not there. */
type Value = string | number | boolean | null;

/** How two values relate; null when they have no order. */
type Order = -1 | 0 | 1 | null;

function readField(field: Field, { flow, artifact }: ExpressionContext): Value {
  if (field === "flow.name") return flow?.name ?? null;
  return field === "artifact.name" ? artifact.name : artifact.fingerprint;
}

function readTag(key: string, { flow }: ExpressionContext): Value {
  if (flow === null || !Object.hasOwn(flow.tags, key)) return null;
  return flow.tags[key] ?? null;
}

/** Reads a number, or a text that is written like one; null for anything else. */
function toNumber(value: Value): number | null {
  if (typeof value === "number") return value;
  return typeof value === "string" && numberPattern.test(value) ? Number(value) : null;
}

function orderOfNumbers(left: number, right: number): Order {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * Orders two values. Numbers compare as numbers, also with a text that is written like one; a text that is not has no relation to a number.
 * Two texts compare as texts. Null has no relation to anything, not even to null.
 */
function compare(left: Value, right: Value): Order {
  if (left === null || right === null) return null;
  if (typeof left === "boolean" || typeof right === "boolean") return left === right ? 0 : null;
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  const [first, second] = [toNumber(left), toNumber(right)];
  return first === null || second === null ? null : orderOfNumbers(first, second);
}

function isMember(left: Value, right: Expression, context: ExpressionContext): boolean {
  if (right.kind === "list") return right.items.some((item) => compare(left, valueOf(item, context)) === 0);
  const text = valueOf(right, context);
  return typeof left === "string" && typeof text === "string" && text.includes(left);
}

function holds(operator: Operator, order: Order): boolean {
  switch (operator) {
    case "==":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order === -1;
    case ">":
      return order === 1;
    case "<=":
      return order === -1 || order === 0;
    default:
      return order === 1 || order === 0;
  }
}

function evaluateComparison(node: Expression & { kind: "compare" }, context: ExpressionContext): boolean {
  const left = valueOf(node.left, context);
  if (node.operator === "in") return isMember(left, node.right, context);
  if (node.operator === "not in") return !isMember(left, node.right, context);
  return holds(node.operator, compare(left, valueOf(node.right, context)));
}

function valueOf(node: Expression, context: ExpressionContext): Value {
  switch (node.kind) {
    case "text":
    case "number":
      return node.value;
    case "field":
      return readField(node.field, context);
    case "tag":
      return readTag(node.key, context);
    default:
      return evaluateExpression(node, context);
  }
}

function exists(node: Expression, context: ExpressionContext): boolean {
  if (node.kind === "flow") return context.flow !== null;
  return node.kind === "list" || valueOf(node, context) !== null;
}

/** The last text that each pattern was tried on: rules ask about an artifact once for each flow that knows it. */
const lastTried = new WeakMap<RE2JS, { text: string; found: boolean }>();

function isFound(regex: RE2JS, text: string): boolean {
  const last = lastTried.get(regex);
  if (last?.text === text) return last.found;
  const found = regex.test(text);
  lastTried.set(regex, { text, found });
  return found;
}

/**
 * Says whether a condition holds.
 *
 * There is no third truth value: a comparison with something absent does not hold, so `==`, orders, `in` and `matches`
 * are false, and their opposites `!=` and `not in` are true. `matches` searches: it is true when the pattern is found
 * anywhere in the text.
 */
export function evaluateExpression(node: Expression, context: ExpressionContext): boolean {
  switch (node.kind) {
    case "or":
      return node.operands.some((operand) => evaluateExpression(operand, context));
    case "and":
      return node.operands.every((operand) => evaluateExpression(operand, context));
    case "not":
      return !evaluateExpression(node.operand, context);
    case "compare":
      return evaluateComparison(node, context);
    case "exists":
      return exists(node.operand, context);
    case "matches": {
      const subject = valueOf(node.subject, context);
      return typeof subject === "string" && isFound(node.regex, subject);
    }
    default:
      // Reading an expression has made sure that nothing else stands where a condition is needed.
      return false;
  }
}
