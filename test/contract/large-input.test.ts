import { describe, expect, it } from "vitest";

import { inputErrors } from "../../src/contract/input-errors.ts";
import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { inputJsonSchema } from "../support/json-schema.ts";

/** Enough to overflow the stack where a call takes one argument for each. */
const many = 130_000;
const zeros = Array.from({ length: many }, () => 0);

/** Values of which nearly every part is wrong, whatever is asked for. */
const wrong: Record<string, unknown> = {
  "a long list of numbers": zeros,
  "a long list of objects": Array.from({ length: many }, () => ({ "=.": 1 })),
  "a long list of equal texts": Array.from({ length: many }, () => "=."),
  "a large map": Object.fromEntries(zeros.map((_, index) => [`=.${index}`, index])),
  "long lists in an object": {
    name: "x",
    url: "x",
    sha1: "x",
    author: "x",
    parents: zeros,
    namespace_path: zeros,
    additional_info: zeros,
  },
};

/** Keys that nobody knows, one of them long. Made once, which takes longer than to refuse it. */
const unknown = { [`k${"x".repeat(1_000_000)}`]: 1, ...(wrong["a large map"] as object) };

const bodies = Object.entries(endpoints as Record<string, Endpoint>).flatMap(([id, { body }]) =>
  body === undefined || body.kind === "raw" ? [] : [{ id, schema: body.schema }],
);

/** Names of the body's own fields, wherever the schema has them. */
function fieldsOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") for (const name of Object.keys(value as object)) found.add(name);
    fieldsOf(value, found);
  }
  return found;
}

describe("a body in which very much is wrong", () => {
  it.each(bodies)("is refused by $id without telling all of it", ({ schema }) => {
    const fields = [...fieldsOf(inputJsonSchema(schema))];
    for (const [what, value] of Object.entries(wrong)) {
      const body = Object.fromEntries(fields.map((field) => [field, value]));
      const parsed = schema.safeParse(body, { reportInput: true });
      expect(parsed.success, what).toBe(false);
      expect(parsed.error!.issues.length, what).toBeLessThan(1500);
      const errors = inputErrors("", parsed.error!);
      expect(Object.keys(errors).length, what).toBeGreaterThan(0);
      expect(JSON.stringify(errors).length, what).toBeLessThan(100_000);
    }
  });

  it.each(bodies)("is answered briefly by $id when its keys are unknown and long", ({ schema }) => {
    const parsed = schema.safeParse(unknown, { reportInput: true });
    // Where nothing is required and other keys are ignored, nothing is wrong with it.
    const errors = parsed.success ? {} : inputErrors("", parsed.error);
    expect(JSON.stringify(errors).length).toBeLessThan(100_000);
  });
});
