import fc from "fast-check";
import { expect, it } from "vitest";

import { attestation } from "../../../test/support/compliance.ts";
import { finish } from "../../lib/steps.ts";
import type { AttestationReport } from "./model.ts";
import type { Place } from "./places.ts";
import { proposeReportsInSteps } from "./propose.ts";

const names = fc.constantFrom("a", "b", "c");

/** An artifact that is missing, with reports that wait for it. */
const anyMissing: fc.Arbitrary<Place> = fc
  .record({
    entries: fc.uniqueArray(
      fc.record({ name: names, type: fc.constantFrom("generic", "junit", "*", "decision") }),
      { selector: ({ name }) => name },
    ),
    reports: fc.array(
      fc.record({
        name: names,
        type: fc.constantFrom("generic", "junit", "system:decision"),
        is_compliant: fc.boolean(),
        is_override: fc.boolean(),
        git_commit: fc.constantFrom("c1", "c2", "c3", null),
      }),
      { maxLength: 12 },
    ),
  })
  .map(({ entries, reports }) => ({
    name: "api",
    artifact: undefined,
    template_index: 0,
    entries,
    reports: reports.map(({ name, type, ...rest }) =>
      attestation(name, type, { ...rest, target_artifacts: ["api"] }),
    ),
  }));

/** What is to be reported under the name beside the artifact, once it is reported with a commit: one for each that is not met. */
function needed({ entries, reports }: Place, commit: string | null): number {
  // As a place of its own that is not expected: its needs are proposed one by one.
  const left: AttestationReport[] = reports.filter((one) => commit !== null && one.git_commit === commit);
  return finish(
    proposeReportsInSteps([{ name: "api", artifact: undefined, template_index: -1, entries, reports: left }]),
  ).length;
}

it("proposes the commit that leaves least to do, of several the one last attested, and none only where that leaves less", () => {
  fc.assert(
    fc.property(anyMissing, (place) => {
      const attested = place.reports.flatMap((one) => one.git_commit ?? []).toReversed();
      const commits = [...new Set([...attested, null])];
      const least = Math.min(...commits.map((commit) => needed(place, commit)));
      const [artifact, ...attestations] = finish(proposeReportsInSteps([place]));
      expect(artifact).toMatchObject({
        kind: "artifact",
        git_commit: commits.find((commit) => needed(place, commit) === least),
      });
      expect(attestations).toHaveLength(least);
    }),
    { numRuns: 500 },
  );
});
