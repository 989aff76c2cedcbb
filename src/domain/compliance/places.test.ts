import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyTemplate, artifact, attestation } from "../../../test/support/compliance.ts";
import { finish } from "../../lib/steps.ts";
import type { Template } from "../template/model.ts";
import type { TrailReports } from "./model.ts";
import { artifactPlace, artifactPlacesInSteps } from "./places.ts";

const names = fc.constantFrom("a", "b", "c", "7", "__proto__");
const fingerprints = fc.constantFrom("f1", "f2", "f3");
const commits = fc.constantFrom("c1", "c2", null);

/** Reports as the rules do not expect them, too: for names twice, without a commit, or for both a name and a fingerprint. */
const anyReports: fc.Arbitrary<TrailReports> = fc
  .record({
    artifacts: fc.array(fc.tuple(names, fc.record({ fingerprint: fingerprints, git_commit: commits })), {
      maxLength: 6,
    }),
    attestations: fc.array(
      fc.record({
        artifact_fingerprint: fc.option(fingerprints),
        target_artifacts: fc.option(fc.array(names, { maxLength: 4 })),
        git_commit: commits,
        // Some come at the same moment.
        reported_at: fc.nat({ max: 5 }),
      }),
      { maxLength: 12 },
    ),
  })
  .map(({ artifacts, attestations }) => ({
    artifacts: artifacts.map(([name, rest]) => artifact(name, { ...rest, reported_at: 3 })),
    attestations: attestations.map((rest) => attestation("x", "generic", rest)),
  }));

/** The rule, as the documentation has it: by looking at everything for every name. */
function plainPlaces({ trail }: Template, { artifacts, attestations }: TrailReports) {
  const waiting = attestations.filter((report) => report.artifact_fingerprint === null);
  const mentions = [
    ...artifacts.map((report) => ({ name: report.template_reference_name, at: report.reported_at })),
    ...waiting.flatMap((report) =>
      (report.target_artifacts ?? []).map((name) => ({ name, at: report.reported_at })),
    ),
  ];
  const firstOf = (some: typeof mentions) =>
    some.filter(({ name }, index) => some.findIndex((other) => other.name === name) === index);
  const reported = firstOf(mentions.slice(0, artifacts.length));
  const others = [...reported, ...firstOf(mentions.slice(artifacts.length))].toSorted((a, b) => a.at - b.at);
  const all = [...trail.artifacts.map(({ name }) => name), ...others.map(({ name }) => name)];
  return [...new Set(all)].map((name) => {
    const one = artifacts.findLast((report) => report.template_reference_name === name);
    const template_index = trail.artifacts.findIndex((asked) => asked.name === name);
    return {
      name,
      artifact: one,
      template_index,
      entries: trail.artifacts[template_index]?.attestations ?? [],
      reports: attestations.filter((report) => {
        if (report.artifact_fingerprint !== null) return report.artifact_fingerprint === one?.fingerprint;
        if (!(report.target_artifacts ?? []).includes(name)) return false;
        return one === undefined || (report.git_commit !== null && report.git_commit === one.git_commit);
      }),
    };
  });
}

describe("the places of artifacts", () => {
  it("are those that looking at everything for every name finds", () => {
    fc.assert(
      fc.property(anyTemplate, anyReports, (template, reports) => {
        expect(finish(artifactPlacesInSteps(template, reports))).toEqual(plainPlaces(template, reports));
      }),
      { numRuns: 1000 },
    );
  });

  it("are found one by one as they are found together", () => {
    fc.assert(
      fc.property(anyTemplate, anyReports, (template, reports) => {
        const places = finish(artifactPlacesInSteps(template, reports)).filter(
          (place) => place.artifact !== undefined,
        );
        const alone = places.map((place) => artifactPlace(template, reports, place.artifact!));
        expect(alone).toEqual(places);
      }),
    );
  });
});
