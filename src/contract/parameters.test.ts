import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { inputErrors } from "./input-errors.ts";
import {
  booleanParameter,
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  quotedChoices,
  textParameter,
  timestampParameter,
} from "./parameters.ts";

function read(schema: z.ZodType, value: unknown): unknown {
  const parsed = z.object({ p: schema }).safeParse({ p: value }, { reportInput: true });
  return parsed.success ? parsed.data.p : inputErrors("query", parsed.error);
}

const noInteger = "Input should be a valid integer, unable to parse string as an integer";
const noNumber = "Input should be a valid number, unable to parse string as a number";
const noBoolean = "Input should be a valid boolean, unable to interpret input";

describe("integerParameter", () => {
  it.each([
    ["0", 0],
    ["17", 17],
    ["+17", 17],
    ["-3", -3],
    [" 5 ", 5],
    ["007", 7],
    [["1", "2"], 2],
  ])("reads %j as %d", (text, value) => expect(read(integerParameter(), text)).toBe(value));

  it.each(["", " ", "1.0", "1e3", "0x10", "one", "1_000", "9".repeat(16), "NaN", "Infinity", "١"])(
    "refuses %j",
    (text) => expect(read(integerParameter(), text)).toEqual({ "query.p": `${noInteger} [input: ${text}]` }),
  );

  it("keeps to its range, ends included", () => {
    const schema = integerParameter({ min: 1, max: 50 });
    expect([read(schema, "1"), read(schema, "50")]).toEqual([1, 50]);
    expect(read(schema, "0")).toEqual({ "query.p": "Input should be greater than or equal to 1 [input: 0]" });
    expect(read(schema, "51")).toEqual({ "query.p": "Input should be less than or equal to 50 [input: 51]" });
    expect(read(pageParameter(), "1000000")).toBe(1_000_000);
    expect(read(pageParameter(), "1000001")).toEqual({
      "query.p": "Input should be less than or equal to 1000000 [input: 1000001]",
    });
  });
});

describe("timestampParameter", () => {
  it.each([
    ["0", 0],
    ["1787150398.6166384", 1787150398.6166384],
    ["12.", 12],
    ["253402300799", 253_402_300_799],
    ["1e9", 1e9],
    ["1.5E+3", 1500],
    ["12e-1", 1.2],
    [".5", 0.5],
    ["+1", 1],
    [" 1 ", 1],
    ["1e-400", 0],
  ])("reads %j", (text, value) => expect(read(timestampParameter(), text)).toBe(value));

  it.each([
    "",
    ".",
    "e3",
    "1e",
    "1e1.5",
    "0x10",
    "1_000",
    "now",
    "2026-01-01",
    "NaN",
    "Infinity",
    "inf",
    "١",
  ])("refuses %j", (text) =>
    expect(read(timestampParameter(), text)).toEqual({ "query.p": `${noNumber} [input: ${text}]` }),
  );

  it("stays where the database has moments", () => {
    expect(read(timestampParameter(), "-1")).toEqual({
      "query.p": "Input should be greater than or equal to 0 [input: -1]",
    });
    expect(read(timestampParameter(), "253402300800")).toEqual({
      "query.p": "Input should be less than or equal to 253402300799 [input: 253402300800]",
    });
    for (const text of ["1e400", "1".repeat(16)])
      expect(read(timestampParameter(), text)).toEqual({
        "query.p": `Input should be less than or equal to 253402300799 [input: ${text}]`,
      });
  });
});

describe("booleanParameter", () => {
  it.each(["true", "True", "TRUE", "1", "yes", "on", "t", "y"])("reads %s as true", (text) =>
    expect(read(booleanParameter(), text)).toBe(true),
  );

  it.each(["false", "False", "0", "no", "off", "f", "n"])("reads %s as false", (text) =>
    expect(read(booleanParameter(), text)).toBe(false),
  );

  it.each(["", "2", "tru", "null"])("refuses %j", (text) =>
    expect(read(booleanParameter(), text)).toEqual({ "query.p": `${noBoolean} [input: ${text}]` }),
  );

  it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
    "is not misled by %s, which every object has",
    (text) => expect(read(booleanParameter(), text)).toEqual({ "query.p": `${noBoolean} [input: ${text}]` }),
  );
});

describe("choices", () => {
  it("are quoted and joined", () => {
    expect(quotedChoices([])).toBe("");
    expect(quotedChoices(["a"])).toBe("'a'");
    expect(quotedChoices(["a", "b"])).toBe("'a' or 'b'");
    expect(quotedChoices(["a", "b", 3])).toBe("'a', 'b' or 3");
  });

  it("are taken in their exact spelling", () => {
    const schema = choiceParameter(["asc", "desc"]);
    expect(read(schema, "desc")).toBe("desc");
    for (const text of ["", "ASC", " asc", "a"])
      expect(read(schema, text)).toEqual({ "query.p": `Input should be 'asc' or 'desc' [input: ${text}]` });
  });
});

describe("listParameter", () => {
  const schema = listParameter(choiceParameter(["K8S", "ECS"]));

  it("takes one, several or none", () => {
    expect(read(schema, undefined)).toBeUndefined();
    expect(read(schema, "K8S")).toEqual(["K8S"]);
    expect(read(schema, ["ECS", "K8S", "ECS"])).toEqual(["ECS", "K8S", "ECS"]);
  });

  it("names the wrong one", () => {
    expect(read(schema, ["K8S", "k8s"])).toEqual({
      "query.p[1]": "Input should be 'K8S' or 'ECS' [input: k8s]",
    });
  });

  it("is not endless", () => {
    const errors = read(
      listParameter(textParameter()),
      Array.from({ length: 1001 }, () => "x"),
    );
    expect(errors).toEqual({
      "query.p": expect.stringMatching(/^List should have at most 1000 items \[input: /),
    });
  });
});

describe("every parameter", () => {
  it("reads any text, once or repeated, or says why not", () => {
    const schemas = [
      integerParameter({ min: -5, max: 5 }),
      timestampParameter(),
      booleanParameter(),
      textParameter(),
      choiceParameter(["a"]),
      listParameter(integerParameter()),
    ];
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(
        fc.constantFrom(...schemas),
        fc.oneof(text, fc.array(text, { minLength: 1 })),
        (schema, value) => {
          const parsed = z.object({ p: schema.optional() }).safeParse({ p: value }, { reportInput: true });
          const errors = parsed.success ? { fine: "[input: x]" } : inputErrors("query", parsed.error);
          for (const reason of Object.values(errors)) expect(reason).toMatch(/\[input: [^]*\]$/);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
