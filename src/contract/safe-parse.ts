import type { z } from "zod";

import { ExactJson } from "../lib/exact-json.ts";
import { finish, type Steps } from "../lib/steps.ts";

/** The error of a key that an object must not have. */
export const extraInput = "Extra inputs are not permitted";

/**
 * Options of validating what a caller sent: mistakes carry the value, which is quoted. An object can have a hundred thousand
 * unknown keys: the validator's own text, which lists them, is not made.
 */
export const withInput: z.core.ParseContext<z.core.$ZodIssue> = {
  reportInput: true,
  error: ({ code }) => (code === "unrecognized_keys" ? extraInput : undefined),
};

/** Says whether comparing a value with a number throws. */
function isIncomparable(value: unknown): boolean {
  try {
    Number(value);
    return false;
  } catch {
    return true;
  }
}

/** Copies a value, with null for each member `length` that cannot be compared. */
export function* withoutIncomparableLengths(value: unknown): Steps<unknown> {
  if (typeof value !== "object" || value === null || value instanceof ExactJson) return value;
  yield;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(yield* withoutIncomparableLengths(item));
    return items;
  }
  const object: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value))
    object[key] = key === "length" && isIncomparable(inner) ? null : yield* withoutIncomparableLengths(inner);
  return object;
}

/**
 * Validates what a caller sent, and never throws. The validator compares the `length` of whatever stands where a text or
 * a list should be; an object in its place may carry one that cannot be compared (`{"length": {"toString": 1}}`). Such a
 * body is looked at once more without it, to be refused for what else is wrong with it.
 */
export function safeParse<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  try {
    return schema.safeParse(value, withInput);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return schema.safeParse(finish(withoutIncomparableLengths(value)), withInput);
  }
}
