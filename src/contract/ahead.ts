import type { z } from "zod";

/** What a list or a map is made of. */
export type Parts =
  | { kind: "list"; item: z.ZodType; max: number }
  | { kind: "map"; key: z.ZodType; value: z.ZodType };

type RawIssue = z.core.$ZodRawIssue;

/** What came of validating something ahead. */
export interface Outcome {
  value: unknown;
  /** With places inside of it. */
  issues: readonly RawIssue[];
  /** Whether what is wrong was told before the whole was looked at. */
  isGivenUp: boolean;
}

const partsOfSchemas = new WeakMap<object, Parts>();

/** By what was validated, then by the schema. Both live no longer than the request. */
const outcomes = new WeakMap<object, Map<object, Outcome>>();

/** What a schema was made of; undefined for one that is not a long list or map. */
export function partsOf(schema: z.ZodType): Parts | undefined {
  return partsOfSchemas.get(schema);
}

/** Keeps what came of validating a value, for when the whole that it stands in is validated. */
export function remember(schema: z.ZodType, value: object, outcome: Outcome): void {
  const known = outcomes.get(value) ?? new Map<object, Outcome>();
  outcomes.set(value, known.set(schema, outcome));
}

/** Marks a schema of a list or a map, whose parts may be validated ahead, some at a time. Then they are not again. */
export function divisible<S extends z.ZodType>(schema: S, parts: Parts): S {
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
