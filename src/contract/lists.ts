import { z } from "zod";

import { isJsonObject } from "../lib/json-object.ts";
import { prevalidatable } from "./prevalidated.ts";
import { withInput } from "./safe-parse.ts";

type Context = z.core.ParsePayload;

/** Longest lists and maps that are left to the validator, which reports every mistake in them. */
export const shortList = 1000;

/** Most wrong entries that are reported of longer ones: each mistake costs memory, and bodies are large. */
export const mostWrongEntries = 20;

interface Entry {
  at: PropertyKey;
  value: unknown;
}

/** Reports the first entries that do not fit the schema. @returns whether there are any. */
function complain(context: Context, schema: z.ZodType, entries: Iterable<Entry>): boolean {
  let wrong = 0;
  for (const { at, value } of entries) {
    const parsed = schema.safeParse(value, withInput);
    if (parsed.success) continue;
    for (const issue of parsed.error.issues)
      context.issues.push({ ...issue, path: [at, ...issue.path] } as unknown as z.core.$ZodRawIssue);
    wrong += 1;
    if (wrong === mostWrongEntries) break;
  }
  return wrong > 0;
}

function tooLong(context: Context, origin: "array" | "object", maximum: number, input: unknown): never {
  context.issues.push({ code: "too_big", origin, maximum, inclusive: true, input });
  return z.NEVER;
}

function* itemsOf(list: unknown[]): Iterable<Entry> {
  for (const [at, value] of list.entries()) yield { at, value };
}

/**
 * Makes a schema of a list in a body. The length is checked before the items, and validation of a long list stops after
 * the first wrong ones, so that no body costs more to refuse than to read.
 */
export function listOf<S extends z.ZodType>(item: S, limits: { min?: number; max?: number } = {}) {
  const { min, max } = limits;
  let list = z.array(item);
  if (min !== undefined) list = list.min(min);
  if (max !== undefined) list = list.max(max);
  const whole = z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= shortList) return value;
    if (max !== undefined && value.length > max) return tooLong(context, "array", max, value);
    return complain(context, item, itemsOf(value)) ? z.NEVER : value;
  }, list);
  return prevalidatable(whole, { kind: "list", item, max: max ?? Infinity });
}

/** Makes a schema of a map in a body, which is validated as `listOf` does it. */
export function mapOf<K extends z.ZodString, V extends z.ZodType>(key: K, value: V) {
  const whole = z.preprocess(
    (given, context) => {
      if (!isJsonObject(given)) return given;
      const entries = Object.entries(given);
      if (entries.length <= shortList) return given;
      const keys = entries.map(([name]) => ({ at: name, value: name }));
      const values = entries.map(([name, item]) => ({ at: name, value: item }));
      return complain(context, key, keys) || complain(context, value, values) ? z.NEVER : given;
    },
    z.record(key, value),
  );
  return prevalidatable(whole, { kind: "map", key, value });
}

/** Makes a schema of a list without duplicates. */
export function distinctList<S extends z.ZodType>(item: S, limits: { min?: number; max: number }) {
  const list = z
    .array(item)
    .min(limits.min ?? 0)
    .max(limits.max)
    .check((context) => {
      const seen = new Set<unknown>();
      for (const [index, value] of context.value.entries()) {
        if (seen.has(value))
          context.issues.push({
            code: "custom",
            message: "List should not contain the same item twice",
            input: value,
            path: [index],
          });
        seen.add(value);
      }
    })
    .meta({ uniqueItems: true });
  return z.preprocess(
    (value, context) =>
      Array.isArray(value) && value.length > Math.max(shortList, limits.max)
        ? tooLong(context, "array", limits.max, value)
        : value,
    list,
  );
}
