import { describe, expect, it } from "vitest";

import { ByteWriter } from "../../lib/byte-writer.ts";
import { type ArtifactDocument, documentsLength, type Surroundings, writeDocuments } from "./documents.ts";
import { addressMark, annotationMark, flowMark } from "./print.ts";

function joinDocuments(documents: readonly ArtifactDocument[], surroundings: Surroundings): string {
  const writer = new ByteWriter(documentsLength(documents, surroundings));
  writeDocuments(writer, documents, surroundings);
  return writer.result().toString();
}

describe("documents in a list", () => {
  const surroundings = { decisions: new Map([["none", "[]"]]), address: "https://h.test/$&" };

  it("have the annotation and the address in place of the marks", () => {
    const decided = `${flowMark}${flowMark}`;
    const doc = `{"d":${decided},"a":${annotationMark},"links":["${addressMark}/x","${addressMark}/y"]}`;
    const documents = [
      { doc, decisions_digest: "none", type: "unchanged", was: 2, now: 2 },
      { doc, decisions_digest: "none", type: "exited", was: 1, now: 0 },
    ] as const;
    const links = ["https://h.test/$&/x", "https://h.test/$&/y"];
    expect(JSON.parse(`[${joinDocuments(documents, surroundings)}]`)).toEqual([
      { d: [], a: { type: "unchanged", was: 2, now: 2 }, links },
      { d: [], a: { type: "exited", was: 1, now: 0 }, links },
    ]);
    expect(joinDocuments([], surroundings)).toBe("");
  });
});
