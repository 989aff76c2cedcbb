import { z } from "zod";

import { ExactJson } from "../lib/exact-json.ts";
import { isJsonObject } from "../lib/json-object.ts";
import { readText } from "../lib/json.ts";
import type { Steps } from "../lib/steps.ts";
import { isQuicklyAccepted } from "./accepted.ts";
import { exactContent, schemasAround } from "./exact.ts";
import { mostErrors } from "./input-errors.ts";
import { mostWrongEntries, shortList } from "./lists.ts";
import { type Outcome, type Parts, partsOf, remember } from "./prevalidated.ts";
import { safeParse, withInput, withoutIncomparableLengths } from "./safe-parse.ts";

type RawIssue = z.core.$ZodRawIssue;

/** Validates the long lists and maps of a value, some items at a time, and stores the results. */
type Prevalidator = (value: unknown) => Steps<void>;

/** Longest lists that are validated together with what they stand in. */
const longestInline = 20;

const prevalidators = new WeakMap<object, { prevalidate: Prevalidator | undefined }>();

/** Finds how to prevalidate values of a schema; undefined when nothing in them can take long. */
function prevalidatorOf(schema: z.ZodType): Prevalidator | undefined {
  const known = prevalidators.get(schema);
  if (known !== undefined) return known.prevalidate;
  const prevalidate = newPrevalidator(schema);
  prevalidators.set(schema, { prevalidate });
  return prevalidate;
}

function newPrevalidator(schema: z.ZodType): Prevalidator | undefined {
  const parts = partsOf(schema);
  if (parts?.kind === "list") return (value) => prevalidateList(schema, parts, value);
  if (parts?.kind === "map") return (value) => prevalidateMap(schema, parts, value);
  const inside = exactContent(schema);
  if (inside !== undefined) return (value) => prevalidateExact(inside, value);
  if (schema instanceof z.ZodObject) return objectPrevalidator(schema);
  const around = schemasAround(schema).flatMap((inner) => prevalidatorOf(inner) ?? []);
  if (around.length === 0) return undefined;
  return function* (value) {
    for (const prevalidate of around) yield* prevalidate(value);
  };
}

function objectPrevalidator(schema: z.ZodObject): Prevalidator | undefined {
  const members = Object.entries<z.ZodType>(schema.shape).flatMap(([name, member]) => {
    const prevalidate = prevalidatorOf(member);
    return prevalidate === undefined ? [] : [{ name, prevalidate }];
  });
  if (members.length === 0) return undefined;
  return function* (value) {
    if (typeof value !== "object" || value === null) return;
    for (const { name, prevalidate } of members)
      if (Object.hasOwn(value, name)) yield* prevalidate((value as Record<string, unknown>)[name]);
  };
}

function* prevalidateExact(inside: z.ZodType, value: unknown): Steps<void> {
  if (!(value instanceof ExactJson)) return;
  value.remember(yield* readText(value.text));
  yield* prevalidatorOf(inside)?.(value.value) ?? [];
}

/** Validates one item as the validator would within the whole body. */
function run(schema: z.ZodType, value: unknown): { value: unknown; issues: RawIssue[] } {
  if (isQuicklyAccepted(schema, value)) return { value, issues: [] };
  const payload = { value, issues: [] as RawIssue[] };
  return schema._zod.run(payload, { async: false, reportInput: true }) as typeof payload;
}

function placed(issue: RawIssue, at: PropertyKey): RawIssue {
  return { ...issue, path: [at, ...(issue.path ?? [])] };
}

function* prevalidateList(schema: z.ZodType, parts: Parts & { kind: "list" }, list: unknown): Steps<void> {
  if (!Array.isArray(list) || (list.length > parts.max && list.length > shortList)) return;
  const prevalidate = prevalidatorOf(parts.item);
  const isInline = list.length <= longestInline || list.length > parts.max;
  const values: unknown[] = [];
  const issues: RawIssue[] = [];
  let wrong = 0;
  for (const [at, item] of list.entries()) {
    if (prevalidate !== undefined) yield* prevalidate(item);
    if (isInline) continue;
    const result = run(parts.item, item);
    values.push(result.value);
    for (const issue of result.issues) issues.push(placed(issue, at));
    wrong += result.issues.length > 0 ? 1 : 0;
    // More mistakes are not reported.
    if (wrong === (list.length > shortList ? mostWrongEntries : Infinity) || issues.length > mostErrors)
      break;
    yield;
  }
  const isGivenUp = list.length > shortList && issues.length > 0;
  if (!isInline) remember(schema, list, { value: values, issues, isGivenUp });
}

function* wrongEntries(
  schema: z.ZodType,
  entries: readonly [string, unknown][],
  isKey: boolean,
): Steps<RawIssue[]> {
  const issues: RawIssue[] = [];
  let wrong = 0;
  for (const [name, value] of entries) {
    const result = run(schema, isKey ? name : value);
    for (const issue of result.issues) issues.push(placed(issue, name));
    wrong += result.issues.length > 0 ? 1 : 0;
    if (wrong === mostWrongEntries) break;
    yield;
  }
  return issues;
}

function* outcomeOfMap(parts: Parts & { kind: "map" }, entries: [string, unknown][]): Steps<Outcome> {
  const issues = yield* wrongEntries(parts.key, entries, true);
  if (issues.length > 0) return { value: z.NEVER, issues, isGivenUp: true };
  issues.push(...(yield* wrongEntries(parts.value, entries, false)));
  if (issues.length > 0) return { value: z.NEVER, issues, isGivenUp: true };
  const value: Record<string, unknown> = {};
  for (const [name, given] of entries) {
    value[name] = run(parts.value, given).value;
    yield;
  }
  return { value, issues, isGivenUp: false };
}

function* prevalidateMap(schema: z.ZodType, parts: Parts & { kind: "map" }, map: unknown): Steps<void> {
  if (!isJsonObject(map)) return;
  const entries = Object.entries(map);
  if (entries.length > shortList) remember(schema, map, yield* outcomeOfMap(parts, entries));
}

/**
 * Validates what a caller sent as `safeParse` does, long lists and maps some items at a time.
 * @throws JsonError for exact JSON whose content cannot be read.
 */
export function* parseInSteps<S extends z.ZodType>(
  schema: S,
  value: unknown,
): Steps<z.ZodSafeParseResult<z.output<S>>> {
  const prevalidate = prevalidatorOf(schema);
  let readable = value;
  try {
    yield* prevalidate?.(value) ?? [];
    return schema.safeParse(value, withInput);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    readable = yield* withoutIncomparableLengths(value);
  }
  yield* prevalidate?.(readable) ?? [];
  return safeParse(schema, readable);
}
