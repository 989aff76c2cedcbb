import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { ExpressionError } from "../../src/domain/policy/errors.ts";
import { evaluateExpression, type ExpressionContext } from "../../src/domain/policy/expression/evaluate.ts";
import { parseExpression } from "../../src/domain/policy/expression/parser.ts";
import { parsePolicy } from "../../src/domain/policy/parse.ts";
import { showInput } from "../../src/contract/input-errors.ts";
import type { PolicyError } from "../../src/domain/policy/errors.ts";
import { policyInputErrors } from "../../src/domain/policy/errors.ts";

const page = readFileSync(new URL("../../docs/policies.md", import.meta.url), "utf8");

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, text]) => text!);
}

const known: ExpressionContext = {
  flow: { name: "web-ci", tags: { kind: "build", "risk-level": "10" } },
  artifact: { name: "registry.example.org/web:1.4", fingerprint: "ab".repeat(32) },
};

const rows = [...page.matchAll(/^\| `([^|]+)` \| (yes|no) \| (yes|no) \|$/gm)].map(
  ([, text, withFlow, without]) => [text!, withFlow!, without!] as const,
);

const refused = /^These conditions are refused, for instance: (.*?)\.\n*$/ms
  .exec(page)![1]!
  .match(/`[^`]+`/g)!;

describe("the page about policies", () => {
  it("has policies that are policies", () => {
    const policies = blocks("yaml");
    expect(policies.length).toBeGreaterThan(3);
    for (const text of policies) expect(parsePolicy(text).schema_version).toBe("1");
  });

  it("has a table of conditions", () => expect(rows.length).toBeGreaterThan(15));

  it.each(rows)("is right about %s", (text, withFlow, without) => {
    const expression = parseExpression(text);
    const told = (context: ExpressionContext): string =>
      evaluateExpression(expression, context) ? "yes" : "no";
    expect([told(known), told({ ...known, flow: null })]).toEqual([withFlow, without]);
  });

  it.each(refused.map((quoted) => quoted.slice(1, -1)))("is right that %s is refused", (text) => {
    expect(() => parseExpression(text)).toThrow(ExpressionError);
  });

  it("shows the mistake as the server does", () => {
    const [shown] = blocks("json");
    const text = `_schema: https://x.test/v1\nartifacts: {attestations: [{type: junit, if: '\${{ flow.name = "web-ci" }}'}]}`;
    const issues = (): unknown => {
      try {
        return parsePolicy(text);
      } catch (error) {
        return policyInputErrors((error as PolicyError).issues, "policy_file", showInput);
      }
    };
    expect(JSON.parse(shown!).errors).toEqual(issues());
  });
});
