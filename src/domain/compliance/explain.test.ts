import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyReports, anyTemplate, artifact, attestation } from "../../../test/support/compliance.ts";
import { finish } from "../../lib/steps.ts";
import type { Template } from "../template/model.ts";
import { evaluateArtifactInSteps, evaluateTrail } from "./evaluate.ts";
import {
  artifactRequirementsInSteps,
  explainArtifactInSteps,
  type Explanation,
  explainTrail,
} from "./explain.ts";
import type { ArtifactReport, AttestationReport, TrailReports } from "./model.ts";
import type { ProposedReport } from "./propose.ts";

/** What a proposal leaves open is filled in as a reporter would: a new artifact has a fingerprint of its own. */
function carriedOut(proposed: ProposedReport): ArtifactReport | AttestationReport {
  const name = proposed.artifact_name;
  const ofNew = `new-${name}`;
  if (proposed.attestation_name === null)
    return artifact(name!, { fingerprint: ofNew, git_commit: proposed.git_commit });
  const waits = proposed.git_commit !== null;
  return attestation(
    proposed.attestation_name,
    proposed.attestation_type === "*" ? "generic" : proposed.attestation_type!,
    {
      artifact_fingerprint: waits || name === null ? null : (proposed.artifact_fingerprint ?? ofNew),
      target_artifacts: name === null ? null : [name],
      git_commit: proposed.git_commit,
    },
  );
}

function withMore(given: TrailReports, more: readonly (ArtifactReport | AttestationReport)[]): TrailReports {
  return {
    artifacts: [...given.artifacts, ...more.filter((report) => "artifact_id" in report)],
    attestations: [...given.attestations, ...more.filter((report) => "attestation_id" in report)],
  };
}

function after(given: TrailReports, proposed: readonly ProposedReport[]): TrailReports {
  return withMore(given, proposed.map(carriedOut));
}

function subsets<Item>(items: readonly Item[]): Item[][] {
  return items.reduce<Item[][]>((all, item) => [...all, ...all.map((set) => [...set, item])], [[]]);
}

describe("the proposed reports", () => {
  it("make a trail compliant, and no part of them does", () => {
    fc.assert(
      fc.property(anyTemplate, anyReports, (template, given) => {
        const { status, proposed_reports: proposed } = explainTrail(template, given);
        expect(evaluateTrail(template, given).status).toBe(status);
        expect(proposed.length === 0).toBe(status === "COMPLIANT");
        expect(evaluateTrail(template, after(given, proposed)).status).toBe("COMPLIANT");
        // More reports never make it worse, so it is enough to leave out one at a time; small sets are tried in full.
        const parts =
          proposed.length <= 5
            ? subsets(proposed).filter((part) => part.length < proposed.length)
            : proposed.map((_, index) => proposed.toSpliced(index, 1));
        for (const part of parts)
          expect(evaluateTrail(template, after(given, part)).status).not.toBe("COMPLIANT");
      }),
      { numRuns: 500 },
    );
  });

  it("make an artifact compliant, and no part of them does", () => {
    fc.assert(
      fc.property(anyTemplate, anyReports, (template, given) => {
        for (const one of given.artifacts) {
          const explanation = finish(explainArtifactInSteps(template, given, one));
          const { status, requirements, proposed_reports: proposed } = explanation;
          expect(finish(artifactRequirementsInSteps(template, given, one))).toEqual(requirements);
          const stateAfter = (part: readonly ProposedReport[]) =>
            finish(evaluateArtifactInSteps(template, after(given, part), one));
          expect(finish(evaluateArtifactInSteps(template, given, one))).toBe(status);
          expect(proposed.length === 0).toBe(status === "COMPLIANT");
          expect(stateAfter(proposed)).toBe("COMPLIANT");
          for (const [index] of proposed.entries())
            expect(stateAfter(proposed.toSpliced(index, 1))).not.toBe("COMPLIANT");
        }
      }),
      { numRuns: 300 },
    );
  });

  it("are the fewest: no other reports of things that are there do it with one less", () => {
    fc.assert(
      fc.property(anyTemplate, anyReports, (template, given) => {
        const { proposed_reports: proposed } = explainTrail(template, given);
        fc.pre(proposed.length === 2 || proposed.length === 3);
        const places = [...evaluateTrail(template, given).artifacts_statuses].flatMap(([name, status]) =>
          status.artifact_fingerprint === null
            ? [{ target_artifacts: [name], git_commit: "c1" }, { artifact_fingerprint: `new-${name}` }]
            : [{ artifact_fingerprint: status.artifact_fingerprint }],
        );
        const names = [...new Set(proposed.flatMap((one) => one.attestation_name ?? []))];
        const attestations = [{}, ...places].flatMap((place) =>
          names.flatMap((name) =>
            ["generic", "junit", "system:decision"].map((type) => attestation(name, type, place)),
          ),
        );
        const artifacts = template.trail.artifacts
          .filter(({ name }) => !given.artifacts.some((report) => report.template_reference_name === name))
          .flatMap(({ name }) =>
            ["c1", "c2", null].map((git_commit) =>
              artifact(name, { fingerprint: `new-${name}`, git_commit }),
            ),
          );
        const candidates = [...artifacts, ...attestations];
        const fewer =
          proposed.length === 2
            ? candidates.map((one) => [one])
            : candidates.flatMap((one, index) => candidates.slice(index + 1).map((other) => [one, other]));
        expect(
          fewer.filter((set) => evaluateTrail(template, withMore(given, set)).status === "COMPLIANT"),
        ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

const template: Template = {
  version: 1,
  trail: {
    attestations: [{ name: "ticket", type: "jira" }],
    artifacts: [
      { name: "cli", attestations: [] },
      {
        name: "api",
        attestations: [
          { name: "unit", type: "junit" },
          { name: "scan", type: "*" },
        ],
      },
    ],
  },
};

function explain(more: Partial<TrailReports>, rules = template): Explanation {
  return explainTrail(rules, { artifacts: [], attestations: [], ...more });
}

function short(explanation: Explanation) {
  return explanation.proposed_reports.map((one) => [
    one.artifact_name,
    one.artifact_fingerprint,
    one.attestation_name,
    one.attestation_type,
    one.git_commit,
    one.replaces,
  ]);
}

describe("an explanation", () => {
  it("says where the template asks for each thing, and what became of it", () => {
    const api = artifact("api");
    const unit = attestation("unit", "junit", { artifact_fingerprint: "f1", is_compliant: false });
    const again = attestation("unit", "junit", { artifact_fingerprint: "f1", is_override: true });
    const lint = attestation("lint", "generic", { artifact_fingerprint: "f1", is_compliant: false });
    const { status, requirements } = explain({ artifacts: [api], attestations: [unit, again, lint] });
    expect(status).toBe("NON-COMPLIANT");
    expect(
      requirements.map((one) => [
        one.template_path,
        one.artifact_name,
        one.attestation_name,
        one.attestation_type,
        one.outcome,
      ]),
    ).toEqual([
      ["trail.attestations[0]", null, "ticket", "jira", "missing"],
      ["trail.artifacts[0]", "cli", null, null, "missing"],
      ["trail.artifacts[1]", "api", null, null, "met"],
      ["trail.artifacts[1].attestations[0]", "api", "unit", "junit", "met"],
      ["trail.artifacts[1].attestations[1]", "api", "scan", "*", "missing"],
      [null, "api", "lint", "generic", "failed"],
    ]);
    expect(requirements[2]).toMatchObject({ artifact: api, attestation: null, artifact_fingerprint: "f1" });
    expect(requirements[3]).toMatchObject({ artifact: null, attestation: again, overridden: unit });
  });

  it("proposes what is missing and, for what failed, another report of it", () => {
    const lint = attestation("lint", "generic", { artifact_fingerprint: "f1", is_compliant: false });
    expect(short(explain({ artifacts: [artifact("api")], attestations: [lint] }))).toEqual([
      [null, null, "ticket", "jira", null, null],
      ["api", "f1", "unit", "junit", null, null],
      ["api", "f1", "scan", "*", null, null],
      ["api", "f1", "lint", "generic", null, lint.attestation_id],
      ["cli", null, null, null, null, null],
    ]);
  });

  it("takes the commit with which least is left to do for a missing artifact", () => {
    const waiting = (name: string, git_commit: string, is_compliant = true) =>
      attestation(name, "junit", { target_artifacts: ["api"], git_commit, is_compliant });
    const of = (...attestations: AttestationReport[]) =>
      short(explain({ attestations })).filter(([name]) => name === "api");
    const api = (commit: string | null) => ["api", null, null, null, commit, null];
    const [unit, scan] = [
      ["api", null, "unit", "junit", null, null],
      ["api", null, "scan", "*", null, null],
    ];
    expect(of()).toEqual([api(null), unit, scan]);
    expect(of(waiting("unit", "c1"), waiting("scan", "c1"), waiting("unit", "c2"))).toEqual([api("c1")]);
    expect(of(waiting("unit", "c1"), waiting("unit", "c2"))).toEqual([api("c2"), scan]);
    expect(of(waiting("unit", "c1", false), waiting("lint", "c1", false))).toEqual([api(null), unit, scan]);
  });

  it("needs one report for an artifact that has two names", () => {
    const both: Template = {
      version: 1,
      trail: {
        attestations: [],
        artifacts: ["a", "b"].map((name) => ({ name, attestations: [{ name: "scan", type: "snyk" }] })),
      },
    };
    const artifacts = [artifact("a"), artifact("b")];
    expect(short(explain({ artifacts }, both))).toEqual([["a", "f1", "scan", "snyk", null, null]]);
  });

  it("blames the failed report of another type, which a report of any type outdates", () => {
    const onTrail: Template = {
      version: 1,
      trail: { attestations: [{ name: "ticket", type: "jira" }], artifacts: [] },
    };
    const failed = attestation("ticket", "generic", { is_compliant: false });
    const met = explain({ attestations: [attestation("ticket", "jira"), failed] }, onTrail);
    expect(met.requirements).toMatchObject([
      { outcome: "failed", attestation_type: "jira", attestation: failed },
    ]);
    expect(short(met)).toEqual([[null, null, "ticket", "jira", null, failed.attestation_id]]);
    const never = explain({ attestations: [failed] }, onTrail);
    expect(never.requirements).toMatchObject([{ outcome: "failed", attestation: failed }]);
    expect(short(never)).toEqual([[null, null, "ticket", "jira", null, failed.attestation_id]]);
  });
});
