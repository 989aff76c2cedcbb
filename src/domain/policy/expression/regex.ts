import { RE2JS } from "re2js";

import type { Steps } from "../../../lib/steps.ts";
import type { Expression } from "./ast.ts";

/** UTF-16 units of a pattern. */
const maxPatternLength = 500;
/** Instructions of one compiled pattern: what each character of a text may cost. */
const maxProgramSize = 2000;
/**
 * Instructions times characters of all names that one pattern is looked for in: at worst some six seconds. Twenty thousand names of 29
 * characters are possible with any pattern that repeats nothing by number.
 */
const maxMatching = 300_000_000;

/** A pattern that cannot be used, with the reason. */
export class PatternError extends Error {}

/**
 * Compiles a pattern of a policy's author. Matching takes time linear in the text, whatever the pattern: there is no
 * backtracking, and therefore no looking ahead or behind and no referring back.
 * @throws PatternError
 */
export function compilePattern(pattern: string): RE2JS {
  if (pattern.length > maxPatternLength)
    throw new PatternError(`Regular expression is longer than ${maxPatternLength} characters`);
  const regex = compile(pattern);
  if (regex.programSize() > maxProgramSize) throw new PatternError("Regular expression repeats too much");
  return regex;
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "";
    throw new PatternError(`Invalid regular expression: ${reason}`, { cause: error });
  }
}

/** Says why a pattern cannot be looked for in so many names; undefined when it can. The end of a name counts as a character. */
export function matchingProblem(regex: RE2JS, names: readonly string[]): string | undefined {
  const places = names.reduce((sum, { length }) => sum + length + 1, 0);
  return regex.programSize() * places > maxMatching
    ? `Regular expression repeats too much for ${names.length} names of ${places - names.length} characters together`
    : undefined;
}

/** Finds the names that a pattern is found in, one in a step: a long one may take twenty milliseconds. */
export function* namesMatching(regex: RE2JS, names: readonly string[]): Steps<string[]> {
  const found: string[] = [];
  for (const name of names) {
    if (regex.matcher(name).find()) found.push(name);
    yield;
  }
  return found;
}

/** Counts the instructions of all patterns in an expression together. */
export function programSize(expression: Expression): number {
  switch (expression.kind) {
    case "matches":
      return expression.regex.programSize();
    case "or":
    case "and":
      return expression.operands.reduce((size, operand) => size + programSize(operand), 0);
    case "compare":
      return programSize(expression.left) + programSize(expression.right);
    case "not":
    case "exists":
      return programSize(expression.operand);
    default:
      return 0;
  }
}
