import type { z } from "zod";

import type { InputErrors } from "../domain/errors.ts";
import { jsonStart } from "../lib/json-start.ts";
import { jsonText } from "../lib/json-text.ts";
import { finish, type Steps } from "../lib/steps.ts";
import { hiddenValue } from "./hidden-input.ts";
import { quotedChoices } from "./parameters.ts";
import { extraInput } from "./safe-parse.ts";
import { readsAsBoolean, readsAsInteger, readsAsNumber } from "./scalar-text.ts";

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const longestShownInput = 200;

/** Most mistakes that are reported: a body can hold millions. */
export const mostErrors = 100;

function shorten(text: string): string {
  return text.length > longestShownInput ? `${text.slice(0, longestShownInput)}…` : text;
}

/**
 * Writes an offending value as the public interface shows it: text bare, `None`, `True`, `False`, JSON for the rest.
 */
export function showInput(value: unknown): string {
  if (value === undefined || value === null) return "None";
  if (value === hiddenValue) return hiddenValue.description ?? "";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return shorten(value);
  if (typeof value === "object") return shorten(jsonStart(value, longestShownInput));
  return shorten(jsonText(value) ?? typeof value);
}

/** Writes a location: `artifacts[0].digests`; `prefix` alone for the value as a whole. */
function showLocation(prefix: string, path: Path): string {
  let location = prefix;
  for (const part of path)
    if (typeof part === "number") location += `[${part}]`;
    else location += `${location === "" ? "" : "."}${shorten(String(part))}`;

  return location;
}

/** The error of anything but a whole number. */
export const notAnInteger = "Input should be a valid integer";

// An object is one with fields of its own; a map may have any.
const typeReasons: Record<string, string> = {
  string: "Input should be a valid string",
  number: "Input should be a valid number",
  int: notAnInteger,
  boolean: "Input should be a valid boolean",
  array: "Input should be a valid list",
  object: "Input should be a valid dictionary or object to extract fields from",
  record: "Input should be a valid dictionary",
};

/** Additions to the error of a text that cannot even be read as a value of the expected type. */
const textReasons: Record<string, { reads: (text: string) => boolean; reason: string }> = {
  boolean: { reads: readsAsBoolean, reason: "unable to interpret input" },
  int: { reads: readsAsInteger, reason: "unable to parse string as an integer" },
  number: { reads: readsAsNumber, reason: "unable to parse string as a number" },
};

function typeReason(expected: string, input: unknown): string {
  const reason = typeReasons[expected] ?? `Input should be a valid ${expected}`;
  const ofTexts = textReasons[expected];
  return typeof input !== "string" || ofTexts === undefined || ofTexts.reads(input)
    ? reason
    : `${reason}, ${ofTexts.reason}`;
}

function counted(count: number | bigint, thing: string): string {
  return `${count} ${thing}${Number(count) === 1 ? "" : "s"}`;
}

function sizeReason(issue: Issue & { code: "too_small" | "too_big" }): string {
  const small = issue.code === "too_small";
  const limit = small ? issue.minimum : issue.maximum;
  if (issue.origin === "string")
    return `String should have at ${small ? "least" : "most"} ${counted(limit, "character")}`;
  if (issue.origin === "array")
    return `List should have at ${small ? "least" : "most"} ${counted(limit, "item")}`;
  if (small) return `Input should be greater than ${issue.inclusive === false ? "" : "or equal to "}${limit}`;
  return `Input should be less than ${issue.inclusive === false ? "" : "or equal to "}${limit}`;
}

function formatReason(issue: Issue & { code: "invalid_format" }): string {
  if (issue.format === "regex" && typeof issue.pattern === "string")
    return `String should match pattern '${issue.pattern.replace(/^\/|\/[a-z]*$/g, "")}'`;
  if (issue.format === "email") return "value is not a valid email address";
  return "Input should be a valid URL";
}

function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeReason(issue.message === notAnInteger ? "int" : issue.expected, issue.input);
    case "invalid_value":
      return `Input should be ${quotedChoices(issue.values)}`;
    case "too_small":
    case "too_big":
      return sizeReason(issue);
    case "invalid_format":
      return formatReason(issue);
    default:
      return issue.message;
  }
}

/**
 * Finds the issues of the alternative that the caller meant: of a union's alternatives the one whose mistake is
 * deepest.
 */
function closestAlternative(alternatives: readonly Issue[][]): Issue[] {
  const depth = (issues: Issue[]): number =>
    issues.reduce((deepest, issue) => Math.max(deepest, issue.path.length), 0);
  return alternatives.reduce(
    (best, next) => (depth(next) > depth(best) ? next : best),
    alternatives[0] ?? [],
  );
}

/** What mistakes are gathered into. */
interface Gathering {
  errors: InputErrors;
  prefix: string;
  show: (value: unknown) => string;
}

/** Makes what shows each list or map once, however many mistakes name it: to find the first keys of a map takes as long as it is large. */
function showingOnce(): (value: unknown) => string {
  const known = new Map<object, string>();
  return (value) => {
    if (typeof value !== "object" || value === null) return showInput(value);
    const shown = known.get(value) ?? showInput(value);
    known.set(value, shown);
    return shown;
  };
}

/** Says whether a mistake is that nothing is there, of whatever type it should be. */
function isMissing({ code, input }: Issue): boolean {
  return (
    input === undefined && (code === "invalid_type" || code === "invalid_value" || code === "invalid_union")
  );
}

function collect(into: Gathering, path: Path, issue: Issue): void {
  const { errors, prefix, show } = into;
  const here = [...path, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    const holder = issue.input;
    for (const key of issue.keys.slice(0, mostErrors))
      errors[showLocation(prefix, [...here, key])] = `${extraInput} [input: ${show(holder?.[key])}]`;
    return;
  }
  if (isMissing(issue)) {
    errors[showLocation(prefix, here) || "body"] ??= "Field required [input: None]";
    return;
  }
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    for (const inner of closestAlternative(issue.errors).slice(0, mostErrors)) collect(into, here, inner);
    return;
  }
  if (issue.code === "invalid_key" || issue.code === "invalid_element") {
    for (const inner of issue.issues) collect(into, here, inner);
    return;
  }
  errors[showLocation(prefix, here) || "body"] ??= `${reasonOf(issue)} [input: ${show(issue.input)}]`;
}

/** Makes the `errors` object as `inputErrors` does, one mistake at each step. */
export function* inputErrorsInSteps(prefix: string, error: z.core.$ZodError): Steps<InputErrors> {
  // Without a prototype: callers choose the keys, `constructor` and `__proto__` included.
  const errors: InputErrors = Object.create(null) as InputErrors;
  const into = { errors, prefix, show: showingOnce() };
  for (const issue of error.issues.slice(0, mostErrors)) {
    collect(into, [], issue);
    yield;
  }
  return errors;
}

/**
 * Makes the `errors` object of a failed validation: location to `<reason> [input: <value>]`, in the wording that
 * clients of the public interface know. Parse with `withInput`, or the values are missing.
 * @param prefix `query` or `path`; empty for the body, whose fields stand alone.
 */
export function inputErrors(prefix: string, error: z.core.$ZodError): InputErrors {
  return finish(inputErrorsInSteps(prefix, error));
}
