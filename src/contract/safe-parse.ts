import type { z } from "zod";

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
