import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  annotate,
  byPlace,
  countCompliance,
  describeChange,
  findingsText,
  isNewSnapshot,
  placeOf,
  type Annotation,
  type AnnotationType,
  type ComparedArtifact,
} from "./annotate.ts";

function artifact(name: string, given: Partial<ComparedArtifact> = {}): ComparedArtifact {
  return {
    name,
    fingerprint: `${name}-digest`,
    creationTimestamp: [1],
    compliant: true,
    provenance: ["t1"],
    findings: "",
    ...given,
  };
}

describe("annotate", () => {
  const [yes, no, unknown] = [true, false, null].map((compliant) => artifact("web", { compliant }));
  const rows: [string, ComparedArtifact | undefined, ComparedArtifact | undefined, AnnotationType][] = [
    ["started", undefined, yes, "started-compliant"],
    ["started", undefined, no, "started-non-compliant"],
    ["started", undefined, unknown, "started-unknown"],
    ["exited", yes, undefined, "exited"],
    ["same", yes, yes, "unchanged"],
    ["same", no, no, "unchanged"],
    ["same", unknown, unknown, "unchanged"],
    ["better", no, yes, "became-compliant"],
    ["first policy", unknown, yes, "became-compliant"],
    ["worse", yes, no, "became-non-compliant"],
    ["first policy", unknown, no, "became-non-compliant"],
    ["last policy gone", yes, unknown, "changed"],
    ["last policy gone", no, unknown, "changed"],
    ["another flow", yes, artifact("web", { provenance: ["t1", "t2"] }), "updated-provenance"],
    ["a flow less", yes, artifact("web", { provenance: [] }), "updated-provenance"],
    ["another trail", yes, artifact("web", { provenance: ["t2"] }), "updated-provenance"],
    ["verdict before provenance", no, artifact("web", { provenance: [] }), "became-compliant"],
    [
      "provenance before findings",
      yes,
      artifact("web", { provenance: [], findings: "x" }),
      "updated-provenance",
    ],
    ["other findings", yes, artifact("web", { findings: "x" }), "changed"],
    ["only times", yes, artifact("web", { creationTimestamp: [9] }), "unchanged"],
    ["only instances", yes, artifact("web", { creationTimestamp: [1, 2, 3] }), "unchanged"],
    [
      "order of provenance",
      artifact("web", { provenance: ["t1", "t2"] }),
      artifact("web", { provenance: ["t2", "t1"] }),
      "unchanged",
    ],
  ];

  it.each(rows)("%s: %j, %j -> %s", (_, before, after, type) => {
    const annotated = annotate(before === undefined ? [] : [before], after === undefined ? [] : [after]);
    const was = before?.creationTimestamp.length ?? 0;
    const now = after?.creationTimestamp.length ?? 0;
    expect(annotated).toEqual([{ artifact: after ?? before, annotation: { type, was, now } }]);
    expect(isNewSnapshot(annotated)).toBe(type !== "unchanged");
  });

  it("takes another digest or another name for another artifact", () => {
    const before = [artifact("web")];
    const rebuilt = annotate(before, [artifact("web", { fingerprint: "x" })]);
    expect(rebuilt.map(({ annotation }) => annotation.type)).toEqual(["started-compliant", "exited"]);
    const renamed = annotate(before, [artifact("web2", { fingerprint: "web-digest" })]);
    expect(renamed.map(({ annotation }) => annotation.type)).toEqual(["started-compliant", "exited"]);
  });

  it("makes no snapshot of a repeated report without digests", () => {
    const before = [artifact("web", { fingerprint: "" }), artifact("db", { fingerprint: "" })];
    expect(isNewSnapshot(annotate(before, before.toReversed()))).toBe(false);
  });

  it("orders by kind of change, then youngest instance, then name", () => {
    const before = [
      artifact("gone-old", { creationTimestamp: [1] }),
      artifact("gone-new", { creationTimestamp: [50] }),
      artifact("same-old", { creationTimestamp: [1, 2] }),
      artifact("same-b", { creationTimestamp: [40] }),
      artifact("same-a", { creationTimestamp: [1, 40] }),
      artifact("worse", { creationTimestamp: [3] }),
    ];
    const after = [
      ...before.slice(2, 5),
      artifact("worse", { creationTimestamp: [3], compliant: false }),
      artifact("new", { creationTimestamp: [2] }),
      artifact("moved", { creationTimestamp: [5, 60] }),
    ];
    const places = annotate(before, after).map(({ artifact: each, annotation }) => placeOf(each, annotation));
    expect(places.toSorted(byPlace).map(({ name }) => name)).toEqual([
      "moved", "worse", "new", "same-a", "same-b", "same-old", "gone-new", "gone-old",
    ]); // prettier-ignore
  });

  it("counts what runs", () => {
    const before = [artifact("gone"), artifact("gone2", { compliant: null })];
    const after = [
      artifact("a"),
      artifact("b", { compliant: false }),
      artifact("c", { compliant: null }),
      artifact("d"),
    ];
    expect(countCompliance(annotate(before, after))).toEqual({ true: 2, false: 1, null: 1 });
    expect(countCompliance(annotate(before, []))).toEqual({ true: 0, false: 0, null: 0 });
  });

  const anyArtifact = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    fingerprint: fc.constantFrom("1", ""),
    creationTimestamp: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
    compliant: fc.constantFrom(true, false, null),
    provenance: fc.uniqueArray(fc.constantFrom("t1", "t2")),
    findings: fc.constantFrom("x", "y"),
  });
  const anyArtifacts = fc.uniqueArray(anyArtifact, {
    selector: ({ name, fingerprint }) => `${name}/${fingerprint}`,
  });

  it("shows what ran and what runs, each once, and starts mirror exits", () => {
    fc.assert(
      fc.property(anyArtifacts, anyArtifacts, (before, after) => {
        const forth = annotate(before, after);
        const running = forth
          .filter(({ annotation }) => annotation.now > 0)
          .map(({ artifact: each }) => each);
        expect(new Set(running)).toEqual(new Set(after));
        const keys = new Set([...before, ...after].map(({ name, fingerprint }) => `${name}/${fingerprint}`));
        expect(forth).toHaveLength(keys.size);
        const count = (annotated: typeof forth, start: string) =>
          annotated.filter(({ annotation }) => annotation.type.startsWith(start)).length;
        const back = annotate(after, before);
        expect(count(forth, "started")).toBe(count(back, "exited"));
        expect(isNewSnapshot(annotate(after, after))).toBe(false);
        expect(isNewSnapshot(forth)).toBe(isNewSnapshot(back));
        const counts = countCompliance(forth);
        expect(counts.true + counts.false + counts.null).toBe(after.length);
      }),
    );
  });
});

describe("describeChange", () => {
  it.each<[Annotation, string]>([
    [{ type: "started-compliant", was: 0, now: 1 }, "1 instance started running (from 0 to 1)"],
    [{ type: "started-non-compliant", was: 0, now: 3 }, "3 instances started running (from 0 to 3)"],
    [{ type: "started-unknown", was: 0, now: 2 }, "2 instances started running (from 0 to 2)"],
    [{ type: "exited", was: 3, now: 0 }, "3 instances stopped running (from 3 to 0)"],
    [{ type: "exited", was: 1, now: 0 }, "1 instance stopped running (from 1 to 0)"],
    [{ type: "changed", was: 3, now: 3 }, "3 instances changed"],
    [{ type: "changed", was: 1, now: 1 }, "1 instance changed"],
    [{ type: "became-compliant", was: 2, now: 1 }, "1 instance changed"],
    [{ type: "became-non-compliant", was: 1, now: 2 }, "2 instances changed"],
    [{ type: "updated-provenance", was: 3, now: 3 }, "3 instances changed"],
    [{ type: "unchanged", was: 1, now: 1 }, "1 instance unchanged"],
  ])("%j", (annotation, text) => {
    expect(describeChange(annotation)).toBe(text);
  });
});

describe("findingsText", () => {
  const decision = (policy_name: string, ...types: string[]) => ({
    policy_name,
    policy_version: 1,
    rule_evaluations: [{ resolutions: types.map((type) => ({ type })) }],
  });
  const flow = (artifact_compliance_in_flow: boolean | null) => ({ artifact_compliance_in_flow });
  const findings = {
    policy_decisions: [decision("p", "x", "y"), decision("q", "x")],
    flows: [flow(true), flow(null)],
  };

  it.each([
    [
      "order of policies and flows",
      { policy_decisions: [decision("q", "x"), decision("p", "y", "x")], flows: [flow(null), flow(true)] },
    ],
    [
      "version",
      {
        ...findings,
        policy_decisions: [{ ...decision("p", "x", "y"), policy_version: 2 }, decision("q", "x")],
      },
    ],
  ])("does not tell %s", (_, other) => {
    expect(findingsText(other)).toBe(findingsText(findings));
  });

  it.each([
    ["another policy", { ...findings, policy_decisions: [decision("p", "x", "y"), decision("r", "x")] }],
    ["one policy less", { ...findings, policy_decisions: [decision("p", "x", "y")] }],
    ["another resolution", { ...findings, policy_decisions: [decision("p", "x", "z"), decision("q", "x")] }],
    ["another verdict in a flow", { ...findings, flows: [flow(false), flow(null)] }],
  ])("tells %s", (_, other) => {
    expect(findingsText(other)).not.toBe(findingsText(findings));
  });
});
