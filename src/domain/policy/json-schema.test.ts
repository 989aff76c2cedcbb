import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { PolicyError } from "./errors.ts";
import { parsePolicy } from "./parse.ts";
import { environmentPolicyJsonSchema } from "./format.ts";

const ajv = new Ajv2020({ formats: { uri: true }, allowUnionTypes: true });
const isValid = ajv.compile(environmentPolicyJsonSchema("https://x.test/policy"));

function isRead(document: unknown): boolean {
  try {
    parsePolicy(JSON.stringify(document));
    return true;
  } catch (error) {
    if (error instanceof PolicyError) return false;
    throw error;
  }
}

/** Now and then a value of another kind. */
function mostly<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary }, fc.constantFrom<unknown>(null, 1, true, "x", [], {}));
}

function record(keys: Record<string, fc.Arbitrary<unknown>>, required: string[] = []): fc.Arbitrary<unknown> {
  const extended = { ...keys, extra: fc.constantFrom(1) };
  return mostly(
    fc.oneof(
      { weight: 12, arbitrary: fc.record(keys, { requiredKeys: required }) },
      fc.record(extended, { requiredKeys: [] }),
    ),
  );
}

const condition = fc.constantFrom("${{ exists(flow) }}", { text: "exists(flow)", more: 1 }, { text: "${{ exists(flow) }}" }, null); // prettier-ignore
const requirement = record({
  required: mostly(fc.boolean()),
  exceptions: mostly(fc.array(record({ if: condition }), { maxLength: 2 })),
});
const rule = record(
  {
    type: mostly(fc.constantFrom("junit", "snyk", "decision", "custom:x", "*", "pull-request")),
    name: mostly(fc.constantFrom("a", "*")),
    if: condition,
    must_be_compliant: mostly(fc.boolean()),
    for_control: fc.constantFrom("C-1", null),
  },
  ["type"],
);
const policy = record(
  {
    _schema: mostly(fc.constantFrom("https://x.test/v1", "https://x.test/v2")),
    artifacts: record({
      provenance: requirement,
      "trail-compliance": requirement,
      attestations: mostly(fc.array(rule, { maxLength: 3 })),
    }),
  },
  ["_schema"],
);

describe("environmentPolicyJsonSchema", () => {
  it("agrees with the reader about the form of policies", () => {
    const seen = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(policy, (document) => {
        const valid = isValid(document);
        seen[valid ? "valid" : "invalid"] += 1;
        expect(isRead(document)).toBe(valid);
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(seen.valid, seen.invalid)).toBeGreaterThan(300);
  });
});
