import { describe, expect, it } from "vitest";

import { evaluateArtifact } from "../../../test/support/policy-verdicts.ts";
import { parsePolicy } from "../policy/parse.ts";
import { type Evidence, explainRecorded, summarizeArtifact, summarizeEnvironment } from "./explain.ts";

const policy = parsePolicy(`_schema: https://waybill.test/v1
artifacts:
  provenance: {required: true}
  attestations:
    - {name: scan, type: snyk}
    - {name: unit, type: junit, must_be_compliant: false}
`);
const fingerprint = "a".repeat(64);

function evidence(name: string, type: string, is_compliant: boolean, reported_at: number): Evidence {
  return {
    attestation_id: `${name}-${reported_at}`,
    name,
    type,
    is_compliant,
    is_override: false,
    reported_at,
  };
}

/** What a snapshot at second 100 recorded of an artifact, beside what was reported before and after it. */
function recorded(reports: readonly Evidence[], allow_listed = false) {
  const attestations = reports.filter(({ reported_at }) => reported_at <= 100);
  const flow = {
    flow_name: "ci",
    trail_name: "run",
    tags: {},
    artifact_status: "COMPLIANT" as const,
    attestations,
  };
  const { policy_decisions } = evaluateArtifact({ name: "web", fingerprint, allow_listed, flows: [flow] }, [
    { id: "1", name: "p", version: 1, policy },
  ]);
  return { fingerprint, allow_listed, policy_decisions, evidence: [reports] };
}

describe("explainRecorded", () => {
  it("names what decided at the time and what came later", () => {
    const old = evidence("scan", "snyk", true, 50);
    const failed = evidence("scan", "snyk", false, 100);
    const mended = evidence("scan", "snyk", true, 101);
    const other = evidence("scan", "junit", true, 60);
    const { requirements, remedies } = explainRecorded(recorded([old, other, failed, mended]), 100);
    expect(
      requirements.map(({ outcome, attestation, reported_since }) => [outcome, attestation, reported_since]),
    ).toEqual([
      ["met", null, null],
      ["not_applicable", null, null],
      ["failed", failed, mended],
      ["missing", null, null],
    ]);
    expect(requirements.map(({ rule_index }) => rule_index)).toEqual([0, 1, 2, 3]);
    expect(remedies.map((remedy) => remedy.kind)).toEqual(["report_attestation", "report_attestation"]);
  });

  it("says how a rule is met, and needs nothing then", () => {
    const scan = evidence("scan", "snyk", true, 50);
    const unit = evidence("unit", "junit", false, 60);
    const { requirements, remedies } = explainRecorded(
      recorded([scan, unit, evidence("scan", "snyk", false, 200)]),
      100,
    );
    expect(remedies).toEqual([]);
    expect(
      requirements
        .slice(2)
        .map(({ reason, attestation, reported_since }) => [reason, attestation, reported_since]),
    ).toEqual([
      ["The latest attestation 'scan' of type 'snyk' in trail 'run' of flow 'ci' is compliant", scan, null],
      ["The latest attestation 'unit' of type 'junit' in trail 'run' of flow 'ci' was reported", unit, null],
    ]);
  });

  it("asks nothing of what is on the allow-list", () => {
    const { requirements, remedies } = explainRecorded(recorded([], true), 100);
    expect(new Set(requirements.map(({ outcome }) => outcome))).toEqual(new Set(["not_applicable"]));
    expect(remedies).toEqual([]);
  });
});

describe("summaries", () => {
  it("say what an environment's verdict rests on", () => {
    const summary = (compliant: boolean | null, policies: number, ...artifacts: (boolean | null)[]) =>
      summarizeEnvironment({
        compliant,
        policies,
        artifacts: artifacts.length,
        failing: artifacts.filter((verdict) => verdict === false).length,
      });
    expect(summary(null, 0, null)).toBe("No policy is attached, so nothing is judged");
    expect(summary(null, 1, null)).toBe("It is not known of all members whether they comply");
    expect(summary(true, 1)).toBe("Nothing runs here");
    expect(summary(true, 1, true)).toBe("Everything that runs here complies");
    expect(summary(false, 1, true, false)).toBe("1 of 2 artifacts does not comply");
    expect(summary(false, 1, false)).toBe("1 of 1 artifact does not comply");
    expect(summary(false, 1, false, false)).toBe("2 of 2 artifacts do not comply");
    expect(summary(false, 1, true)).toBe("A member does not comply");
  });

  it("say what an artifact's verdict rests on", () => {
    expect(summarizeArtifact(false, recorded([]))).toBe("It does not meet 1 of 1 policy");
    expect(summarizeArtifact(true, recorded([], true))).toBe("It is on the allow-list, so no rule applies");
    expect(summarizeArtifact(false, recorded([], true))).toBe("It does not comply in a member");
    expect(summarizeArtifact(null, { allow_listed: false, policy_decisions: [] })).toBe(
      "No policy says anything about it",
    );
    expect(summarizeArtifact(true, { allow_listed: false, policy_decisions: [] })).toBe(
      "It meets every policy",
    );
  });
});
