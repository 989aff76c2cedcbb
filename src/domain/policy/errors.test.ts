import { describe, expect, it } from "vitest";

import { PolicyError, policyInputErrors } from "./errors.ts";
import { parsePolicy } from "./parse.ts";

const schema = "_schema: https://example.test/schemas/policy/v1\n";

function issuesOf(text: string): PolicyError["issues"] {
  try {
    parsePolicy(text);
  } catch (error) {
    if (error instanceof PolicyError) return error.issues;
    throw error;
  }
  throw new Error(`Accepted: ${text}`);
}

describe("policyInputErrors", () => {
  it("shows each mistake with what stands there", () => {
    const text = `${schema}artifacts: {attestations: [{type: x}, {}]}`;
    const errors = policyInputErrors(
      issuesOf(text),
      "policy_file",
      (input) => JSON.stringify(input) ?? "None",
    );
    expect(errors).toEqual({
      "policy_file.artifacts.attestations[0].type": expect.stringMatching(/ \[input: "x"\]$/),
      "policy_file.artifacts.attestations[1].type": "Field required [input: None]",
    });
    expect(Object.keys(policyInputErrors(issuesOf("[]"), "policy_file", String))).toEqual(["policy_file"]);
  });

  it("shows the first of several mistakes in one place", () => {
    const issues = ["first", "second"].map((reason) => ({
      path: ["a"],
      reasons: [reason] as const,
      input: 1,
    }));
    expect(policyInputErrors(issues, "", String)).toEqual({ a: "first [input: 1]" });
  });
});
