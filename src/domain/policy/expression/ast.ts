import type { RE2JS } from "re2js";

import type { Span } from "../errors.ts";

export const orderOperators = ["<", ">", "<=", ">="] as const;
export const operators = ["==", "!=", ...orderOperators, "in", "not in"] as const;
export type Operator = (typeof operators)[number];

/** Names that stand for a text; null where there is no flow. */
export const fields = ["flow.name", "artifact.name", "artifact.fingerprint"] as const;
export type Field = (typeof fields)[number];

/** A part of an expression: what the author wrote, parentheses aside. */
export type Expression = Span &
  (
    | { kind: "or" | "and"; operands: readonly Expression[] }
    | { kind: "not"; operand: Expression }
    | { kind: "compare"; operator: Operator; left: Expression; right: Expression }
    | { kind: "exists"; operand: Expression }
    | { kind: "matches"; subject: Expression; pattern: string; regex: RE2JS }
    | { kind: "list"; items: readonly Expression[] }
    | { kind: "text"; value: string }
    | { kind: "number"; value: number }
    | { kind: "flow" }
    | { kind: "field"; field: Field }
    | { kind: "tag"; key: string }
  );

export type ExpressionKind = Expression["kind"];
