import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  controlOf,
  customJudgementOf,
  dataLines,
  issuesOf,
  overrideOf,
  pullRequestsOf,
  qualityGateOf,
  scanOf,
  testSuites,
} from "./attestation-data.ts";

const readers = [
  controlOf,
  dataLines,
  issuesOf,
  overrideOf,
  pullRequestsOf,
  qualityGateOf,
  scanOf,
  testSuites,
];
const keys = [
  "attestation_data",
  "control",
  "jira_results",
  "junit_results",
  "overridden_attestation_id",
  "pull_requests",
  "snyk_results",
  "sonar_results",
];

describe("data of attestations", () => {
  it("is read whatever a reporter wrote", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()), (attestation) => {
        for (const read of readers) expect(() => read(attestation)).not.toThrow();
      }),
    );
  });

  it("counts what a scan found in all projects, the worst first", () => {
    const low = { low_count: 2, medium_count: 0, high_count: 0, low: [{ id: "L", message: "meh" }] };
    const high = {
      low_count: 1,
      medium_count: 0,
      high_count: 1,
      high: [{ id: "H", message: "bad", locations: [{ uri: "a.ts", lines: "3-4" }, { uri: "b.ts" }] }],
    };
    const found = scanOf({ processed_snyk_results: { tool: { name: "Scan" }, results: [low, high] } });
    expect(found).toEqual({
      tool: "Scan",
      counts: { high: 1, medium: 0, low: 3 },
      issues: [
        { severity: "high", id: "H", message: "bad", places: "a.ts 3-4, b.ts" },
        { severity: "low", id: "L", message: "meh", places: "" },
      ],
    });
  });

  it("has approvers of both forms", () => {
    const [pull] = pullRequestsOf({
      pull_requests: [{ url: "u", state: "MERGED", approvers: ["ann", { username: "bob" }] }],
    });
    expect(pull?.approvers).toEqual(["ann", "bob"]);
  });

  it("says what a quality gate asked for", () => {
    const condition = {
      metric: "new_coverage",
      operator: "LESS_THAN",
      errorThreshold: "80",
      value: "79.3",
      status: "ERROR",
    };
    expect(
      qualityGateOf({ sonar_results: { qualityGate: { status: "ERROR", conditions: [condition] } } })
        ?.conditions,
    ).toEqual([{ metric: "new_coverage", limit: "not below 80", value: "79.3", isMet: false }]);
  });

  it("tells an override without an original from no override", () => {
    expect(overrideOf({})).toBeUndefined();
    expect(overrideOf({ overridden_attestation_id: null, reason: "why" })).toEqual({
      reason: "why",
      original_type: "",
      overridden_attestation_id: undefined,
    });
  });

  it("reads by what a custom type judged", () => {
    const judged = customJudgementOf({
      attestation_type: "custom:coverage-report",
      type_version: 2,
      attestation_data: { lines: 70 },
      rule_results: [
        { rule: ".lines >= 80", passed: false, error: "false" },
        { rule: ".lines > 1", passed: true },
      ],
    });
    expect(judged).toEqual({
      type: "coverage-report",
      version: 2,
      data: { lines: 70 },
      rules: [
        { rule: ".lines >= 80", passed: false, error: "false" },
        { rule: ".lines > 1", passed: true, error: "" },
      ],
    });
    expect(customJudgementOf({ attestation_type: "generic" })).toBeUndefined();
  });
});
