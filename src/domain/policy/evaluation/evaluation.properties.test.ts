import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { finish } from "../../../lib/steps.ts";
import { parsePolicy } from "../parse.ts";
import { smallestCover, type WantedAttestation } from "./cover.ts";
import { evaluateArtifact } from "../../../../test/support/policy-verdicts.ts";
import { amount } from "../../../../test/support/thorough.ts";
import { artifactJudge } from "./evaluate.ts";
import { remediesFor, type Remedy } from "./explain.ts";
import type { KnownFlow, PolicySubject, PolicyVersion, ReportedAttestation } from "./model.ts";
import { wantedAttestations } from "./rules.ts";

const types = ["generic", "snyk", "decision"];
const names = ["a", "b"];
const controls = ["C-1", "C-2"];

const anyAttestation: fc.Arbitrary<ReportedAttestation> = fc.record({
  name: fc.constantFrom(...names),
  type: fc.constantFrom(...types),
  is_compliant: fc.boolean(),
  control: fc.constantFrom(...controls, null),
});

const anyFlow: fc.Arbitrary<KnownFlow> = fc.record({
  flow_name: fc.constantFrom("ci", "promotion"),
  trail_name: fc.constantFrom("t", null),
  tags: fc.dictionary(fc.constantFrom("kind", "risk"), fc.constantFrom("build", "1", "3")),
  artifact_status: fc.constantFrom("COMPLIANT", "NON-COMPLIANT", "INCOMPLETE", null),
  attestations: fc.array(anyAttestation, { maxLength: 4 }),
});

const anySubject: fc.Arbitrary<PolicySubject> = fc.record({
  name: fc.constantFrom("web", "sidecar"),
  fingerprint: fc.constantFrom("1", "2", "3"),
  allow_listed: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  flows: fc.array(anyFlow, { maxLength: 3 }),
});

const conditions = ["exists(flow)", "flow.tags.kind != 'build'", "flow.tags.risk >= 2", "artifact.name == 'sidecar'", "flow.name == 'ci'"]; // prettier-ignore

/** @param known conditions to choose from; none for rules that apply everywhere. */
function anyPolicy(known: readonly string[]): fc.Arbitrary<PolicyVersion> {
  const exceptions = fc.array(fc.record({ if: fc.constantFrom(...known, null) }), { maxLength: 2 });
  const boolean = fc.record({ required: fc.boolean(), exceptions });
  const rule = fc
    .record({
      if: fc.constantFrom(...known, null),
      type: fc.constantFrom(...types, "*"),
      name: fc.constantFrom(...names, "*"),
      must_be_compliant: fc.boolean(),
      for_control: fc.constantFrom(...controls, null),
    })
    .filter(({ type, name }) => type !== "*" || name !== "*")
    .map((given) => ({ ...given, for_control: given.type === "decision" ? given.for_control : null }));
  return fc
    .record({
      name: fc.constantFrom("p", "q", "r"),
      rules: fc.record({
        provenance: boolean,
        "trail-compliance": boolean,
        attestations: fc.array(rule, { maxLength: 5 }),
      }),
    })
    .map(({ name, rules }) => {
      const text = JSON.stringify({ _schema: "https://x.test/v1", artifacts: rules });
      return { id: name, name, version: 1, policy: parsePolicy(text) };
    });
}

const somePolicies = fc.uniqueArray(anyPolicy(conditions), { selector: ({ name }) => name, maxLength: 3 });

describe("evaluation", () => {
  it("needs no more attestations than policies say they want", () => {
    fc.assert(
      fc.property(anySubject, somePolicies, (subject, policies) => {
        const wanted = wantedAttestations(policies.map(({ policy }) => policy));
        const { names: told, types: asked, told_by } = wanted;
        const among = (value: string | null | undefined, known: readonly string[]) =>
          value !== null && value !== undefined && known.includes(value) ? value : null;
        const keyOf = ({ name, type, control }: ReportedAttestation): string =>
          JSON.stringify([among(name, told), among(type, told_by.types), among(control, told_by.controls)]);
        const flows = subject.flows.map((flow) => {
          const fitting = flow.attestations.filter(
            ({ name, type }) => told.includes(name) || asked.includes(type),
          );
          const attestations = fitting.filter(
            (each, at) => !fitting.slice(at + 1).some((later) => keyOf(later) === keyOf(each)),
          );
          return { ...flow, attestations };
        });
        const verdict = evaluateArtifact(subject, policies);
        expect(evaluateArtifact({ ...subject, flows }, policies)).toEqual(verdict);
      }),
    );
  });

  it("judges an artifact the same whatever else runs", () => {
    fc.assert(
      fc.property(fc.array(anySubject, { maxLength: 5 }), somePolicies, (subjects, policies) => {
        const judge = artifactJudge(policies);
        const artifacts = subjects.map((subject) => finish(judge(subject)));
        expect(artifacts).toEqual(subjects.map((subject) => evaluateArtifact(subject, policies)));
        const reversed = subjects.toReversed().map((subject) => finish(judge(subject)));
        expect(reversed.toReversed()).toEqual(artifacts);
      }),
    );
  });

  it("orders decisions as the policies, and nothing else follows from that order", () => {
    fc.assert(
      fc.property(anySubject, somePolicies, (subject, policies) => {
        const forward = evaluateArtifact(subject, policies);
        const backward = evaluateArtifact(subject, policies.toReversed());
        expect(backward.policy_decisions.toReversed()).toEqual(forward.policy_decisions);
        expect(backward.compliant).toBe(forward.compliant);
        expect(forward.policy_decisions.map(({ policy_name }) => policy_name)).toEqual(
          policies.map(({ name }) => name),
        );
      }),
    );
  });

  it("keeps its parts in line with each other", () => {
    fc.assert(
      fc.property(anySubject, anyPolicy(conditions), (subject, policy) => {
        const { compliant, policy_decisions, reasons_for_incompliance } = evaluateArtifact(subject, [policy]);
        const [decision] = policy_decisions;
        const rules = decision?.rule_evaluations ?? [];
        expect(rules.map(({ rule }) => rule.type)).toEqual([
          "provenance",
          "trail-compliance",
          ...policy.policy.artifacts.attestations.map(() => "attestation"),
        ]);
        let unmet = 0;
        for (const { resolutions, satisfied, ignored } of rules) {
          expect(resolutions).toHaveLength(Math.max(1, subject.flows.length));
          const kinds = new Set(resolutions.map(({ type }) => type));
          expect(ignored).toBe(kinds.size === 1 && kinds.has("rule_not_applicable"));
          kinds.delete("rule_not_applicable");
          expect(satisfied).toBe(ignored ? null : kinds.size === 1 && kinds.has("rule_satisfied"));
          unmet += resolutions.filter(
            ({ type }) => !["rule_satisfied", "rule_not_applicable"].includes(type),
          ).length;
        }
        expect(reasons_for_incompliance).toHaveLength(unmet);
        expect(compliant).toBe(unmet === 0);
        expect(decision?.status).toBe(unmet === 0 ? "COMPLIANT" : "NON-COMPLIANT");
        if (rules.every(({ ignored }) => ignored)) expect(compliant).toBe(true);
        if (subject.allow_listed) expect(rules.every(({ ignored }) => ignored)).toBe(true);
      }),
      { numRuns: amount(200, 500) },
    );
  });

  it("is not improved by another flow, and only harmed by one that fails", () => {
    fc.assert(
      fc.property(anySubject, anyFlow, somePolicies, (subject, flow, policies) => {
        fc.pre(subject.flows.length > 0 && policies.length > 0);
        const alone = evaluateArtifact({ ...subject, flows: [flow] }, policies).compliant === true;
        const before = evaluateArtifact(subject, policies).compliant === true;
        const after =
          evaluateArtifact({ ...subject, flows: [...subject.flows, flow] }, policies).compliant === true;
        expect(after).toBe(before && alone);
      }),
      { numRuns: amount(200, 500) },
    );
  });

  it("is never harmed by a compliant attestation", () => {
    fc.assert(
      fc.property(anySubject, anyAttestation, somePolicies, (subject, attestation, policies) => {
        fc.pre(evaluateArtifact(subject, policies).compliant === true);
        const good = { ...attestation, is_compliant: true };
        const flows = subject.flows.map((flow) => ({ ...flow, attestations: [...flow.attestations, good] }));
        expect(evaluateArtifact({ ...subject, flows }, policies).compliant).toBe(true);
      }),
    );
  });
});

/** What a report would look like that follows a remedy to the letter. */
function report(remedy: WantedAttestation, index: number): ReportedAttestation {
  return {
    type: remedy.type === "*" ? "any" : remedy.type,
    name: remedy.name === "*" ? `any-${index}` : remedy.name,
    control: remedy.for_control,
    is_compliant: true,
  };
}

function follow(flow: KnownFlow, remedies: readonly Remedy[]): KnownFlow {
  const isHere = remedies.filter(
    (remedy) =>
      remedy.kind !== "report_artifact" && (remedy.flow_name === null || remedy.flow_name === flow.flow_name),
  );
  const reports = isHere.flatMap((remedy, index) =>
    remedy.kind === "report_attestation" ? [report(remedy, index)] : [],
  );
  const mended = isHere.some(({ kind }) => kind === "make_trail_compliant");
  return {
    ...flow,
    artifact_status: mended ? "COMPLIANT" : flow.artifact_status,
    attestations: [...flow.attestations, ...reports],
  };
}

function isCompliantAfter(
  subject: PolicySubject,
  policies: readonly PolicyVersion[],
  remedies: readonly Remedy[],
): boolean {
  const flows = subject.flows.map((flow) => follow(flow, remedies));
  return evaluateArtifact({ ...subject, flows }, policies).compliant === true;
}

function explainIncompliance(subject: PolicySubject, policies: readonly PolicyVersion[]): Remedy[] {
  return remediesFor(subject.fingerprint, evaluateArtifact(subject, policies).policy_decisions);
}

describe("remediesFor", () => {
  const policies = fc.uniqueArray(anyPolicy(conditions), {
    selector: ({ name }) => name,
    minLength: 1,
    maxLength: 3,
  });
  const subjects = fc.record({
    name: fc.constantFrom("web", "sidecar"),
    fingerprint: fc.constant("1"),
    allow_listed: fc.constant(false),
    flows: fc.uniqueArray(anyFlow, { selector: ({ flow_name }) => flow_name, minLength: 1, maxLength: 2 }),
  });

  it("asks for nothing exactly when nothing is wrong", () => {
    fc.assert(
      fc.property(anySubject, policies, (subject, applied) => {
        const { compliant } = evaluateArtifact(subject, applied);
        expect(explainIncompliance(subject, applied).length === 0).toBe(compliant);
      }),
    );
  });

  it("asks for what makes the artifact compliant, and for nothing that could be left out", () => {
    fc.assert(
      fc.property(subjects, policies, (subject, applied) => {
        const remedies = explainIncompliance(subject, applied);
        expect(isCompliantAfter(subject, applied, remedies)).toBe(true);
        for (const [index] of remedies.entries())
          expect(isCompliantAfter(subject, applied, remedies.toSpliced(index, 1))).toBe(false);
      }),
      { numRuns: amount(300, 1000) },
    );
  });

  it("asks to report an unknown artifact, and for what is needed then", () => {
    fc.assert(
      fc.property(anyPolicy([]), (policy) => {
        const subject: PolicySubject = { name: "web", fingerprint: "1", allow_listed: false, flows: [] };
        const remedies = explainIncompliance(subject, [policy]);
        fc.pre(remedies.length > 0);
        expect(remedies[0]).toMatchObject({ kind: "report_artifact", fingerprint: "1" });
        const bare: KnownFlow = {
          flow_name: "new",
          trail_name: "t",
          tags: {},
          artifact_status: null,
          attestations: [],
        };
        expect(isCompliantAfter({ ...subject, flows: [bare] }, [policy], remedies)).toBe(true);
      }),
    );
  });

  it("says which rules each report serves", () => {
    const policy = (name: string, rules: string): PolicyVersion => ({
      id: name,
      name,
      version: 1,
      policy: parsePolicy(`_schema: https://x.test/v1\nartifacts: {${rules}}`),
    });
    const flow: KnownFlow = {
      flow_name: "ci",
      trail_name: "t",
      tags: {},
      artifact_status: "INCOMPLETE",
      attestations: [],
    };
    const remedies = explainIncompliance(
      { name: "web", fingerprint: "1", allow_listed: false, flows: [flow] },
      [
        policy(
          "p",
          "trail-compliance: {required: true}, attestations: [{type: snyk, must_be_compliant: false}]",
        ),
        policy(
          "q",
          "attestations: [{type: '*', name: scan}, {type: junit}, {type: decision, for_control: C}]",
        ),
      ],
    );
    const place = { flow_name: "ci", trail_name: "t" };
    expect(remedies).toEqual([
      {
        kind: "make_trail_compliant",
        ...place,
        artifact_status: "INCOMPLETE",
        rules: [{ policy_name: "p", rule_index: 1 }],
      },
      {
        kind: "report_attestation",
        ...place,
        type: "decision",
        name: "scan",
        for_control: "C",
        rules: [
          { policy_name: "q", rule_index: 4 },
          { policy_name: "q", rule_index: 2 },
        ],
      },
      {
        kind: "report_attestation",
        ...place,
        type: "snyk",
        name: "*",
        for_control: null,
        rules: [{ policy_name: "p", rule_index: 2 }],
      },
      {
        kind: "report_attestation",
        ...place,
        type: "junit",
        name: "*",
        for_control: null,
        rules: [{ policy_name: "q", rule_index: 3 }],
      },
    ]);
  });
});

describe("smallestCover", () => {
  const wish: fc.Arbitrary<WantedAttestation> = fc
    .record({
      type: fc.constantFrom("generic", "snyk", "decision", "decision", "*"),
      name: fc.constantFrom("a", "b", "c", "*"),
      for_control: fc.constantFrom("x", "y", null),
      rules: fc.constant([]),
    })
    .filter(({ type, name }) => type !== "*" || name !== "*")
    .map((given) => ({ ...given, for_control: given.type === "decision" ? given.for_control : null }));

  /** Every attestation that could be reported. */
  const reports = ["generic", "snyk", "decision", "other"].flatMap((type) =>
    ["a", "b", "c", "other"].flatMap((name) =>
      (type === "decision" ? ["x", "y", "other"] : [null]).map((control) => ({ type, name, control })),
    ),
  );

  function serves({ type, name, control }: (typeof reports)[number], wanted: WantedAttestation): boolean {
    const isType = wanted.type === "*" || wanted.type === type;
    const isName = wanted.name === "*" || wanted.name === name;
    return isType && isName && (wanted.for_control === null || wanted.for_control === control);
  }

  /** The fewest reports for all wishes, by trying: some report has to serve the first. */
  function fewest(wishes: readonly WantedAttestation[]): number {
    const [first] = wishes;
    if (first === undefined) return 0;
    const rest = reports
      .filter((candidate) => serves(candidate, first))
      .map((candidate) => fewest(wishes.filter((wanted) => !serves(candidate, wanted))));
    return 1 + Math.min(...rest);
  }

  it("needs as few as trying all does, and serves every wish", () => {
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 6 }), (wishes) => {
        const cover = smallestCover(
          wishes.map((wanted, rule_index) => ({ ...wanted, rules: [{ policy_name: "p", rule_index }] })),
        );
        expect(cover).toHaveLength(fewest(wishes));
        const served = cover.flatMap(({ rules }) => rules.map(({ rule_index }) => rule_index));
        expect(served.toSorted((left, right) => left - right)).toEqual(wishes.map((_, index) => index));
        for (const one of cover)
          for (const { rule_index } of one.rules) {
            const wanted = wishes[rule_index];
            expect([one.type, "*"]).toContain(wanted?.type);
            expect([one.name, "*"]).toContain(wanted?.name);
            expect([one.for_control, null]).toContain(wanted?.for_control);
          }
      }),
      { numRuns: amount(300, 1000) },
    );
  });
});
