import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  anyReports as reports,
  anyTemplate as template,
  artifact,
  attestation,
} from "../../../test/support/compliance.ts";
import { finish } from "../../lib/steps.ts";
import type { Template } from "../template/model.ts";
import { artifactState, evaluateArtifactInSteps, evaluateTrail } from "./evaluate.ts";
import type { ArtifactReport, AttestationReport, TrailCompliance, TrailReports } from "./model.ts";

const empty: Template = { version: 1, trail: { attestations: [], artifacts: [] } };
const example: Template = {
  version: 1,
  trail: {
    attestations: [{ name: "ticket", type: "jira" }],
    artifacts: [
      {
        name: "api",
        attestations: [
          { name: "unit", type: "junit" },
          { name: "scan", type: "snyk" },
        ],
      },
    ],
  },
};

function rowsOf(compliance: TrailCompliance, name?: string) {
  const statuses =
    name === undefined
      ? compliance.attestations_statuses
      : (compliance.artifacts_statuses.get(name)?.attestations_statuses ?? []);
  return statuses.map((row) => [row.attestation_name, row.status, row.is_compliant, row.unexpected]);
}

describe("a trail step by step", () => {
  const reports = { artifacts: [] as ArtifactReport[], attestations: [] as AttestationReport[] };
  const judge = () => evaluateTrail(example, reports);

  it("begins incomplete, with everything missing", () => {
    const compliance = judge();
    expect([compliance.status, compliance.is_compliant]).toEqual(["INCOMPLETE", false]);
    expect(rowsOf(compliance)).toEqual([["ticket", "MISSING", null, false]]);
    expect(compliance.artifacts_statuses.get("api")).toMatchObject({
      status: "MISSING",
      is_compliant: null,
      artifact_fingerprint: null,
      artifact_id: null,
      unexpected: false,
    });
    expect(rowsOf(compliance, "api")).toEqual([
      ["unit", "MISSING", null, false],
      ["scan", "MISSING", null, false],
    ]);
  });

  it("takes an attestation on the trail", () => {
    reports.attestations.push(attestation("ticket", "jira"));
    expect(judge().status).toBe("INCOMPLETE");
    expect(rowsOf(judge())).toEqual([["ticket", "COMPLETE", true, false]]);
  });

  it("shows an attestation that waits for its artifact", () => {
    reports.attestations.push(attestation("unit", "junit", { target_artifacts: ["api"], git_commit: "c1" }));
    expect(judge().artifacts_statuses.get("api")?.status).toBe("MISSING");
    expect(rowsOf(judge(), "api")[0]).toEqual(["unit", "COMPLETE", true, false]);
  });

  it("joins it to the artifact of the same commit", () => {
    reports.artifacts.push(artifact("api"));
    expect(judge().artifacts_statuses.get("api")).toMatchObject({
      status: "INCOMPLETE",
      is_compliant: false,
    });
    expect(rowsOf(judge(), "api")).toEqual([
      ["unit", "COMPLETE", true, false],
      ["scan", "MISSING", null, false],
    ]);
  });

  it("is non-compliant as soon as something failed", () => {
    reports.attestations.push(
      attestation("scan", "snyk", { artifact_fingerprint: "f1", is_compliant: false }),
    );
    expect([judge().status, judge().artifacts_statuses.get("api")?.status]).toEqual([
      "NON-COMPLIANT",
      "NON-COMPLIANT",
    ]);
  });

  it("is compliant when the latest report of everything passes", () => {
    reports.attestations.push(attestation("scan", "snyk", { artifact_fingerprint: "f1" }));
    expect([judge().status, judge().is_compliant]).toEqual(["COMPLIANT", true]);
    expect(judge().artifacts_statuses.get("api")).toMatchObject({ status: "COMPLIANT", is_compliant: true });
  });

  it("counts what the template does not ask for when it fails", () => {
    reports.attestations.push(
      attestation("lint", "generic", { artifact_fingerprint: "f1", is_compliant: false }),
    );
    expect(judge().status).toBe("NON-COMPLIANT");
    expect(rowsOf(judge(), "api").at(-1)).toEqual(["lint", "COMPLETE", false, true]);
  });

  it("follows an override, and shows what it replaced", () => {
    const original = reports.attestations.at(-1)!;
    reports.attestations.push(
      attestation("lint", "generic", { artifact_fingerprint: "f1", is_override: true }),
    );
    const row = judge().artifacts_statuses.get("api")?.attestations_statuses.at(-1);
    expect(judge().status).toBe("COMPLIANT");
    expect(row).toMatchObject({
      attestation_id: reports.attestations.at(-1)!.attestation_id,
      overridden_attestation_id: original.attestation_id,
    });
  });

  it("lets an ordinary report after an override win again", () => {
    reports.attestations.push(
      attestation("lint", "generic", { artifact_fingerprint: "f1", is_compliant: false }),
    );
    const row = judge().artifacts_statuses.get("api")?.attestations_statuses.at(-1);
    expect([judge().status, row?.overridden_attestation_id]).toEqual(["NON-COMPLIANT", null]);
  });
});

describe("single rules", () => {
  const judge = (template: Template, reports: Partial<TrailReports>) =>
    evaluateTrail(template, { artifacts: [], attestations: [], ...reports });
  const asks = (type: string): Template => ({
    version: 1,
    trail: { attestations: [{ name: "a", type }], artifacts: [] },
  });

  it("finds nothing missing without a template", () => {
    expect(judge(empty, {}).status).toBe("COMPLIANT");
    expect(judge(empty, { artifacts: [artifact("web")] }).artifacts_statuses.get("web")).toMatchObject({
      status: "COMPLIANT",
      unexpected: true,
    });
  });

  it("is incomplete with only an artifact nobody asked for", () => {
    expect(judge(example, { artifacts: [artifact("other")] }).status).toBe("INCOMPLETE");
  });

  it.each([
    ["*", "custom:x", true],
    ["junit", "junit", true],
    ["junit", "snyk", false],
    ["decision", "system:decision", true],
    ["custom:a", "custom:b", false],
  ])("an entry of type %s is met by %s: %s", (expected, reported, met) => {
    expect(judge(asks(expected), { attestations: [attestation("a", reported)] }).status).toBe(
      met ? "COMPLIANT" : "INCOMPLETE",
    );
  });

  it("never forgets a failure because its type does not fit", () => {
    const failed = attestation("a", "snyk", { is_compliant: false });
    expect(judge(asks("junit"), { attestations: [failed] }).status).toBe("NON-COMPLIANT");
    expect(judge(asks("junit"), { attestations: [attestation("a", "junit"), failed] }).status).toBe(
      "NON-COMPLIANT",
    );
    expect(judge(asks("junit"), { attestations: [failed, attestation("a", "junit")] }).status).toBe(
      "COMPLIANT",
    );
  });

  it("overrides what was never reported", () => {
    const override = attestation("a", "junit", { is_override: true });
    const compliance = judge(asks("junit"), { attestations: [override] });
    expect(compliance.status).toBe("COMPLIANT");
    expect(compliance.attestations_statuses[0]?.overridden_attestation_id).toBeNull();
  });

  it("never matches different commits", () => {
    const waiting = attestation("unit", "junit", { target_artifacts: ["api"], git_commit: "c2" });
    const compliance = judge(example, { artifacts: [artifact("api")], attestations: [waiting] });
    expect(rowsOf(compliance, "api")[0]).toEqual(["unit", "MISSING", null, false]);
  });

  it("shows the artifact reported last under a name, with its own attestations", () => {
    const reports = {
      artifacts: [artifact("web"), artifact("web", { fingerprint: "f2" })],
      attestations: [attestation("old", "generic", { artifact_fingerprint: "f1", is_compliant: false })],
    };
    expect(judge(empty, reports).artifacts_statuses.get("web")).toMatchObject({
      artifact_fingerprint: "f2",
      status: "COMPLIANT",
    });
  });

  it("keeps the order of names that look like numbers", () => {
    const template: Template = {
      version: 1,
      trail: { attestations: [], artifacts: ["10", "2", "b"].map((name) => ({ name, attestations: [] })) },
    };
    expect([...judge(template, { artifacts: [artifact("1")] }).artifacts_statuses.keys()]).toEqual([
      "10",
      "2",
      "b",
      "1",
    ]);
  });

  it("counts the trail's attestations in an artifact's own state", () => {
    const template: Template = {
      ...example,
      trail: { ...example.trail, artifacts: [{ name: "api", attestations: [] }] },
    };
    const api = artifact("api");
    const reports = { artifacts: [api, artifact("api", { fingerprint: "f2" })], attestations: [] };
    const state = (attestations: AttestationReport[]) =>
      finish(evaluateArtifactInSteps(template, { ...reports, attestations }, api));
    expect(judge(template, reports).artifacts_statuses.get("api")?.status).toBe("COMPLIANT");
    expect(state([])).toBe("INCOMPLETE");
    const ticket = attestation("ticket", "jira");
    expect(state([ticket])).toBe("COMPLIANT");
    // What another artifact of the name is worth does not matter.
    const onOther = attestation("lint", "generic", { artifact_fingerprint: "f2", is_compliant: false });
    expect(state([ticket, onOther])).toBe("COMPLIANT");
    const failed = attestation("ticket", "generic", { is_compliant: false });
    expect(state([ticket, failed])).toBe("NON-COMPLIANT");
  });
});

describe("laws", () => {
  it("a verdict does not depend on whether attestations or artifacts came first", () => {
    fc.assert(
      fc.property(template, reports, (rules, { artifacts, attestations }) => {
        const moved = attestations.map((report) => ({
          ...report,
          reported_at: report.reported_at - 1_000_000,
        }));
        const one = evaluateTrail(rules, { artifacts, attestations });
        const other = evaluateTrail(rules, { artifacts, attestations: moved });
        expect(other.status).toBe(one.status);
        expect(other.artifacts_statuses).toEqual(one.artifacts_statuses);
      }),
    );
  });

  it("a compliant report of something expected and missing never makes things worse", () => {
    const rank = { "NON-COMPLIANT": 0, INCOMPLETE: 1, COMPLIANT: 2 };
    fc.assert(
      fc.property(template, reports, (rules, given) => {
        const before = evaluateTrail(rules, given);
        const missing = before.attestations_statuses.find((row) => row.status === "MISSING");
        fc.pre(missing !== undefined);
        const type =
          { "*": "generic", decision: "system:decision" }[missing.attestation_type] ??
          missing.attestation_type;
        const added = attestation(missing.attestation_name, type);
        const after = evaluateTrail(rules, { ...given, attestations: [...given.attestations, added] });
        expect(rank[after.status]).toBeGreaterThanOrEqual(rank[before.status]);
      }),
    );
  });

  it("an override there and back leaves the verdict as it was", () => {
    fc.assert(
      fc.property(template, reports, (rules, given) => {
        const before = evaluateTrail(rules, given);
        const row = before.attestations_statuses.find(({ status }) => status === "COMPLETE");
        fc.pre(row !== undefined && row.is_compliant !== null);
        const override = (is_compliant: boolean) =>
          attestation(row.attestation_name, row.attestation_type, { is_override: true, is_compliant });
        const attestations = [...given.attestations, override(!row.is_compliant), override(row.is_compliant)];
        const after = evaluateTrail(rules, { ...given, attestations });
        const states = (compliance: TrailCompliance) =>
          compliance.attestations_statuses.map(({ attestation_name, is_compliant }) => [
            attestation_name,
            is_compliant,
          ]);
        expect(states(after)).toEqual(states(before));
      }),
    );
  });

  it("the state of an artifact follows from the verdict on its trail, while it has its name", () => {
    fc.assert(
      fc.property(template, reports, (rules, given) => {
        const verdict = evaluateTrail(rules, given);
        const latest = new Map(given.artifacts.map((report) => [report.template_reference_name, report]));
        for (const [name, report] of latest) {
          const { status } = verdict.artifacts_statuses.get(name)!;
          const state = status === "MISSING" ? status : artifactState(verdict.own_state, status);
          expect(state).toBe(finish(evaluateArtifactInSteps(rules, given, report)));
        }
      }),
    );
  });

  it("a compliant trail has nothing missing and nothing failed; names are unique in every place", () => {
    fc.assert(
      fc.property(template, reports, (rules, given) => {
        const compliance = evaluateTrail(rules, given);
        const places = [
          compliance.attestations_statuses,
          ...[...compliance.artifacts_statuses.values()].map((status) => status.attestations_statuses),
        ];
        for (const place of places) {
          const seen = place.map((row) => row.attestation_name);
          expect(new Set(seen).size).toBe(seen.length);
        }
        const failed = places.flat().some((row) => row.is_compliant === false);
        if (failed) expect(compliance.status).toBe("NON-COMPLIANT");
        if (compliance.status === "COMPLIANT") {
          expect(failed).toBe(false);
          expect(places.flat().filter((row) => row.status === "MISSING")).toEqual([]);
        }
      }),
    );
  });
});
