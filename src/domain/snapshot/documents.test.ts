import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ByteWriter } from "../../lib/byte-writer.ts";
import { finish } from "../../lib/steps.ts";
import { type ArtifactDocument, flowsIn, isTrusted, takeApart, writeDocument } from "./documents.ts";
import type { JudgedArtifact } from "./judge.ts";
import { addressMark, annotationMark, flowMark, placesMark, printArtifact } from "./print.ts";
import type { SnapshotFlow } from "./provenance.ts";

const stored = { fingerprint: "", flows: null, places: "{}" };
const address = "https://h.test/$&";

function printed(document: ArtifactDocument) {
  const writer = new ByteWriter(0);
  writeDocument(writer, document, takeApart("[]"), address);
  return JSON.parse(writer.result().toString());
}

describe("documents", () => {
  it("have the annotation and the address in place of the marks", () => {
    const decided = `${flowMark}${flowMark}`;
    const doc = `{"d":${decided},"a":${annotationMark},"links":["${addressMark}/x","${addressMark}/y"]}`;
    const links = ["https://h.test/$&/x", "https://h.test/$&/y"];
    expect(printed({ ...stored, doc, decisions_digest: "none", type: "unchanged", was: 2, now: 2 })).toEqual({
      d: [],
      a: { type: "unchanged", was: 2, now: 2 },
      links,
    });
    expect(printed({ ...stored, doc, decisions_digest: "none", type: "exited", was: 1, now: 0 })).toEqual({
      d: [],
      a: { type: "exited", was: 1, now: 0 },
      links,
    });
  });

  it("have where the artifact runs in its place, or from of old in themselves", () => {
    const ran = {
      creationTimestamp: [1],
      pods: { [`$&${annotationMark}`]: null },
      ecs_context: { task_arn: "t" },
    };
    const places = JSON.stringify(ran);
    const shown = (inDocument: string) =>
      printed({
        ...stored,
        doc: `{"d":${flowMark}${flowMark},${inDocument},"a":${annotationMark}}`,
        places,
        decisions_digest: "none",
        type: "unchanged",
        was: 1,
        now: 1,
      });
    const rest = { d: [], a: { type: "unchanged", was: 1, now: 1 } };
    expect(shown(placesMark)).toEqual({ ...rest, ...ran });
    expect(shown('"pods":null')).toEqual({ ...rest, pods: null });
  });

  it("tell which flows were judged, and whether the artifact is trusted", () => {
    const flows = ['"flow_name":"a"', '"flow_name":"b"'];
    const doc = (middle: string, after: string) => `{"d":${flowMark}${middle}${flowMark}${after}}`;
    expect(flowsIn(doc(flows.join(flowMark), ""))).toEqual(flows);
    expect(flowsIn(doc("", ""))).toEqual([]);
    expect(isTrusted(doc("", ',"allow_listed":true,"fingerprint":"f"'))).toBe(true);
    const named = JSON.stringify({ message: ',"allow_listed":true,"fingerprint":"' }).slice(1, -1);
    expect(isTrusted(doc("", `,${named},"fingerprint":"f"`))).toBe(false);
  });
});

describe("flows", () => {
  const fingerprint = "ab".repeat(32);
  const running = { name: "web:1", fingerprint, creationTimestamp: [1], pods: null };
  const verdict = { policy_decisions: [], reasons_for_incompliance: [], allow_listed: false };
  const judged = { running, verdict, compliant: true } as unknown as JudgedArtifact;
  const id = "01941f29-7c00-7000-8000-000000000000";
  const text = fc.constantFrom("a", '"', "\\", "$1", "\u0001", "\u0004", "é", ',"deployment_diff":');
  const flow = fc.record({
    flow_id: fc.constant(id),
    trail_id: fc.constant(id),
    artifact_id: fc.constant(id),
    repo_id: fc.constant(null),
    flow_name: fc.constantFrom("ci", "cd"),
    trail_name: text,
    template_reference_name: text,
    git_commit: fc.option(text),
    commit_url: fc.option(text),
    git_commit_info: fc.option(
      fc.record({ sha1: text, message: text, timestamp: fc.option(fc.double({ noNaN: true })) }),
    ),
    deployment_diff: fc.option(fc.record({ diff_url: fc.option(text), previous_running: fc.boolean() })),
    commit_lead_time: fc.option(fc.integer()),
    artifact_compliance_in_flow: fc.boolean(),
    compliance_state: fc.constant("COMPLIANT"),
  }) as unknown as fc.Arbitrary<SnapshotFlow>;

  function shown(flows: readonly SnapshotFlow[]) {
    const { doc } = finish(printArtifact(judged, flows));
    const beside = { flows: JSON.stringify(flows), places: '{"creationTimestamp":[1],"pods":null}' };
    const document = { doc, fingerprint, ...beside, decisions_digest: "none" };
    return { doc, shown: printed({ ...document, type: "unchanged", was: 1, now: 1 }) };
  }

  it("are shown alike, whether documents have them or leave them out", () => {
    fc.assert(
      fc.property(fc.array(flow, { maxLength: 30 }), (flows) => {
        const all = shown(flows);
        expect(all.doc.includes("\u0004")).toBe(flows.length <= 20);
        expect(all.shown.flows).toEqual(flows.map((each) => shown([each]).shown.flows[0]));
        expect(all.shown.git_commit).toEqual(flows[0]?.git_commit ?? null);
        // What is shown of each is what is stored of it, but for its ids.
        const stored = JSON.parse(JSON.stringify(flows)) as SnapshotFlow[];
        for (const name of ["trail_name", "git_commit_info", "deployment_diff", "commit_lead_time"] as const)
          expect(all.shown.flows.map((each: SnapshotFlow) => each[name])).toEqual(
            stored.map((each) => each[name]),
          );
      }),
    );
  });
});
