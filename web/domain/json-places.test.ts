import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { mistakeInJson, placeInJson } from "./json-places.ts";

const schema = `{
  "type": "object",
  "properties": {
    "a/b": { "type": "nummer" },
    "list": [1, {"x": "}\\""}, [2]]
  }
}`;

const inPointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Whether a text is JSON with an object at its top, in the eyes of the language itself. */
function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

describe("places in JSON", () => {
  it("finds keys and items by pointer", () => {
    expect(placeInJson(schema, "/type")).toEqual({ line: 2, column: 3 });
    expect(placeInJson(schema, "/properties/a~1b/type")).toEqual({ line: 4, column: 14 });
    expect(placeInJson(schema, "/properties/list/1/x")).toEqual({ line: 5, column: 18 });
    expect(placeInJson(schema, "/properties/list/2/0")).toEqual({ line: 5, column: 32 });
    expect(placeInJson(schema, "/properties/gone/deeper")).toEqual({ line: 3, column: 3 });
    expect(placeInJson(schema, "")).toEqual({ line: 1, column: 1 });
  });

  it("finds every value of any JSON, however it is written", () => {
    fc.assert(
      fc.property(fc.object({ maxDepth: 3 }), fc.constantFrom(0, 1, 2), (value, indent) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        const text = JSON.stringify(plain, null, indent);
        const lines = text.split("\n");
        const visit = (one: unknown, pointer: string, key: string | undefined): void => {
          const { line, column } = placeInJson(text, pointer);
          const rest = lines[line - 1]?.slice(column - 1) ?? "";
          const first = JSON.stringify(one, null, indent).split("\n")[0] ?? "";
          expect(rest.startsWith(key === undefined ? first : JSON.stringify(key))).toBe(true);
          if (typeof one !== "object" || one === null) return;
          for (const [name, child] of Object.entries(one))
            visit(child, `${pointer}/${inPointer(name)}`, Array.isArray(one) ? undefined : name);
        };
        visit(plain, "", undefined);
      }),
      { numRuns: 40 },
    );
  });

  it("takes the same texts as the language does", () => {
    const nearJson = fc.oneof(
      fc.json(),
      fc
        .tuple(fc.json(), fc.nat(60), fc.constantFrom("", ",", "}", '"', "0", "x", "\n", "\\"))
        .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + 1)),
    );
    fc.assert(
      fc.property(nearJson, (text) => {
        expect(mistakeInJson(text) === undefined).toBe(isObject(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it("says where a text stops being JSON", () => {
    expect(mistakeInJson('{"a": 1}\n')).toBeUndefined();
    expect(mistakeInJson(" []")).toMatchObject({
      line: 1,
      column: 2,
      message: "This has to be an object: { … }",
    });
    expect(mistakeInJson('{\n  "a": oops\n}')).toMatchObject({
      line: 2,
      column: 8,
      message: "Expected a value here",
    });
    expect(mistakeInJson('{\n  "a": 1')).toMatchObject({
      line: 2,
      column: 9,
      message: "Expected , or } here",
    });
    expect(mistakeInJson('{"a": 1,}')).toMatchObject({ line: 1, column: 9 });
    expect(mistakeInJson("{} {}")).toMatchObject({ line: 1, column: 4 });
  });
});
