import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { FormatError, type FormatIssue } from "../lib/yaml-format.ts";
import { parsePolicy } from "./policy/parse.ts";
import { parseTemplate } from "./template/parse.ts";

/** A document, and what was said of it when it was recorded. Texts and their order are part of the interface. */
interface Recorded {
  text: string;
  value?: unknown;
  /** Path, reasons, and what stands there: of a long text its length. */
  issues?: [path: string, reasons: string, input?: unknown][];
}

function recorded(name: string): Recorded[] {
  const file = new URL(`../../test/support/fixtures/${name}-as-read.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Recorded[];
}

function shown({ path, reasons, input }: FormatIssue): [string, string, unknown?] {
  const where = [path.join("/"), reasons.join("; ")] as const;
  if (input === undefined) return [...where];
  return [...where, typeof input === "string" && input.length > 80 ? input.length : input];
}

function readBy(parse: (text: string) => unknown, text: string): Omit<Recorded, "text"> {
  try {
    return { value: parse(text) };
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { issues: error.issues.map(shown) };
  }
}

describe.each([
  { name: "policies", parse: parsePolicy },
  { name: "templates", parse: parseTemplate },
])("$name", ({ name, parse }) => {
  it.each(recorded(name))("are read as ever: $text", ({ text, ...expected }) => {
    expect(JSON.parse(JSON.stringify(readBy(parse, text)))).toEqual(expected);
  });
});

describe("a policy with more mistakes than are told", () => {
  it("still tells at which one reading stops", () => {
    const exceptions = `[&e {if: x}${", *e".repeat(60)}]`;
    const rules = `[&a {type: "*"}${", *a".repeat(450)}]`;
    const text = `_schema: https://x.test/v1\nartifacts: {provenance: {required: true, exceptions: ${exceptions}}, attestations: ${rules}}`;
    const { issues = [] } = readBy(parsePolicy, text);
    expect(issues).toHaveLength(51);
    expect(issues[49]?.[0]).toBe("artifacts/provenance/exceptions/49/if");
    expect(issues[50]).toEqual([
      "artifacts/attestations/438",
      "A policy may have at most 500 rules and exceptions together",
    ]);
  });
});
