import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { attestation } from "../../test/support/compliance.ts";
import type { Requirement } from "./compliance/explain.ts";
import { complianceStates } from "./compliance/model.ts";
import { finish } from "../lib/steps.ts";
import { drawProvenanceInSteps, type PictureFacts, pictureKinds } from "./provenance-picture.ts";

const fingerprint = "ab".repeat(32);
const link = (path: string): string => `https://w.test/acme${path}`;
const id = (number: number): string => `01890a5d-ac96-774b-bcce-${String(number).padStart(8, "0")}0000`;

const draw = (given: PictureFacts) => finish(drawProvenanceInSteps(given, link));

let made = 0;

/** What a template asks for, or what came unasked. */
function requirement(name: string, artifact: string | null, isCompliant: boolean | null): Requirement {
  made += 1;
  return {
    kind: "attestation",
    template_path: null,
    artifact_name: artifact,
    artifact_fingerprint: artifact === null ? null : fingerprint,
    attestation_name: name,
    attestation_type: "generic",
    outcome: isCompliant === null ? "missing" : isCompliant ? "met" : "failed",
    artifact: null,
    attestation:
      isCompliant === null
        ? null
        : attestation(name, "generic", { attestation_id: id(made), is_compliant: isCompliant }),
    overridden: null,
  };
}

function facts(given: Partial<PictureFacts> = {}): PictureFacts {
  return {
    fingerprint,
    name: "web:1",
    reports: [],
    environments: [],
    more_reports: 0,
    more_environments: false,
    ...given,
  };
}

const report = {
  flow_name: "ci",
  trail_name: "run",
  trail_state: "INCOMPLETE",
  artifact_id: id(0),
  git_commit: "c".repeat(40),
  state: "INCOMPLETE",
} as const;

describe("a picture of provenance", () => {
  it("leads from the commit over the trail and the artifact to its evidence, what is missing, and where it runs", () => {
    const requirements = [requirement("gate", null, true), requirement("scan", "web", null)];
    const { nodes, edges, truncated } = draw(
      facts({ reports: [{ ...report, requirements }], environments: [{ name: "prod", compliant: false }] }),
    );
    expect(nodes.map(({ kind, label, verdict, missing }) => [kind, label, verdict, missing])).toEqual([
      ["commit", "ccccccc", null, false],
      ["trail", "ci/run", "INCOMPLETE", false],
      ["artifact", "web:1", "INCOMPLETE", false],
      ["attestation", "gate", "COMPLIANT", false],
      ["attestation", "scan", null, true],
      ["environment", "prod", "NON-COMPLIANT", false],
    ]);
    const [commit, trail, artifact, gate, scan, prod] = nodes.map((node) => node.id);
    expect(edges).toEqual([
      { from: trail, to: artifact },
      { from: commit, to: trail },
      { from: artifact, to: prod },
      { from: trail, to: gate },
      { from: artifact, to: scan },
    ]);
    expect(truncated).toBe(false);
  });

  it("folds what is more than 12 of a kind, and shows first what failed or is missing", () => {
    const requirements = Array.from({ length: 43 }, (_, at) =>
      requirement(`check-${at}`, "web", at === 42 ? false : at === 41 ? null : true),
    );
    const environments = Array.from({ length: 13 }, (_, at) => ({ name: `e-${at}`, compliant: null }));
    const { nodes, truncated } = draw(facts({ reports: [{ ...report, requirements }], environments }));
    const checks = nodes.filter(({ kind }) => kind === "attestation");
    expect(checks).toHaveLength(13);
    expect(checks.slice(10).map(({ label, count, verdict }) => [label, count, verdict])).toEqual([
      ["check-41", undefined, null],
      ["check-42", undefined, "NON-COMPLIANT"],
      ["+ 31", 31, "COMPLIANT"],
    ]);
    expect(nodes.at(-1)).toMatchObject({
      kind: "environment",
      label: "+ 1",
      count: 1,
      html_url: link(`/running?fingerprint=${fingerprint}`),
    });
    expect(truncated).toBe(true);
  });

  it("looks at a few of very many at a time, and folds what it did not keep as what it is", () => {
    const [count, failing] = [30_000, 20];
    let looked = 0;
    const requirements = Object.assign([] as Requirement[], {
      *[Symbol.iterator]() {
        for (let at = 0; at < count; at += 1) {
          looked += 1;
          yield requirement(`check-${at}`, "web", at < count - failing);
        }
      },
    });
    const given = facts({ reports: [{ ...report, requirements }] });
    const drawing = drawProvenanceInSteps(given, link);
    let step = drawing.next();
    for (let before = 0; step.done !== true; before = looked, step = drawing.next())
      expect(looked - before).toBeLessThanOrEqual(1000);
    const checks = step.value.nodes.filter(({ kind }) => kind === "attestation");
    expect(checks.slice(0, 12).map(({ verdict }) => verdict)).toEqual(Array(12).fill("NON-COMPLIANT"));
    expect(checks.slice(12)).toEqual([
      expect.objectContaining({ label: `+ ${count - 12}`, count: count - 12, verdict: "NON-COMPLIANT" }),
    ]);
  });

  it("says how many flows are left out", () => {
    const reports = Array.from({ length: 12 }, (_, at) => ({
      ...report,
      flow_name: `f-${at}`,
      requirements: [],
    }));
    const { nodes } = draw(facts({ reports, more_reports: 30 }));
    const trails = nodes.filter(({ kind }) => kind === "trail");
    expect([trails.length, trails.at(-1)?.label]).toEqual([13, "+ 30"]);
  });

  const requirements = fc.array(
    fc
      .tuple(fc.nat(40), fc.constantFrom(null, "web"), fc.constantFrom(true, false, null))
      .map(([name, artifact, isCompliant]) => requirement(`n-${name}`, artifact, isCompliant)),
    { maxLength: 60 },
  );
  const anyFacts = fc
    .record({
      reports: fc.uniqueArray(
        fc.record({
          flow_name: fc.nat(30).map((number) => `f-${number}`),
          trail_name: fc.constantFrom("run", "other"),
          trail_state: fc.constantFrom(null, ...complianceStates),
          artifact_id: fc.constant(id(0)),
          git_commit: fc.constantFrom(null, "a".repeat(40), "b".repeat(40)),
          state: fc.constantFrom(...complianceStates),
          requirements,
        }),
        { maxLength: 20, selector: ({ flow_name }) => flow_name },
      ),
      environments: fc.uniqueArray(
        fc.record({ name: fc.nat(99).map((n) => `e-${n}`), compliant: fc.constantFrom(true, false, null) }),
        { maxLength: 60, selector: ({ name }) => name },
      ),
      more_reports: fc.nat(5),
      more_environments: fc.boolean(),
    })
    .map(facts);

  it("has at most 200 nodes that differ, in the order of ranks, and edges between them, the same each time", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const picture = draw(given);
        const ids = new Set(picture.nodes.map((node) => node.id));
        expect(ids.size).toBe(picture.nodes.length);
        expect(ids.size).toBeLessThanOrEqual(200);
        for (const { from, to } of picture.edges) expect([ids.has(from), ids.has(to)]).toEqual([true, true]);
        const ranks = picture.nodes.map(({ kind }) => pictureKinds.indexOf(kind));
        expect(ranks).toEqual(ranks.toSorted((left, right) => left - right));
        const isFolded = picture.nodes.some(({ count }) => count !== undefined);
        expect(picture.truncated).toBe(isFolded || given.more_environments || given.more_reports > 0);
        expect(draw(given)).toEqual(picture);
      }),
    );
  });
});
