import { describe, expect, it } from "vitest";

import {
  fact,
  fingerprint,
  judge,
  plan,
  predecessor,
  running,
  stored,
} from "../../../test/support/judged-case.ts";
import { finish, type Steps } from "../../lib/steps.ts";
import { lineageText } from "./flows-of.ts";
import { compareVersions, planSnapshot, unknownLineage } from "./versions.ts";

describe("a plan", () => {
  it("uses versions again of which nothing has changed, and repeats those that have exited", () => {
    const first = plan([], judge([running("a"), running("b")], [fact()]));
    expect([first.artifacts, first.ended, first.artifact_count]).toEqual([[1, 2], [], 2]);
    const second = plan(stored(first), judge([running("a")], [fact()]));
    expect([second.artifacts, second.ended, second.artifact_count]).toEqual([[1, 3], [2], 3]);
    expect(second.versions).toMatchObject([{ id: 3, type: "exited", was: 1, now: 0, repeats: 2 }]);
  });

  it("replaces a version of which anything shown has changed", () => {
    const first = plan([], judge([running("a")], [fact()]));
    const restarted = judge([running("a", { creationTimestamp: [1, 2] })], [fact()]);
    const second = plan(stored(first), restarted);
    expect([second.artifacts, second.ended]).toEqual([[2], [1]]);
    expect(second.versions).toMatchObject([{ type: "unchanged", was: 1, now: 2, repeats: null }]);
  });

  it("compares what runs in many places piece by piece", () => {
    const pod = { namespace: "n", creationTimestamp: 1, owners: null };
    const pods = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`pod-${at}`, pod]));
    const { artifacts } = judge([running("a", { pods })], [fact()]);
    const seen: string[][] = [];
    function* digestOf(pieces: Iterable<string>): Steps<string> {
      seen.push([...pieces]);
      yield;
      return "";
    }
    const annotated = compareVersions([], artifacts);
    finish(
      planSnapshot({
        annotated,
        running: new Set(),
        predecessors: new Map(),
        artifact_count: 0,
        digestOf,
      }),
    );
    expect(seen).toHaveLength(1);
    expect(seen[0]?.length).toBeGreaterThan(5000);
    expect(JSON.parse(seen[0]?.join("") ?? "")).toContainEqual(running("a", { pods }));
  });

  it("asks for what came before only where that is not known yet, and keeps what is", () => {
    const before = plan([], judge([running("a")], [fact()]), new Map([[lineageText(fact()), predecessor]]));
    const verdict = judge([running("a")], [fact({ trail_id: "trail-2" }), fact({ flow_id: "flow-2" })]);
    const unknown = unknownLineage(stored(before)[0], verdict.artifacts[0]!.facts);
    expect(unknown).toMatchObject([{ flow_id: "flow-2" }]);
    const [version] = plan(stored(before), verdict).versions;
    expect(version?.type).toBe("updated-provenance");
    expect(version?.flows?.map(({ deployment_diff }) => deployment_diff?.previous_fingerprint)).toEqual([
      predecessor.fingerprint,
      undefined,
    ]);
  });

  it("has one lineage entry for a fingerprint under two names, started if either did", () => {
    const first = plan([], judge([running("a")], [fact()]));
    const second = plan(
      stored(first),
      judge([running("b"), running("a", { creationTimestamp: [9] })], [fact()]),
    );
    expect(second.lineage).toMatchObject([{ fingerprint, flow_id: "flow-1", started: true }]);
  });
});
