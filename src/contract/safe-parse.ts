import { z } from "zod";

import type { Steps } from "../lib/steps.ts";
import type { LongList } from "./endpoint.ts";

/** Whether comparing it with a number throws. */
function isIncomparable(value: unknown): boolean {
  try {
    Number(value);
    return false;
  } catch {
    return true;
  }
}

function withoutIncomparableLengths(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutIncomparableLengths);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "length" && isIncomparable(inner) ? null : withoutIncomparableLengths(inner),
    ]),
  );
}

/**
 * Validates what a caller sent, and never throws. The validator compares the `length` of whatever stands where a text or
 * a list should be; an object in its place may carry one that cannot be compared (`{"length": {"toString": 1}}`). Such a
 * body is looked at once more without it, to be refused for what else is wrong with it.
 */
export function safeParse<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  try {
    return schema.safeParse(value, { reportInput: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return schema.safeParse(withoutIncomparableLengths(value), { reportInput: true });
  }
}

/** Items that are validated before somebody else may do something: each may hold a hundred others. */
const itemsInOneGo = 20;

/** Of a long list no more items than this are told to be wrong. */
const mostWrong = 20;

type Issue = z.core.$ZodIssue;

/** The same mistakes, with their place in the whole list; of what is beside the list only those found first. */
function placed(issues: readonly Issue[], key: string, from: number): Issue[] {
  return issues.flatMap((issue) => {
    const [first, at, ...rest] = issue.path;
    if (first === key && typeof at === "number") return { ...issue, path: [key, at + from, ...rest] };
    return from === 0 ? issue : [];
  });
}

function listIn(value: unknown, { key, max }: LongList): unknown[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const list = (value as Record<string, unknown>)[key];
  return Array.isArray(list) && list.length > itemsInOneGo && list.length <= max ? list : undefined;
}

/** Validates an object with a long list in it as `safeParse` does, some items at a time. */
export function* parseLong<S extends z.ZodType>(
  schema: S,
  value: unknown,
  long: LongList,
): Steps<z.ZodSafeParseResult<z.output<S>>> {
  const list = listIn(value, long);
  if (list === undefined) return safeParse(schema, value);
  const { key } = long;
  const items: unknown[] = [];
  const issues: Issue[] = [];
  const wrong = new Set<unknown>();
  let data: Record<string, unknown> = {};
  for (let from = 0; from < list.length && wrong.size < mostWrong; from += itemsInOneGo) {
    const part = { ...(value as object), [key]: list.slice(from, from + itemsInOneGo) };
    const parsed = safeParse(schema, part);
    if (parsed.success) {
      data = parsed.data as Record<string, unknown>;
      items.push(...(data[key] as unknown[]));
    } else
      for (const issue of placed(parsed.error.issues, key, from)) {
        wrong.add(issue.path[1]);
        if (wrong.size <= mostWrong) issues.push(issue);
      }
    yield;
  }
  if (issues.length > 0) return { success: false, error: new z.ZodError(issues) as z.ZodError<z.output<S>> };
  return { success: true, data: { ...data, [key]: items } as z.output<S> };
}
