import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { environmentNamePattern } from "../domain/names.ts";
import { integer, nameText } from "./common.ts";
import { inputErrors, showInput } from "./input-errors.ts";

function errorsOf(schema: z.ZodType, value: unknown, prefix = "") {
  const parsed = schema.safeParse(value, { reportInput: true });
  return parsed.success ? undefined : inputErrors(prefix, parsed.error);
}

describe("showInput", () => {
  it.each([
    [undefined, "None"],
    [null, "None"],
    [true, "True"],
    [false, "False"],
    ["", ""],
    ["new illegal name", "new illegal name"],
    [17, "17"],
    [1.5, "1.5"],
    [[1, "a", null], '[1,"a",null]'],
    [{ a: { b: true } }, '{"a":{"b":true}}'],
    ["x".repeat(200), "x".repeat(200)],
    ["x".repeat(201), `${"x".repeat(200)}…`],
    [Symbol("s"), "symbol"],
  ])("shows %j as %s", (value, text) => expect(showInput(value)).toBe(text));
});

describe("inputErrors", () => {
  const Body = z.strictObject({
    name: nameText(environmentNamePattern).optional(),
    text: z.string().min(2).max(3).optional(),
    number: z.number().min(1).max(5).optional(),
    open: z.number().gt(1).lt(5).optional(),
    whole: integer().max(9).optional(),
    flag: z.boolean().optional(),
    list: z.array(z.string()).min(1).max(2).optional(),
    nested: z.array(z.object({ digests: z.record(z.string(), z.string()) })).optional(),
    word: z.enum(["asc", "desc"]).optional(),
    words: z.enum(["name", "last_modified_at", "last_changed_at"]).optional(),
    fixed: z.literal("env").optional(),
    mail: z.email().optional(),
    url: z.url().optional(),
    either: z.union([z.string(), z.object({ a: z.number() })]).optional(),
  });

  it.each<[Record<string, unknown>, string, string]>([
    [
      { name: "new illegal name" },
      "name",
      "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_]*$' [input: new illegal name]",
    ],
    [{ name: 1 }, "name", "Input should be a valid string [input: 1]"],
    [{ name: null }, "name", "Input should be a valid string [input: None]"],
    [{ text: "a" }, "text", "String should have at least 2 characters [input: a]"],
    [{ text: "abcd" }, "text", "String should have at most 3 characters [input: abcd]"],
    [{ number: "1" }, "number", "Input should be a valid number [input: 1]"],
    [{ number: 0 }, "number", "Input should be greater than or equal to 1 [input: 0]"],
    [{ number: 6 }, "number", "Input should be less than or equal to 5 [input: 6]"],
    [{ open: 1 }, "open", "Input should be greater than 1 [input: 1]"],
    [{ open: 5 }, "open", "Input should be less than 5 [input: 5]"],
    [{ whole: 1.5 }, "whole", "Input should be a valid integer [input: 1.5]"],
    [{ whole: null }, "whole", "Input should be a valid integer [input: None]"],
    [{ whole: "1" }, "whole", "Input should be a valid integer [input: 1]"],
    [{ whole: 10 }, "whole", "Input should be less than or equal to 9 [input: 10]"],
    [{ flag: "yes" }, "flag", "Input should be a valid boolean [input: yes]"],
    [{ list: "a" }, "list", "Input should be a valid list [input: a]"],
    [{ list: [] }, "list", "List should have at least 1 item [input: []]"],
    [{ list: ["a", "b", "c"] }, "list", 'List should have at most 2 items [input: ["a","b","c"]]'],
    [{ list: ["a", 2] }, "list[1]", "Input should be a valid string [input: 2]"],
    [{ nested: [{}] }, "nested[0].digests", "Field required [input: None]"],
    [{ nested: [{ digests: "" }] }, "nested[0].digests", "Input should be a valid dictionary [input: ]"],
    [{ nested: [{ digests: { a: 1 } }] }, "nested[0].digests.a", "Input should be a valid string [input: 1]"],
    [
      { nested: [1] },
      "nested[0]",
      "Input should be a valid dictionary or object to extract fields from [input: 1]",
    ],
    [
      { number: "" },
      "number",
      "Input should be a valid number, unable to parse string as a number [input: ]",
    ],
    [{ number: "1e3" }, "number", "Input should be a valid number [input: 1e3]"],
    [
      { whole: "1.5" },
      "whole",
      "Input should be a valid integer, unable to parse string as an integer [input: 1.5]",
    ],
    [{ flag: "" }, "flag", "Input should be a valid boolean, unable to interpret input [input: ]"],
    [
      { flag: "constructor" },
      "flag",
      "Input should be a valid boolean, unable to interpret input [input: constructor]",
    ],
    [{ flag: 1 }, "flag", "Input should be a valid boolean [input: 1]"],
    [{ word: "" }, "word", "Input should be 'asc' or 'desc' [input: ]"],
    [{ words: "x" }, "words", "Input should be 'name', 'last_modified_at' or 'last_changed_at' [input: x]"],
    [{ fixed: "flow" }, "fixed", "Input should be 'env' [input: flow]"],
    [{ mail: "x" }, "mail", "value is not a valid email address [input: x]"],
    [{ url: "x" }, "url", "Input should be a valid URL [input: x]"],
    [
      { either: { a: "x" } },
      "either.a",
      "Input should be a valid number, unable to parse string as a number [input: x]",
    ],
    [{ typo: { a: 1 } }, "typo", 'Extra inputs are not permitted [input: {"a":1}]'],
  ])("says of %j at %s: %s", (value, location, text) => {
    expect(errorsOf(Body, value)).toEqual({ [location]: text });
  });

  it("says which fields are missing, all at once", () => {
    expect(errorsOf(z.object({ a: z.string(), b: z.array(z.string()) }), {})).toEqual({
      a: "Field required [input: None]",
      b: "Field required [input: None]",
    });
  });

  it("says the same of a choice that is missing, and of one between types", () => {
    const either = z.union([z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]);
    const schema = z.object({ choice: z.enum(["a", "b"]), only: z.literal("x"), either });
    expect(errorsOf(schema, {})).toEqual({
      choice: "Field required [input: None]",
      only: "Field required [input: None]",
      either: "Field required [input: None]",
    });
    expect(errorsOf(schema, { choice: null, only: "x", either: { kind: "a" } })).toEqual({
      choice: "Input should be 'a' or 'b' [input: None]",
    });
  });

  it("puts the place before the location, and calls the body as a whole body", () => {
    expect(errorsOf(z.object({ page: z.number() }), {}, "query")).toEqual({
      "query.page": "Field required [input: None]",
    });
    expect(errorsOf(z.object({}), [])).toEqual({
      body: "Input should be a valid dictionary or object to extract fields from [input: []]",
    });
    expect(errorsOf(z.record(z.string(), z.string()), [])).toEqual({
      body: "Input should be a valid dictionary [input: []]",
    });
    expect(errorsOf(z.object({}), undefined)).toEqual({ body: "Field required [input: None]" });
  });

  it.each(["constructor", "toString", "__proto__"])("has a place for a key called %s", (key) => {
    const errors = errorsOf(z.record(z.string(), z.number()), JSON.parse(`{"${key}":"x"}`));
    const strict = errorsOf(z.strictObject({}), JSON.parse(`{"${key}":"x"}`));
    expect(Object.entries(strict ?? {})).toEqual([[key, "Extra inputs are not permitted [input: x]"]]);
    expect(Object.keys(errors ?? {})).toEqual(key === "__proto__" ? [] : [key]);
  });

  it("keeps the first of several mistakes in one place", () => {
    expect(errorsOf(z.object({ a: z.string().min(3).regex(/^b/) }), { a: "a" })).toEqual({
      a: "String should have at least 3 characters [input: a]",
    });
  });

  it("turns any JSON value that is refused into texts, and never throws", () => {
    const schemas = [
      Body,
      z.array(Body),
      z.record(nameText(environmentNamePattern), z.union([z.int(), z.array(z.boolean())])),
      z.discriminatedUnion("type", [z.object({ type: z.literal("a") }), z.object({ type: z.literal("b") })]),
      z.tuple([z.string(), z.number()]),
    ];
    const keys = fc.constantFrom(...Object.keys(Body.shape), "typo", "type", "digests", "__proto__", "");
    const value = fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue({ maxDepth: 3 })));
    fc.assert(
      fc.property(fc.constantFrom(...schemas), value, (schema, given) => {
        const errors = errorsOf(schema, given) ?? { fine: "[input: x]" };
        expect(Object.keys(errors)).not.toEqual([]);
        for (const text of Object.values(errors)) {
          expect(text).toMatch(/\[input: [^]*\]$/);
          expect(text.length).toBeLessThan(700);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
