import { z } from "zod";

import { maxPage } from "../domain/names.ts";
import { parseIsoTime } from "../lib/iso-time.ts";
import { isStorable } from "../lib/json.ts";
import { parseBoolean, parseInteger, parseNumber } from "./scalar-text.ts";

/**
 * Schemas of query parameters, which are text that stands for something else. The error texts are the public
 * interface's own. The last value counts of a parameter that is given several times, unless it is a list.
 */

type JsonSchema = Record<string, unknown>;

class Unreadable {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

function lastOf(value: unknown): unknown {
  return Array.isArray(value) ? value.at(-1) : value;
}

function parameter<T>(json: JsonSchema, read: (text: string) => T | Unreadable) {
  return z
    .unknown()
    .transform((value, context): T => {
      if (value === undefined) {
        context.issues.push({ code: "custom", message: "Field required", input: value });
        return z.NEVER;
      }
      const text = lastOf(value);
      const result = read(typeof text === "string" ? text : String(text));
      if (!(result instanceof Unreadable)) return result;
      context.issues.push({ code: "custom", message: result.reason, input: text });
      return z.NEVER;
    })
    .meta(json);
}

function outOfRange(value: number, range: { min?: number; max?: number }): Unreadable | undefined {
  if (range.min !== undefined && value < range.min)
    return new Unreadable(`Input should be greater than or equal to ${range.min}`);
  if (range.max !== undefined && value > range.max)
    return new Unreadable(`Input should be less than or equal to ${range.max}`);
  return undefined;
}

function jsonRange(range: { min?: number; max?: number }): JsonSchema {
  return {
    ...(range.min === undefined ? {} : { minimum: range.min }),
    ...(range.max === undefined ? {} : { maximum: range.max }),
  };
}

/** Makes a schema of a whole number in decimal digits. */
export function integerParameter(range: { min?: number; max?: number } = {}) {
  return parameter({ type: "integer", ...jsonRange(range) }, (text) => {
    const value = parseInteger(text);
    if (value === undefined)
      return new Unreadable("Input should be a valid integer, unable to parse string as an integer");
    return outOfRange(value, range) ?? value;
  });
}

/** Makes a schema of Unix seconds, decimals and exponents allowed, up to the end of the year 9999. */
export function timestampParameter() {
  const range = { min: 0, max: 253_402_300_799 };
  return parameter({ type: "number", ...jsonRange(range) }, (text) => {
    const value = parseNumber(text);
    if (value === undefined)
      return new Unreadable("Input should be a valid number, unable to parse string as a number");
    return outOfRange(value, range) ?? value;
  });
}

/**
 * Makes a schema of a day, or a day and time, in ISO 8601, which becomes Unix seconds; UTC unless it says otherwise.
 */
export function isoTimeParameter() {
  return parameter(
    { type: "string", format: "date-time" },
    (text) =>
      parseIsoTime(text) ??
      new Unreadable("Input should be a valid datetime, unable to parse string as a datetime"),
  );
}

/** Makes a schema of `true`, `false` and the usual synonyms, in any case. */
export function booleanParameter() {
  return parameter(
    { type: "boolean" },
    (text) =>
      parseBoolean(text) ?? new Unreadable("Input should be a valid boolean, unable to interpret input"),
  );
}

/** Makes a schema of any text that the database can store, and thus search for. */
export function textParameter() {
  return parameter({ type: "string" }, (text) =>
    isStorable(text) ? text : new Unreadable("Text must not contain NUL or unpaired surrogates"),
  );
}

/** Makes a schema of a text that matches a pattern, such as a name. */
export function patternParameter(pattern: RegExp) {
  return parameter({ type: "string", pattern: pattern.source }, (text) =>
    pattern.test(text) ? text : new Unreadable(`String should match pattern '${pattern.source}'`),
  );
}

/** Writes a list of choices: `'a'`, `'a' or 'b'`, `'a', 'b' or 'c'`. */
export function quotedChoices(values: readonly unknown[]): string {
  const quoted = values.map((value) => (typeof value === "string" ? `'${value}'` : String(value)));
  const last = quoted.at(-1) ?? "";
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} or ${last}`;
}

/** Makes a schema of one of a few words, in exactly this spelling. */
export function choiceParameter<const T extends string>(values: readonly T[]) {
  return parameter({ type: "string", enum: values }, (text): T | Unreadable =>
    values.includes(text as T) ? (text as T) : new Unreadable(`Input should be ${quotedChoices(values)}`),
  );
}

/** Makes a schema of a parameter that may be given several times; `undefined` when it is not given at all. */
export function listParameter<T extends z.ZodType>(item: T) {
  return z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).max(1000).optional(),
  );
}

/**
 * Makes a schema of a list in one parameter, separated by commas. Blanks around the items do not count. An empty text
 * counts as no list: `undefined`.
 * @param words the only items allowed, if given.
 */
export function commaListParameter<const T extends string = string>(words?: readonly T[]) {
  return parameter({ type: "string" }, (text): T[] | undefined | Unreadable => {
    if (!isStorable(text)) return new Unreadable("Text must not contain NUL or unpaired surrogates");
    const items = text.split(",").flatMap((item) => item.trim() || []) as T[];
    if (items.length > 1000) return new Unreadable("List should have at most 1000 items");
    if (words !== undefined && items.some((item) => !words.includes(item)))
      return new Unreadable(`Input should be ${quotedChoices(words)}`);
    return items.length === 0 ? undefined : items;
  });
}

/** Makes a schema of `page`, from 1 (interface spec 8). */
export function pageParameter() {
  return integerParameter({ min: 1, max: maxPage });
}
