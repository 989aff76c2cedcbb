import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { readYaml, YamlError } from "./yaml.ts";

const limits = { maxLength: 128 * 1024, maxValues: 20_000 };

function failure(text: string): YamlError {
  try {
    readYaml(text, limits);
  } catch (error) {
    if (error instanceof YamlError) return error;
    throw error;
  }
  throw new Error(`Accepted: ${text.slice(0, 100)}`);
}

describe("readYaml", () => {
  it.each([
    ["a: 1", new Map([["a", 1]])],
    ["[1, 2.5, true, null, ~, x, '1']", [1, 2.5, true, null, null, "x", "1"]],
    ["", null],
    ["# only a comment\n", null],
    ["\ufeffa: b", new Map([["a", "b"]])],
    ["---\na: b\n...\n", new Map([["a", "b"]])],
    ["1: x", new Map([["1", "x"]])],
    ["a: &x [1]\nb: *x", new Map([["a", [1]], ["b", [1]]])], // prettier-ignore
    ["yes: no", new Map([["yes", "no"]])],
    ["<<: {a: 1}", new Map([["<<", new Map([["a", 1]])]])],
    ["__proto__: x", new Map([["__proto__", "x"]])],
    ["%YAML 1.1\n---\nyes", "yes"],
  ])("reads %j", (text, value) => {
    expect(readYaml(text, limits)).toEqual(value);
  });

  it.each([
    ["a: 1\nb: 2\na: 3", "Key 'a' is given twice", 3],
    ["{a: 1, a: 2}", "Key 'a' is given twice", 1],
    ["1: x\n'1': y", "Key '1' is given twice", 2],
    ["a: b\n---\nc: d", "Expected one document, found more", undefined],
    ["a: !custom b", "Unresolved tag: !custom", 1],
    ["a: !!binary aGk=", "Unresolved tag: tag:yaml.org,2002:binary", 1],
    ["? [a]\n: b", "Keys must be plain text", 1],
    ["a: *nowhere", "Alias '*nowhere' has no anchor", 1],
    ["a: &a [*a]", "Alias '*a' has no anchor", 1],
  ])("refuses %j", (text, reason, line) => {
    expect(failure(text)).toMatchObject({ message: reason, line });
  });

  it.each(["a: [", "a: 'x", "\t- a", "a: b: c", "]", "@x", "%", "&a &b c", "{a: 1", "key: |x\n"])(
    "refuses the malformed text %j",
    (text) => {
      expect(failure(text).message).not.toBe("");
    },
  );

  it("bounds what aliases come to", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let level = 1; level < 20; level += 1)
      lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
    expect(failure(lines.join("\n")).message).toBe("Document has more than 20000 values");
  });

  it("bounds length, depth and messages", () => {
    expect(failure("x".repeat(limits.maxLength + 1)).message).toContain("longer than 131072");
    for (const text of ["[", "{", "- ", "? ", "a: ", "[{"])
      expect(failure(text.repeat(20_000)).message).toBe("Nesting is deeper than 32 levels");
    expect(failure("!".repeat(50_000)).message.length).toBeLessThan(250);
  });

  it("takes linear time for texts made to be slow", () => {
    const units = [",", "]", '"', "'", "!a ", "&a ", "[]", "#\n", "\n", "---\n", "%A\n", "a\n ", "? \n", "- |\n", "\\", "::", "|\n a\n"]; // prettier-ignore
    const started = performance.now();
    for (const unit of units)
      for (const start of ["", "[", '"', "a: "])
        try {
          readYaml(start + unit.repeat(10_000 / unit.length), limits);
        } catch (error) {
          expect(error).toBeInstanceOf(YamlError);
        }
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("throws nothing but its own error", () => {
    const fragments = fc.constantFrom("a", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "&x ", "*x", "!t ", "!!map ", "|", ">", "'", '"', "\\", "#", "---\n", "...\n", "%YAML 9\n", "? ", "<<: ", "\0", "\t", "\r", "\ufeff", "\ud800", "1e9", "0x1", "~"); // prettier-ignore
    const text = fc.oneof(
      fc.array(fragments, { maxLength: 40 }).map((parts) => parts.join("")),
      fc.string({ unit: "binary", maxLength: 80 }),
    );
    fc.assert(
      fc.property(text, (source) => {
        try {
          readYaml(source, limits);
        } catch (error) {
          expect(error).toBeInstanceOf(YamlError);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("reads JSON as the same values", () => {
    const plain = (value: unknown): unknown => {
      if (value instanceof Map)
        return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
      return Array.isArray(value) ? value.map(plain) : value;
    };
    const letters = fc.string({ unit: "grapheme", maxLength: 8 });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(letters, fc.integer(), fc.boolean(), fc.constant(null)),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(letters, tie("value"), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => {
        expect(plain(readYaml(JSON.stringify(json), limits))).toEqual(json);
      }),
    );
  });
});
