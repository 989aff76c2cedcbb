import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { finish } from "../../lib/steps.ts";
import { type DetailableArtifact, detailedDiff, differingPolicies } from "./diff-detail.ts";
import { DiffSide } from "./diff.ts";

const digests = Array.from("abcdefgh");
const artifact = fc.record({
  name: fc.constantFrom("web:1", "web:2", "api:1", "db"),
  fingerprint: fc.constantFrom("", ...digests),
  creationTimestamp: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }),
  pods: fc.constant([]),
  flow_name: fc.constantFrom(null, "ci"),
  commit_url: fc.constant(null),
  compliant: fc.constantFrom(true, false, null),
  trail_name: fc.constant("run"),
  artifact_id: fc.constant("01890a5d-ac96-774b-bcce-b302099a0000"),
  template_reference_name: fc.constantFrom("web", "api"),
  git_commit: fc.constant(null),
  commit_lead_time: fc.constant(7),
  follows: fc.array(fc.constantFrom(...digests), { maxLength: 2 }),
});
const side = fc.array(artifact, { maxLength: 12 });

function sideOf(name: string, artifacts: readonly DetailableArtifact[]): DiffSide<DetailableArtifact> {
  const gathered = new DiffSide<DetailableArtifact>(name);
  for (const one of artifacts) gathered.add(one);
  return gathered;
}

/** What tells artifacts apart: without a digest the name does. */
function keys(shown: readonly { fingerprint: string; name: string }[]): string[] {
  return shown.map(({ fingerprint, name }) => fingerprint || ` ${name}`);
}

describe("a detailed difference", () => {
  it("has each artifact of each side in exactly one list", () => {
    fc.assert(
      fc.property(side, side, (first, second) => {
        const [before, after] = [sideOf("a#1", first), sideOf("b#1", second)];
        const diff = finish(detailedDiff(before, after, (path) => `https://w.test${path}`));
        const both = keys([...diff.changed, ...diff.same]);
        const left = [...keys(diff.gone), ...keys(diff.paired.map((pair) => pair.before)), ...both];
        const right = [...keys(diff.come), ...keys(diff.paired.map((pair) => pair.after)), ...both];
        expect(left.toSorted()).toEqual([...before.groups.keys()].toSorted());
        expect(right.toSorted()).toEqual([...after.groups.keys()].toSorted());
        for (const { html_url, flow } of [...diff.gone, ...diff.come, ...diff.same])
          expect(html_url === null).toBe(flow === "");
      }),
    );
  });
});

describe("policies that differ", () => {
  it("are those of other versions, and those of one side only", () => {
    const before = new Map([
      ["same", 1],
      ["raised", 1],
      ["dropped", 4],
    ]);
    const after = new Map([
      ["same", 1],
      ["raised", 2],
      ["added", 1],
    ]);
    expect(differingPolicies(before, after)).toEqual([
      { policy_name: "added", before_version: null, after_version: 1 },
      { policy_name: "dropped", before_version: 4, after_version: null },
      { policy_name: "raised", before_version: 1, after_version: 2 },
    ]);
  });
});
