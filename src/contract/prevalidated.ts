import type { z } from "zod";

/** The schemas of a list's items, or of a map's keys and values. */
export type Parts =
  | { kind: "list"; item: z.ZodType; max: number }
  | { kind: "map"; key: z.ZodType; value: z.ZodType };

type RawIssue = z.core.$ZodRawIssue;

/** The result of validating a list or map ahead of the whole body. */
export interface Outcome {
  value: unknown;
  /** What is wrong, with paths that begin inside of it. */
  issues: readonly RawIssue[];
  /** Whether validation stopped early, as it does for long lists and maps with mistakes. */
  isGivenUp: boolean;
}

const partsOfSchemas = new WeakMap<object, Parts>();

/** Results by the validated value, then by its schema. They live no longer than the request. */
const outcomes = new WeakMap<object, Map<object, Outcome>>();

/** Finds the parts of a list or map schema; undefined for other schemas. */
export function partsOf(schema: z.ZodType): Parts | undefined {
  return partsOfSchemas.get(schema);
}

/** Stores the result of validating a value, to be used when the whole body is validated. */
export function remember(schema: z.ZodType, value: object, outcome: Outcome): void {
  const known = outcomes.get(value) ?? new Map<object, Outcome>();
  outcomes.set(value, known.set(schema, outcome));
}

/**
 * Lets values of a list or map schema be validated ahead, some items at a time. The schema then uses the stored result.
 */
export function prevalidatable<S extends z.ZodType>(schema: S, parts: Parts): S {
  partsOfSchemas.set(schema, parts);
  const whole = schema._zod.run;
  schema._zod.run = (payload, context) => {
    const { value } = payload;
    const known = typeof value === "object" && value !== null ? outcomes.get(value)?.get(schema) : undefined;
    if (known === undefined) return whole(payload, context);
    payload.value = known.value as typeof payload.value;
    // Copies: places are completed on the way out.
    for (const issue of known.issues) payload.issues.push({ ...issue, path: [...(issue.path ?? [])] });
    if (known.isGivenUp) payload.aborted = true;
    return payload;
  };
  return schema;
}
