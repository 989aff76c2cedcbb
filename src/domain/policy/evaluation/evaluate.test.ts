import { describe, expect, it } from "vitest";

import { parsePolicy } from "../parse.ts";
import { evaluateArtifact } from "../../../../test/support/policy-verdicts.ts";
import type { ArtifactState, KnownFlow, PolicySubject, PolicyVersion, ReportedAttestation } from "./model.ts";

const fingerprint = "ab".repeat(32);

function version(rules: string, name = "base"): PolicyVersion {
  return {
    id: `id-${name}`,
    name,
    version: 3,
    policy: parsePolicy(`_schema: https://x.test/v1\nartifacts: ${rules}`),
  };
}

function flow(flow_name: string, given: Partial<KnownFlow> = {}): KnownFlow {
  return {
    flow_name,
    trail_name: `${flow_name}-1`,
    tags: {},
    artifact_status: "COMPLIANT",
    attestations: [],
    ...given,
  };
}

function artifact(flows: readonly KnownFlow[], given: Partial<PolicySubject> = {}): PolicySubject {
  return { name: "registry.test/web:1", fingerprint, allow_listed: false, flows, ...given };
}

function attested(name: string, type: string, is_compliant = true, control?: string): ReportedAttestation {
  return { name, type, is_compliant, ...(control === undefined ? {} : { control }) };
}

/** For one rule of one policy: satisfied, ignored, and why in each flow. */
function outcome(subject: PolicySubject, rules: string, index: number): unknown[] {
  const evaluation = evaluateArtifact(subject, [version(rules)]).policy_decisions[0]?.rule_evaluations[index];
  return [
    evaluation?.satisfied,
    evaluation?.ignored,
    ...(evaluation?.resolutions ?? []).map(({ type }) => type),
  ];
}

const build = flow("web-ci", { tags: { kind: "build" } });
const promotion = flow("promotion", { tags: { kind: "promotion" }, artifact_status: "INCOMPLETE" });
const notBuild = `exceptions: [{if: "flow.tags.kind != 'build'"}]`;

describe("provenance", () => {
  it.each<[string, readonly KnownFlow[], string, unknown[]]>([
    ["not required", [build], "{}", [null, true, "rule_not_applicable"]],
    ["not required, no flow", [], "{}", [null, true, "rule_not_applicable"]],
    ["known", [build], "{required: true}", [true, false, "rule_satisfied"]],
    [
      "known twice",
      [build, promotion],
      "{required: true}",
      [true, false, "rule_satisfied", "rule_satisfied"],
    ],
    ["unknown", [], "{required: true}", [false, false, "missing_provenance"]],
    [
      "waived",
      [],
      `{required: true, exceptions: [{if: "matches(artifact.name, '^registry')"}]}`,
      [null, true, "rule_not_applicable"],
    ],
    [
      "not waived",
      [],
      `{required: true, exceptions: [{if: "matches(artifact.name, '^other')"}]}`,
      [false, false, "missing_provenance"],
    ],
    [
      "waived by any",
      [],
      `{required: true, exceptions: [{if: "exists(flow)"}, {if: "not exists(flow)"}]}`,
      [null, true, "rule_not_applicable"],
    ],
    [
      "waived in one flow",
      [build, promotion],
      `{required: true, ${notBuild}}`,
      [true, false, "rule_satisfied", "rule_not_applicable"],
    ],
    [
      "never waived by an exception without a condition",
      [],
      "{required: true, exceptions: [{}]}",
      [false, false, "missing_provenance"],
    ],
  ])("%s", (_, flows, rule, expected) => {
    expect(outcome(artifact(flows), `{provenance: ${rule}}`, 0)).toEqual(expected);
  });
});

describe("trail-compliance", () => {
  const states: (ArtifactState | null)[] = ["COMPLIANT", "NON-COMPLIANT", "INCOMPLETE", "MISSING", null];
  it.each(states)("is met by COMPLIANT alone: %s", (artifact_status) => {
    const met = artifact_status === "COMPLIANT";
    const expected = [met, false, met ? "rule_satisfied" : "non_compliant_in_trail"];
    expect(
      outcome(artifact([flow("f", { artifact_status })]), "{trail-compliance: {required: true}}", 1),
    ).toEqual(expected);
  });

  it.each<[string, readonly KnownFlow[], string, unknown[]]>([
    ["not required", [promotion], "{}", [null, true, "rule_not_applicable"]],
    ["no flow", [], "{required: true}", [false, false, "no_provenance"]],
    ["waived without a flow", [], `{required: true, ${notBuild}}`, [null, true, "rule_not_applicable"]],
    [
      "all flows count",
      [build, promotion],
      "{required: true}",
      [false, false, "rule_satisfied", "non_compliant_in_trail"],
    ],
    [
      "a waived flow does not",
      [build, promotion],
      `{required: true, ${notBuild}}`,
      [true, false, "rule_satisfied", "rule_not_applicable"],
    ],
    [
      "waived everywhere",
      [promotion, promotion],
      `{required: true, ${notBuild}}`,
      [null, true, "rule_not_applicable", "rule_not_applicable"],
    ],
  ])("%s", (_, flows, rule, expected) => {
    expect(outcome(artifact(flows), `{trail-compliance: ${rule}}`, 1)).toEqual(expected);
  });
});

describe("attestation", () => {
  const met = [true, false, "rule_satisfied"];
  const missing = [false, false, "missing_attestation"];
  const failed = [false, false, "non_compliant_attestation"];

  it.each<[string, string, readonly ReportedAttestation[], unknown[]]>([
    ["type", "type: junit", [attested("unit", "junit")], met],
    ["other type", "type: junit", [attested("unit", "generic")], missing],
    ["nothing", "type: junit", [], missing],
    ["not compliant", "type: junit", [attested("unit", "junit", false)], failed],
    ["presence suffices", "type: junit, must_be_compliant: false", [attested("unit", "junit", false)], met],
    ["presence is missing", "type: junit, must_be_compliant: false", [], missing],
    ["name and type", "type: junit, name: unit", [attested("unit", "junit")], met],
    ["name of another type", "type: junit, name: unit", [attested("unit", "generic")], missing],
    ["another name", "type: junit, name: unit", [attested("it", "junit")], missing],
    ["name of any type", "type: '*', name: unit", [attested("unit", "custom:x")], met],
    ["custom", "type: 'custom:x'", [attested("unit", "custom:x")], met],
    ["another custom", "type: 'custom:x'", [attested("unit", "custom:y")], missing],
    [
      "the latest counts, better",
      "type: junit",
      [attested("a", "junit", false), attested("b", "junit")],
      met,
    ],
    [
      "the latest counts, worse",
      "type: junit",
      [attested("a", "junit"), attested("b", "junit", false)],
      failed,
    ],
    ["others between do not", "type: junit", [attested("a", "junit"), attested("b", "snyk", false)], met],
    ["decision", "type: decision", [attested("ok", "decision", true, "C-1")], met],
    ["decision as reads show it", "type: decision", [attested("ok", "system:decision")], met],
    [
      "decision for a control",
      "type: decision, for_control: C-1",
      [attested("ok", "decision", true, "C-1")],
      met,
    ],
    [
      "decision for another",
      "type: decision, for_control: C-1",
      [attested("ok", "decision", true, "C-2")],
      missing,
    ],
    ["decision for none", "type: decision, for_control: C-1", [attested("ok", "decision")], missing],
    [
      "negative decision",
      "type: decision, for_control: C-1",
      [attested("ok", "decision", false, "C-1")],
      failed,
    ],
    [
      "control of no decision",
      "type: decision, for_control: C-1",
      [attested("ok", "generic", true, "C-1")],
      missing,
    ],
    [
      "named decision",
      "type: decision, name: a, for_control: C-1",
      [attested("b", "decision", true, "C-1")],
      missing,
    ],
  ])("%s", (_, rule, attestations, expected) => {
    expect(outcome(artifact([flow("f", { attestations })]), `{attestations: [{${rule}}]}`, 2)).toEqual(
      expected,
    );
  });

  const scan = `{attestations: [{type: snyk, if: "flow.name == 'web-ci'"}]}`;
  const scanned = { ...build, attestations: [attested("scan", "snyk")] };
  it.each<[string, readonly KnownFlow[], string, unknown[]]>([
    ["no flow", [], "{attestations: [{type: snyk}]}", [false, false, "no_provenance"]],
    ["no flow, not applicable", [], scan, [null, true, "rule_not_applicable"]],
    [
      "no flow, applicable by name",
      [],
      `{attestations: [{type: snyk, if: "'web' in artifact.name"}]}`,
      [false, false, "no_provenance"],
    ],
    [
      "only where it applies",
      [promotion, scanned],
      scan,
      [true, false, "rule_not_applicable", "rule_satisfied"],
    ],
    ["nowhere", [promotion], scan, [null, true, "rule_not_applicable"]],
    [
      "all applicable flows count",
      [scanned, promotion],
      "{attestations: [{type: snyk}]}",
      [false, false, "rule_satisfied", "missing_attestation"],
    ],
  ])("%s", (_, flows, rules, expected) => {
    expect(outcome(artifact(flows), rules, 2)).toEqual(expected);
  });
});

describe("decisions", () => {
  const rules = `
  provenance: {required: true, ${notBuild}}
  trail-compliance: {required: true, ${notBuild}}
  attestations:
    - {type: snyk, if: "flow.name == 'snyk-prod'", name: scan}
    - {type: decision, for_control: C-1}`;
  const subject = artifact([
    { ...build, attestations: [attested("d", "decision", true, "C-1")] },
    { ...promotion, trail_name: null },
  ]);

  it("have the shape of the contract", () => {
    const [first, second] = [
      { flow_name: "web-ci", trail_name: "web-ci-1", artifact_status: null },
      { flow_name: "promotion", trail_name: null, artifact_status: null },
    ];
    const exceptions = [{ if: { text: "flow.tags.kind != 'build'" } }];
    expect(evaluateArtifact(subject, [version(rules)])).toEqual({
      compliant: false,
      allow_listed: false,
      policy_decisions: [
        {
          policy_name: "base",
          policy_version: 3,
          status: "NON-COMPLIANT",
          rule_evaluations: [
            {
              rule: { type: "provenance", definition: { required: true, exceptions } },
              satisfied: true,
              ignored: false,
              resolutions: [
                { type: "rule_satisfied", context: first },
                { type: "rule_not_applicable", context: second },
              ],
            },
            {
              rule: { type: "trail-compliance", definition: { required: true, exceptions } },
              satisfied: true,
              ignored: false,
              resolutions: [
                { type: "rule_satisfied", context: { ...first, artifact_status: "COMPLIANT" } },
                { type: "rule_not_applicable", context: { ...second, artifact_status: "INCOMPLETE" } },
              ],
            },
            {
              rule: {
                type: "attestation",
                definition: {
                  if: { text: "flow.name == 'snyk-prod'" },
                  name: "scan",
                  type: "snyk",
                  must_be_compliant: true,
                  for_control: null,
                },
              },
              satisfied: null,
              ignored: true,
              resolutions: [
                { type: "rule_not_applicable", context: first },
                { type: "rule_not_applicable", context: second },
              ],
            },
            {
              rule: {
                type: "attestation",
                definition: {
                  if: null,
                  name: "*",
                  type: "decision",
                  must_be_compliant: true,
                  for_control: "C-1",
                },
              },
              satisfied: false,
              ignored: false,
              resolutions: [
                { type: "rule_satisfied", context: { ...first, for_control: "C-1" } },
                { type: "missing_attestation", context: { ...second, for_control: "C-1" } },
              ],
            },
          ],
        },
      ],
      reasons_for_incompliance: [
        {
          policy_name: "base",
          rule: "attestation",
          message: "There is no decision for control 'C-1' in flow 'promotion'",
        },
      ],
    });
  });

  it("have one resolution without a flow when no flow knows the artifact", () => {
    const [decision] = evaluateArtifact(artifact([]), [version(rules)]).policy_decisions;
    const context = { flow_name: null, trail_name: null, artifact_status: null };
    expect(decision?.rule_evaluations.map(({ resolutions }) => resolutions)).toEqual([
      [{ type: "rule_not_applicable", context }],
      [{ type: "rule_not_applicable", context }],
      [{ type: "rule_not_applicable", context }],
      [{ type: "no_provenance", context: { ...context, for_control: "C-1" } }],
    ]);
  });

  it("say that no rule applies to an artifact on the allow-list", () => {
    const verdict = evaluateArtifact(artifact([], { allow_listed: true }), [
      version("{provenance: {required: true}}"),
    ]);
    expect(verdict).toMatchObject({ compliant: true, allow_listed: true, reasons_for_incompliance: [] });
    expect(verdict.policy_decisions[0]).toMatchObject({ status: "COMPLIANT" });
    expect(verdict.policy_decisions[0]?.rule_evaluations.every(({ ignored }) => ignored)).toBe(true);
  });

  it("say nothing without policies, not even for the allow-list", () => {
    const nothing = { compliant: null, policy_decisions: [], reasons_for_incompliance: [] };
    expect(evaluateArtifact(subject, [])).toEqual({ ...nothing, allow_listed: false });
    expect(evaluateArtifact({ ...subject, allow_listed: true }, [])).toEqual({
      ...nothing,
      allow_listed: true,
    });
  });
});
