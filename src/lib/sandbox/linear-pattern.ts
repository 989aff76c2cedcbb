import { RE2JS } from "re2js";

/** A pattern as the JSON Schema library wants it. */
export interface LinearPattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Compiles a regular expression for matching in time linear in the text, whatever the pattern. Look-around and
 * back-references, which cannot be matched that way, are errors.
 * @throws Error with a reason for people.
 */
export function compileLinearPattern(pattern: string): LinearPattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.test(text), toString: () => pattern };
}

/** Says why a text is no pattern; undefined when it is one. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compileLinearPattern(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
