import { describe, expect, it } from "vitest";

import { ByteWriter } from "../../lib/byte-writer.ts";
import { type ArtifactDocument, flowsIn, isTrusted, takeApart, writeDocument } from "./documents.ts";
import { addressMark, annotationMark, flowMark } from "./print.ts";

const stored = { fingerprint: "", flows: null };
const address = "https://h.test/$&";

function printed(document: ArtifactDocument): unknown {
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
