import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { finish } from "../../lib/steps.ts";
import {
  type DiffableArtifact,
  type DiffArtifact,
  DiffSide,
  type SnapshotDiff,
  snapshotDiff,
} from "./diff.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((digit) => digit.repeat(64)) as [
  string,
  string,
  string,
  string,
];

function running(fingerprint: string, name: string, given: Partial<DiffableArtifact> = {}): DiffableArtifact {
  return {
    fingerprint,
    name,
    creationTimestamp: [1],
    pods: [],
    flow_name: null,
    commit_url: null,
    ...given,
  };
}

function steps(first: DiffableArtifact[], second: DiffableArtifact[]) {
  const [one, two] = [new DiffSide("one#1"), new DiffSide("two#2")];
  for (const artifact of first) one.add(artifact);
  for (const artifact of second) two.add(artifact);
  return snapshotDiff(one, two);
}

function diff(first: DiffableArtifact[], second: DiffableArtifact[]): SnapshotDiff {
  return finish(steps(first, second));
}

describe("a diff", () => {
  it("of many artifacts is made in steps", () => {
    const many = Array.from({ length: 2000 }, (_, at) => running(String(at).padStart(64, "0"), `web-${at}`));
    expect(diff(many, []).snappish1.artifacts).toHaveLength(2000);
    for (const [first, second] of [
      [many, []],
      [[], many],
      [many, many],
    ] as const)
      expect([...steps([...first], [...second])].length).toBeGreaterThan(20);
  });

  it("tells what is only in one, what changed and what did not, by fingerprint", () => {
    const built = { flow_name: "ci", commit_url: "https://x.test/commit/1" };
    const first = [
      running(d, "old", { creationTimestamp: [1, 4] }),
      running(c, "api"),
      running(b, "db:staging"),
      running(a, "gone"),
    ];
    const second = [
      running(b, "db:prod", { ...built, creationTimestamp: [7] }),
      running(c, "api", { creationTimestamp: [2, 3], pods: ["y", "x"] }),
      running("", "new", { creationTimestamp: [] }),
    ];
    expect(diff(first, second)).toEqual({
      snappish1: {
        snapshot_id: "one#1",
        artifacts: [
          { fingerprint: a, name: "gone", most_recent_timestamp: 1, flow: "", instance_count: 1 },
          { fingerprint: d, name: "old", most_recent_timestamp: 4, flow: "", instance_count: 2 },
        ],
      },
      snappish2: {
        snapshot_id: "two#2",
        artifacts: [{ fingerprint: "", name: "new", most_recent_timestamp: 0, flow: "", instance_count: 0 }],
      },
      changed: {
        artifacts: [
          {
            fingerprint: c,
            name: "api",
            most_recent_timestamp: 3,
            flow: "",
            s1_instance_count: 1,
            s2_instance_count: 2,
            pods: ["x", "y"],
          },
        ],
      },
      "not-changed": {
        artifacts: [
          {
            fingerprint: b,
            name: "db:prod",
            most_recent_timestamp: 7,
            flow: "ci",
            commit_url: built.commit_url,
            instance_count: 1,
          },
        ],
      },
    });
  });

  it("adds up one fingerprint under several names, and tells what has none by name", () => {
    const first = [
      running(a, "api:1"),
      running(a, "api:latest", { creationTimestamp: [2, 9] }),
      running("", "x"),
      running("", "y"),
    ];
    const { changed, snappish1, "not-changed": same } = diff(first, [running(a, "api:1"), running("", "x")]);
    expect(changed.artifacts).toMatchObject([{ name: "api:1", s1_instance_count: 3, s2_instance_count: 1 }]);
    expect(same.artifacts).toMatchObject([{ fingerprint: "", name: "x" }]);
    expect(snappish1.artifacts).toMatchObject([{ fingerprint: "", name: "y" }]);
    expect(diff(first, []).snappish1.artifacts.find(({ fingerprint }) => fingerprint === a)).toMatchObject({
      name: "api:latest",
      most_recent_timestamp: 9,
      instance_count: 3,
    });
  });

  const anyRunning = fc.uniqueArray(
    fc
      .record({
        fingerprint: fc.constantFrom(a, b, c, ""),
        name: fc.constantFrom("x", "y"),
        count: fc.integer({ min: 1, max: 3 }),
      })
      .map(({ fingerprint, name, count }) =>
        running(fingerprint, name, { creationTimestamp: Array.from({ length: count }, (_, at) => at) }),
      ),
    { selector: ({ fingerprint, name }) => `${fingerprint}/${name}` },
  );

  it("finds nothing but what is the same between a snapshot and itself", () => {
    fc.assert(
      fc.property(anyRunning, (artifacts) => {
        const { snappish1, snappish2, changed } = diff(artifacts, artifacts);
        expect([snappish1.artifacts, snappish2.artifacts, changed.artifacts]).toEqual([[], [], []]);
      }),
    );
  });

  it("mirrors itself, loses no instance and sorts", () => {
    const instances = (rows: DiffArtifact[], key: "instance_count" | "s1_instance_count") =>
      rows.reduce((sum, row) => sum + (row[key] ?? 0), 0);
    fc.assert(
      fc.property(anyRunning, anyRunning, (first, second) => {
        const forth = diff(first, second);
        const back = diff(second, first);
        expect(back.snappish1.artifacts).toEqual(forth.snappish2.artifacts);
        expect(back.snappish2.artifacts).toEqual(forth.snappish1.artifacts);
        expect(back.changed.artifacts).toHaveLength(forth.changed.artifacts.length);
        const total =
          instances(forth.snappish1.artifacts, "instance_count") +
          instances(forth.changed.artifacts, "s1_instance_count") +
          instances(forth["not-changed"].artifacts, "instance_count");
        expect(total).toBe(first.flatMap(({ creationTimestamp }) => creationTimestamp).length);
        const { snappish1, snappish2, changed, "not-changed": same } = forth;
        for (const { artifacts } of [snappish1, snappish2, changed, same]) {
          const fingerprints = artifacts.map(({ fingerprint }) => fingerprint);
          expect(fingerprints).toEqual(fingerprints.toSorted());
        }
      }),
    );
  });
});
