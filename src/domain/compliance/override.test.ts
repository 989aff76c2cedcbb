import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyReports, anyTemplate, artifact, attestation } from "../../../test/support/compliance.ts";
import type { Template } from "../template/model.ts";
import type { AttestationReport, TrailReports } from "./model.ts";
import { typeOfOverride } from "./override.ts";
import { placesOfReport } from "./places.ts";
import { outcomeOf, type Row, rowOf } from "./rows.ts";

/** The row of an override in the first of its places that has something under its name, and in the first one otherwise. */
function rowFor(template: Template, reports: TrailReports, override: AttestationReport): Row | undefined {
  const rows = placesOfReport(template, reports, override).map(({ entries, reports: there }) => ({
    row: rowOf(
      override.name,
      entries.find(({ name }) => name === override.name),
      there.filter(({ name }) => name === override.name),
    ),
    isEmpty: !there.some(
      ({ name, attestation_id }) => name === override.name && attestation_id !== override.attestation_id,
    ),
  }));
  return (rows.find(({ isEmpty }) => !isEmpty) ?? rows[0])?.row;
}

const anyOverride = fc
  .record({
    name: fc.constantFrom("a", "b"),
    type: fc.constantFrom("generic", "junit", "system:decision", "snyk"),
    is_compliant: fc.boolean(),
    place: fc.constantFrom(
      {},
      { artifact_fingerprint: "f1" },
      { target_artifacts: ["a"], git_commit: "c1" },
      { target_artifacts: ["b", "a"], git_commit: "c2" },
    ),
  })
  .map(({ name, type, is_compliant, place }) =>
    attestation(name, type, { is_compliant, is_override: true, ...place }),
  );

describe("an override", () => {
  it("decides under its name, whatever type it was said to be of", () => {
    fc.assert(
      fc.property(anyTemplate, anyReports, anyOverride, (template, { artifacts, attestations }, stated) => {
        const reports = { artifacts: [...artifacts, artifact("a")], attestations };
        const before = rowFor(template, reports, stated)!;
        const override = { ...stated, type: typeOfOverride(template, reports, stated) };
        const after = rowFor(template, { ...reports, attestations: [...attestations, override] }, override)!;
        const { current, contradiction } = before;
        if (current === undefined && after.current === undefined)
          expect(outcomeOf(after)).toBe(override.is_compliant ? "missing" : "failed");
        else expect(outcomeOf(after)).toBe(override.is_compliant ? "met" : "failed");
        // It is seen to decide, unless it is one of a report that the template does not ask for.
        if (current !== undefined && contradiction?.type !== override.type) {
          expect(after.current).toBe(override);
          if (!current.is_override) expect(after.overridden?.type).toBe(override.type);
        }
        if (current === undefined && contradiction === undefined && before.entry === undefined)
          expect(override.type).toBe(stated.type);
      }),
      { numRuns: 2000 },
    );
  });

  const asking = (type: string): Template => ({
    version: 1,
    trail: { attestations: [{ name: "a", type }], artifacts: [] },
  });
  const passed = (type: string) => attestation("a", type);
  const failed = (type: string) => attestation("a", type, { is_compliant: false });
  const overriding = (type: string) => attestation("a", type, { is_override: true });

  it.each([
    ["of what the template asks for", "snyk", [failed("snyk"), passed("junit")], "generic", "snyk"],
    [
      "of what is asked for, though it is said of another",
      "snyk",
      [failed("snyk"), passed("junit")],
      "junit",
      "snyk",
    ],
    ["of a decision", "decision", [failed("system:decision")], "generic", "system:decision"],
    ["of the last, where any will do", "*", [failed("snyk"), passed("junit")], "generic", "junit"],
    ["of the one that is meant, where any will do", "*", [failed("snyk"), passed("junit")], "snyk", "snyk"],
    ["of what alone failed, if it is meant", "snyk", [passed("snyk"), failed("junit")], "junit", "junit"],
    ["of what is asked for, if that failed, too", "snyk", [failed("snyk"), failed("junit")], "junit", "snyk"],
    ["of what is asked for and missing, if that is meant", "snyk", [failed("junit")], "snyk", "snyk"],
    ["of what is there, if what is meant is not asked for", "snyk", [failed("junit")], "generic", "junit"],
    [
      "of the evidence, not of a mistaken override of it",
      "*",
      [failed("snyk"), overriding("junit")],
      "junit",
      "snyk",
    ],
    ["as it is said where there is nothing", "snyk", [], "generic", "generic"],
  ])("has the type %s", (_, asked, attestations, stated, type) => {
    expect(typeOfOverride(asking(asked), { artifacts: [], attestations }, overriding(stated))).toBe(type);
  });
});
