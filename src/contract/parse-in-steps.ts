import { z } from "zod";

import { ExactJson } from "../lib/exact-json.ts";
import { readText } from "../lib/json.ts";
import type { Steps } from "../lib/steps.ts";
import { type Outcome, type Parts, partsOf, remember } from "./ahead.ts";
import { insideExact, schemasAround } from "./exact.ts";
import { mostErrors } from "./input-errors.ts";
import { enough, small } from "./lists.ts";
import { safeParse, withoutIncomparableLengths } from "./safe-parse.ts";

type RawIssue = z.core.$ZodRawIssue;
type Visit = (value: unknown) => Steps<void>;

/** Lists up to this size are validated with what is around them. */
const short = 20;

const visits = new WeakMap<object, { visit: Visit | undefined }>();

/** What to do ahead with values of a schema; undefined when there is nothing that can take long. */
function visitOf(schema: z.ZodType): Visit | undefined {
  const known = visits.get(schema);
  if (known !== undefined) return known.visit;
  const visit = newVisit(schema);
  visits.set(schema, { visit });
  return visit;
}

function newVisit(schema: z.ZodType): Visit | undefined {
  const parts = partsOf(schema);
  if (parts?.kind === "list") return (value) => visitList(schema, parts, value);
  if (parts?.kind === "map") return (value) => visitMap(schema, parts, value);
  const inside = insideExact(schema);
  if (inside !== undefined) return (value) => visitExact(inside, value);
  if (schema instanceof z.ZodObject) return visitOfObject(schema);
  const around = schemasAround(schema).flatMap((inner) => visitOf(inner) ?? []);
  if (around.length === 0) return undefined;
  return function* (value) {
    for (const visit of around) yield* visit(value);
  };
}

function visitOfObject(schema: z.ZodObject): Visit | undefined {
  const members = Object.entries<z.ZodType>(schema.shape).flatMap(([name, member]) => {
    const visit = visitOf(member);
    return visit === undefined ? [] : [{ name, visit }];
  });
  if (members.length === 0) return undefined;
  return function* (value) {
    if (typeof value !== "object" || value === null) return;
    for (const { name, visit } of members)
      if (Object.hasOwn(value, name)) yield* visit((value as Record<string, unknown>)[name]);
  };
}

function* visitExact(inside: z.ZodType, value: unknown): Steps<void> {
  if (!(value instanceof ExactJson)) return;
  value.remember(yield* readText(value.text));
  yield* visitOf(inside)?.(value.value) ?? [];
}

/** Validates one part as the validator does when it comes to it. */
function run(schema: z.ZodType, value: unknown): { value: unknown; issues: RawIssue[] } {
  const payload = { value, issues: [] as RawIssue[] };
  return schema._zod.run(payload, { async: false, reportInput: true }) as typeof payload;
}

function placed(issue: RawIssue, at: PropertyKey): RawIssue {
  return { ...issue, path: [at, ...(issue.path ?? [])] };
}

function* visitList(schema: z.ZodType, parts: Parts & { kind: "list" }, list: unknown): Steps<void> {
  if (!Array.isArray(list) || (list.length > parts.max && list.length > small)) return;
  const visit = visitOf(parts.item);
  const isShort = list.length <= short || list.length > parts.max;
  const values: unknown[] = [];
  const issues: RawIssue[] = [];
  let wrong = 0;
  for (const [at, item] of list.entries()) {
    if (visit !== undefined) yield* visit(item);
    if (isShort) continue;
    const result = run(parts.item, item);
    values.push(result.value);
    for (const issue of result.issues) issues.push(placed(issue, at));
    wrong += result.issues.length > 0 ? 1 : 0;
    // Of more nobody is told.
    if (wrong === (list.length > small ? enough : Infinity) || issues.length > mostErrors) break;
    yield;
  }
  const isGivenUp = list.length > small && issues.length > 0;
  if (!isShort) remember(schema, list, { value: values, issues, isGivenUp });
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
    if (wrong === enough) break;
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

function* visitMap(schema: z.ZodType, parts: Parts & { kind: "map" }, map: unknown): Steps<void> {
  if (typeof map !== "object" || map === null || Array.isArray(map)) return;
  const entries = Object.entries(map);
  if (entries.length > small) remember(schema, map, yield* outcomeOfMap(parts, entries));
}

/**
 * Validates what a caller sent as `safeParse` does: some of it at a time, if it is large.
 * @throws JsonError for JSON that is kept as it was written but cannot be looked into.
 */
export function* parseInSteps<S extends z.ZodType>(
  schema: S,
  value: unknown,
): Steps<z.ZodSafeParseResult<z.output<S>>> {
  const visit = visitOf(schema);
  let looked = value;
  try {
    yield* visit?.(value) ?? [];
    return schema.safeParse(value, { reportInput: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    looked = yield* withoutIncomparableLengths(value);
  }
  yield* visit?.(looked) ?? [];
  return safeParse(schema, looked);
}
