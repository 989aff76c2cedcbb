import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { byPolicy, type Outcome, ruleWords, inTemplateOrder } from "./requirements.ts";

describe("requirements", () => {
  it("say what a rule asks for", () => {
    const attestation = (definition: object): string => ruleWords({ type: "attestation", definition });
    expect(ruleWords({ type: "provenance", definition: { required: true } })).toBe("Known origin");
    expect(ruleWords({ type: "trail-compliance", definition: {} })).toBe("Compliant trail");
    expect(attestation({ name: "unit", type: "junit", must_be_compliant: true, for_control: null })).toBe(
      "Attestation unit of type junit",
    );
    expect(attestation({ name: "*", type: "snyk", must_be_compliant: false })).toBe(
      "Attestation of type snyk, in any state",
    );
    expect(attestation({ name: "*", type: "*", for_control: "C-1" })).toBe("Attestation, for control C-1");
    expect(attestation({ name: "go", type: "*" })).toBe("Attestation go");
  });

  it("are grouped by policy, what is amiss first, what does not apply aside", () => {
    const of = (policy_name: string, rule_index: number, outcome: Outcome) => ({
      policy_name,
      policy_version: 1,
      rule_index,
      outcome,
    });
    const groups = byPolicy([
      of("calm", 0, "met"),
      of("strict", 0, "met"),
      of("strict", 1, "not_applicable"),
      of("strict", 2, "failed"),
      of("idle", 0, "not_applicable"),
    ]);
    expect(groups.map(({ policy_name, isMet }) => [policy_name, isMet])).toEqual([
      ["strict", false],
      ["calm", true],
      ["idle", true],
    ]);
    expect(groups[0]?.deciding.map(({ rule_index }) => rule_index)).toEqual([2, 0]);
    expect(groups[0]?.idle).toHaveLength(1);
  });
});

describe("what a trail needs", () => {
  it("is in the order of its template, with what came unasked behind it, and nothing lost", () => {
    const requirement = fc.record({
      template_path: fc.constantFrom(null, "trail.attestations[0]"),
      artifact_name: fc.constantFrom(null, "api", "worker"),
    });
    fc.assert(
      fc.property(fc.array(requirement), (all) => {
        const groups = inTemplateOrder(all);
        expect(groups.flatMap(({ requirements }) => requirements)).toHaveLength(all.length);
        const asked = groups.map(({ isAsked }) => isAsked);
        expect(asked).toEqual(asked.toSorted((a, b) => Number(b) - Number(a)));
        for (const { artifact, isAsked, requirements } of groups)
          expect(requirements).toEqual(
            all.filter((one) => one.artifact_name === artifact && (one.template_path !== null) === isAsked),
          );
      }),
    );
  });
});
