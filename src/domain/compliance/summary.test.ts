import { expect, it } from "vitest";

import { attestation } from "../../../test/support/compliance.ts";
import type { Template } from "../template/model.ts";
import { explainTrail } from "./explain.ts";
import type { AttestationReport } from "./model.ts";
import { reasonOf, summarize } from "./summary.ts";

function explain(entries: Template["trail"]["attestations"], attestations: AttestationReport[]) {
  const template: Template = { version: 1, trail: { attestations: entries, artifacts: [] } };
  return explainTrail(template, { artifacts: [], attestations });
}

it("names five of what failed and of what is missing, and counts the rest", () => {
  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const failed = names.map((name) => attestation(`${name}2`, "generic", { is_compliant: false }));
  const entries = names.slice(0, 5).map((name) => ({ name, type: "*" }));
  expect(summarize(explain(entries, failed))).toBe(
    "Not compliant: a2, b2, c2, d2, e2 and 2 more. Missing: a, b, c, d, e",
  );
});

it.each([
  ["junit", attestation("a", "junit"), "Compliant"],
  ["*", attestation("a", "junit", { is_override: true }), "Compliant by an override"],
  ["junit", attestation("a", "generic"), "No attestation of this name and type was reported"],
  ["*", attestation("a", "junit", { is_compliant: false }), "Not compliant"],
  ["decision", attestation("a", "system:decision", { is_compliant: false }), "Not compliant"],
  [
    "junit",
    attestation("a", "generic", { is_compliant: false }),
    "The latest report is of the type generic and not compliant",
  ],
])("where %s is asked for, tells why", (type, report, reason) => {
  expect(explain([{ name: "a", type }], [report]).requirements.map(reasonOf)).toEqual([reason]);
});
