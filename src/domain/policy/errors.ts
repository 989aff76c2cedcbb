import { FormatError, type FormatIssue, showPath } from "../../lib/yaml-format.ts";
import type { InputErrors } from "../errors.ts";

/** A text that is no policy, with what is wrong with it, up to a limit. */
export class PolicyError extends FormatError {
  constructor(issues: readonly FormatIssue[]) {
    super("Not a policy", issues);
    this.name = "PolicyError";
  }
}

/** Where in an expression something stands. */
export interface Span {
  /** UTF-16 units from the start. */
  offset: number;
  /** One past the last unit. */
  end: number;
}

/** An expression that cannot be accepted: why, where, and the text that is to blame. */
export class ExpressionError extends Error {
  /** The reason alone, one sentence without a full stop. */
  readonly reason: string;
  /** UTF-16 units from the start of the expression. */
  readonly offset: number;
  /** Line of the expression, from 1. */
  readonly line: number;
  /** Character of the line, from 1. */
  readonly column: number;
  /** The offending text; empty at the end of the expression. */
  readonly found: string;

  constructor(reason: string, source: string, span: Span) {
    const before = source.slice(0, span.offset);
    const line = before.split("\n").length;
    const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length + 1;
    super(`Invalid expression at line ${line}, column ${column}: ${reason}`);
    this.name = "ExpressionError";
    this.reason = reason;
    this.offset = span.offset;
    this.line = line;
    this.column = column;
    this.found = source.slice(span.offset, span.end);
  }
}

/**
 * Shows mistakes as a failed validation does, one for each place.
 * @param root what the document is called in the request, such as `policy_file`.
 * @param showInput how the interface shows an offending value.
 */
export function policyInputErrors(
  issues: readonly FormatIssue[],
  root: string,
  showInput: (input: unknown) => string,
): InputErrors {
  const errors = new Map<string, string>();
  for (const { path, reasons, input } of issues) {
    const location = showPath([root, ...path]);
    if (!errors.has(location)) errors.set(location, `${reasons[0]} [input: ${showInput(input)}]`);
  }
  return Object.fromEntries(errors);
}
