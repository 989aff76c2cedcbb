import type { InputErrors } from "../errors.ts";

/** One mistake in a policy. */
export interface PolicyIssue {
  /** Keys and indexes from the root of the document; empty for the text as a whole. */
  path: readonly (string | number)[];
  /** What would have been right. */
  reason: string;
  /** What stands there instead; undefined when nothing does. */
  input: unknown;
}

/** A text that is no policy, or no expression of one, with what is wrong with it, up to a limit. */
export class PolicyError extends Error {
  readonly issues: readonly PolicyIssue[];
  constructor(message: string, issues: readonly PolicyIssue[]) {
    super(message);
    this.name = "PolicyError";
    this.issues = issues;
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
export class ExpressionError extends PolicyError {
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
    const message = `Invalid expression at line ${line}, column ${column}: ${reason}`;
    super(message, [{ path: [], reason: message, input: source }]);
    this.name = "ExpressionError";
    this.reason = reason;
    this.offset = span.offset;
    this.line = line;
    this.column = column;
    this.found = source.slice(span.offset, span.end);
  }
}

/** `artifacts.attestations[0].type`; empty for the root. */
export function issueLocation(path: PolicyIssue["path"]): string {
  return path.reduce<string>((location, part) => {
    if (typeof part === "number") return `${location}[${part}]`;
    return location === "" ? part : `${location}.${part}`;
  }, "");
}

/**
 * The mistakes as a failed validation shows them, one for each place.
 * @param root what the document is called in the request, such as `policy_file`.
 * @param showInput how the interface shows an offending value.
 */
export function policyInputErrors(
  issues: readonly PolicyIssue[],
  root: string,
  showInput: (input: unknown) => string,
): InputErrors {
  const errors = new Map<string, string>();
  for (const { path, reason, input } of issues) {
    const location = issueLocation([root, ...path]);
    if (!errors.has(location)) errors.set(location, `${reason} [input: ${showInput(input)}]`);
  }
  return Object.fromEntries(errors);
}
