import fc from "fast-check";
import { z } from "zod";

import { inputJsonSchema, type JsonSchema } from "./json-schema.ts";

/** Text that breaks careless programs. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "'; drop table users; --",
    "%",
    "_%\\",
    "../../../etc/passwd",
    "${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "__proto__",
    "constructor",
    "-1",
    "1e309",
    "NaN",
    "null",
    "\u202e\u0000\uffff",
    "𐀀".repeat(50),
    "a".repeat(3_000),
    "b".repeat(1_000_000),
  ),
  fc.string({ unit: "binary", maxLength: 60 }),
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Any JSON value, and some that no honest client sends. */
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1.5,
      1e308,
      -1e308,
      9_007_199_254_740_993,
      2 ** 31,
      -(2 ** 63),
      [],
      {},
      [null],
      [[]],
      { "": "" },
      { "a.b": { "=": 1 } },
      nested(50),
      nested(400),
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
);

const plainText = fc.constantFrom(
  "a",
  "web-ci",
  "x1",
  "a".repeat(64),
  "1".repeat(40),
  "https://x.test/y",
  "a@x.test",
);

/** Values that fit a JSON Schema more often than not. */
function fitting(schema: JsonSchema, depth = 0): fc.Arbitrary<unknown> {
  if (depth > 6) return fc.constant(null);
  if (Array.isArray(schema["enum"])) return fc.constantFrom<unknown>(...(schema["enum"] as unknown[]));
  if ("const" in schema) return fc.constant(schema["const"]);
  const alternatives = (schema["anyOf"] ?? schema["oneOf"]) as JsonSchema[] | undefined;
  if (alternatives !== undefined)
    return fc.oneof(...alternatives.map((option) => fitting(option, depth + 1)));
  switch (schema["type"]) {
    case "string":
      return plainText;
    case "integer":
      return fc.integer({ min: 0, max: 2_000_000_000 });
    case "number":
      return fc.double({ min: 0, max: 4e9, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(fitting((schema["items"] ?? {}) as JsonSchema, depth + 1), { maxLength: 3 });
    case "object":
      return fittingObject(schema, depth);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function fittingObject(schema: JsonSchema, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  if (properties.length > 0) {
    const model = Object.fromEntries(properties.map(([name, value]) => [name, fitting(value, depth + 1)]));
    return fc.record(model, { requiredKeys: (schema["required"] ?? []) as string[] });
  }
  const values = schema["additionalProperties"];
  return fc.dictionary(
    fc.constantFrom("key", "a-b", "k_1"),
    fitting((typeof values === "object" ? values : {}) as JsonSchema, depth + 1),
    { maxKeys: 3 },
  );
}

/** Puts a hostile value somewhere into an otherwise fitting one. */
function spoil(value: unknown, path: number[], poison: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return poison;
  const entries = Object.entries(value);
  if (entries.length === 0) return poison;
  const index = step % entries.length;
  const changed = entries.map(([key, item], place) => [
    key,
    place === index ? spoil(item, rest, poison) : item,
  ]);
  return Array.isArray(value) ? changed.map(([, item]) => item) : Object.fromEntries(changed);
}

/** Bodies for a schema: fitting ones, fitting ones with one hostile value inside, and hostile values altogether. */
export function bodiesFor(schema: z.ZodType): fc.Arbitrary<unknown> {
  const json = inputJsonSchema(schema);
  const good = fitting(json);
  const path = fc.array(fc.nat(20), { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 3, arbitrary: good },
    {
      weight: 6,
      arbitrary: fc.tuple(good, path, hostileValue).map(([value, at, poison]) => spoil(value, at, poison)),
    },
    { weight: 1, arbitrary: hostileValue },
  );
}

/** Query strings for a schema's parameters, with hostile values and repetitions. */
export function queriesFor(schema: z.ZodType | undefined): fc.Arbitrary<string> {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const name = fc.constantFrom("unknown", ...names);
  const value = fc.oneof(
    hostileText.map((text) => text.slice(0, 2_000)),
    fc.constantFrom(
      "1",
      "0",
      "50",
      "true",
      "asc",
      "name",
      "key:value",
      "1786000000.5",
      "99999999999999999999",
    ),
  );
  return fc
    .array(fc.tuple(name, value), { maxLength: 4 })
    .map((pairs) => pairs.map(([key, text]) => `${key}=${encode(text)}`).join("&"));
}

/** Percent-encoding that does not mind unpaired surrogates. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
