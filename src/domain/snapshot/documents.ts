import type { ByteWriter } from "../../lib/byte-writer.ts";
import type { Annotation } from "./annotate.ts";
import { addressMark, annotationMark, flowMark } from "./print.ts";

/** A stored document with the annotation it has in a snapshot. */
export interface ArtifactDocument extends Annotation {
  doc: string;
  /** Of what policies decided. */
  decisions_digest: string;
}

/** What documents have in common, and the reader. */
export interface Surroundings {
  /** What policies decided, with `flowMark` in it, by its digest. */
  decisions: ReadonlyMap<string, string>;
  /** The web address of the organization, as it stands in JSON without quotes. */
  address: string;
}

/** What policies decided, taken apart at the flows. */
interface Decisions {
  /** As bytes; one more than numbers. */
  texts: Buffer[];
  numbers: number[];
}

function takeApart(decisions: string): Decisions {
  const parts = decisions.split(flowMark);
  return {
    texts: parts.filter((_part, at) => at % 2 === 0).map((text) => Buffer.from(text)),
    numbers: parts.filter((_part, at) => at % 2 === 1).map(Number),
  };
}

/** @param flows with marks between them. */
function writeDecisions(writer: ByteWriter, { texts, numbers }: Decisions, flows: string): void {
  const places = flows.split(flowMark).map((flow) => Buffer.from(flow));
  for (const [at, text] of texts.entries()) {
    if (at > 0) writer.bytes(places[numbers[at - 1]!]!);
    writer.bytes(text);
  }
}

/**
 * Writes documents as the items of a list, without its brackets. They are long and many: what they have in common is
 * written from bytes made once, and hardly anything is looked at one character at a time.
 */
export function writeDocuments(
  writer: ByteWriter,
  documents: readonly ArtifactDocument[],
  { decisions, address }: Surroundings,
): void {
  const known = new Map([...decisions].map(([digest, text]) => [digest, takeApart(text)]));
  let separator = "";
  for (const { doc, decisions_digest, type, was, now } of documents) {
    const [first, last] = [doc.indexOf(flowMark), doc.lastIndexOf(flowMark)];
    const annotated = doc.indexOf(annotationMark, last);
    writer.text(separator + doc.slice(0, first));
    writeDecisions(writer, known.get(decisions_digest)!, doc.slice(first + 1, last));
    const annotation = `{"type":"${type}","was":${was},"now":${now}}`;
    const linked = doc
      .slice(annotated + 1)
      .split(addressMark)
      .join(address);
    writer.text(doc.slice(last + 1, annotated) + annotation + linked);
    separator = ",";
  }
}

/** Annotation and links of a document, mostly. */
const roomForMarks = 256;

/** About how many bytes all that takes. */
export function documentsLength(
  documents: readonly ArtifactDocument[],
  { decisions }: Pick<Surroundings, "decisions">,
): number {
  let length = 0;
  for (const { doc, decisions_digest } of documents)
    length += doc.length + roomForMarks + 1.5 * decisions.get(decisions_digest)!.length;
  return Math.ceil(length);
}
