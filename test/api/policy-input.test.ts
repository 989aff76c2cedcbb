import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { policyText, putPolicy } from "../support/policies.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

/** Accepted, or refused with a place and a reason for each mistake. */
async function send(content: string | Buffer): Promise<number> {
  const { status, json } = await putPolicy(org.member, org.name, { name: "p" }, content);
  if (status === 400) {
    const places = Object.entries(json.errors as Record<string, string>);
    expect(places.length).toBeGreaterThan(0);
    for (const [place, reason] of places) {
      expect(place).toMatch(/^policy_file(?:$|\.|\[)/);
      expect(reason).toMatch(/^[^[].* \[input: .*\]$/s);
    }
  } else expect([200, 201]).toContain(status);
  return status;
}

const words = fc.constantFrom(
  "_schema", "https://x.test/v1", "https://x.test/v2", "artifacts", "provenance", "trail-compliance", "attestations",
  "required", "exceptions", "if", "type", "name", "must_be_compliant", "for_control", "true", "no", "~", "junit", "*",
  "decision", "custom:x", "${{ exists(flow) }}", "${{", "}}", "&a", "*a", "!!js/function", "!x", "<<", "|", ">", "%YAML",
  "---", "...", "- ", ": ", ", ", "{", "}", "[", "]", "'", '"', "\\x00", "#", "\t", "\n", "\n  ", "\r", "? ", "\uFEFF",
  "__proto__", "0x1F", "1e999", ".nan", "\u2028", "é", "🎉",
); // prettier-ignore
const document = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(""));

const tokens = fc.constantFrom(
  "flow", "flow.name", "flow.tags.a-b", "artifact.name", "exists(", "matches(", ")", "(", "[", "]", ",", "and", "or",
  "not", "in", "==", "!=", "<", ">=", "=", "'a'", '"^(a+)+$"', "'", "1", "-2.5", "1e400", "\\", "&&", "💥", "\u0000",
); // prettier-ignore
const condition = fc.array(tokens, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(" "));

describe("any policy", () => {
  it("is accepted or refused with places, whatever the file", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(document, fc.string({ unit: "binary", maxLength: 300 })), async (text) => {
        expect(await send(text)).toBeLessThan(500);
      }),
      { numRuns: amount(50, 120) },
    );
  });

  it("is accepted or refused with places, whatever the bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        expect(await send(Buffer.from(bytes))).toBeLessThan(500);
      }),
      { numRuns: amount(20, 40) },
    );
  });

  it("tells line and column of a mistake in a condition", async () => {
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(condition, async (text) => {
        const wrapped = JSON.stringify(`\${{ ${text} }}`);
        const { status, json } = await putPolicy(
          org.member,
          org.name,
          { name: "p" },
          policyText(`attestations: [{type: junit, if: ${wrapped}}]`),
        );
        seen.add(status);
        if (status === 400)
          expect(json.errors).toEqual({
            "policy_file.artifacts.attestations[0].if": expect.stringMatching(
              /^(?:Invalid expression at line \d+, column \d+: .|Text must not contain NUL)/,
            ),
          });
        else expect([200, 201]).toContain(status);
      }),
      { numRuns: amount(50, 120) },
    );
    expect(seen).toContain(400);
  });
});

const head = "_schema: https://x.test/v1\nartifacts:\n  attestations:\n";
const rule = (extra: string): string => `    - {type: junit${extra}}\n`;

describe("a policy made to keep the server busy", () => {
  it.each([
    ["brackets within each other", "[".repeat(60_000)],
    ["braces within each other", "{a: ".repeat(16_000)],
    ["dashes within each other", "- ".repeat(30_000)],
    [
      "aliases of aliases",
      Array.from(
        { length: 60 },
        (_, n) => `a${n}: &a${n} [${n === 0 ? "x" : `*a${n - 1}, *a${n - 1}`}]`,
      ).join("\n"),
    ],
    ["keys without end", Array.from({ length: 7_500 }, (_, n) => `k${n}: `).join("\n")],
    ["one long text", `a: "${"x".repeat(60_000)}"`],
    ["blanks", " ".repeat(60_000)],
    ["quotes that never close", `a: ${"'".repeat(60_001)}`],
    ["9 MB of nothing", "#".repeat(9 * 1024 * 1024)],
    ["thousands of rules that are wrong", head + rule(", must_be_compliant: 7").repeat(1500)],
    ["thousands of conditions that are wrong", head + rule(", if: 'flow.name = 1'").repeat(1400)],
    ["a condition of parentheses", head + rule(`, if: '${"(".repeat(16_000)}'`)],
    ["a condition of negations", head + rule(`, if: '${"not ".repeat(4_000)}exists(flow)'`)],
    ["a condition too long", head + rule(`, if: '${"a".repeat(60_000)}'`)],
    [
      "patterns that repeat",
      head + rule(`, if: 'matches(flow.name, "((a{1,9}){1,9}){1,9}{1,9}")'`).repeat(100),
    ],
    [
      "aliases of a long condition",
      `${head}    - &a {type: junit, if: '${"exists(flow) or ".repeat(900)}?'}\n${"    - *a\n".repeat(3900)}`,
    ],
    ["many large patterns", head + rule(`, if: 'matches(flow.name, "(a{100}){15}")'`).repeat(60)],
  ])("is refused soon: %s", async (_what, text) => {
    const start = performance.now();
    expect(await send(text)).toBe(400);
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  it("is accepted soon when nothing is wrong with it", async () => {
    const condition = `, if: 'flow.tags.a in [${Array.from({ length: 300 }, (_, n) => n).join(",")}]'`;
    const start = performance.now();
    expect(await send(head + rule(condition).repeat(50))).toBeLessThan(300);
    expect(await send(head + rule("").repeat(500))).toBeLessThan(300);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});
