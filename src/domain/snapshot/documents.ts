import type { ByteWriter } from "../../lib/byte-writer.ts";
import type { Annotation } from "./annotate.ts";
import { addressMark, annotationMark, flowMark, flowsMark, placesMark, printFlows } from "./print.ts";
import type { SnapshotFlow } from "./provenance.ts";

/** A stored document with the annotation it has in a snapshot. */
export interface ArtifactDocument extends Annotation {
  doc: string;
  fingerprint: string;
  /** What flows knew of it, as JSON text, where the document leaves that out. */
  flows: string | null;
  /** Where it runs, as JSON text of an object, which documents leave out but for old ones. */
  places: string;
  /** Of what policies decided. */
  decisions_digest: string;
}

/** Decisions of policies, divided at the places where flows stand. */
export interface DecisionTexts {
  /** As bytes; one more than numbers. */
  texts: Buffer[];
  numbers: number[];
  /** In bytes, of all texts. */
  length: number;
}

/**
 * Divides what policies decided at the places where flows stand.
 * @param decisions JSON text with `flowMark` in it.
 */
export function takeApart(decisions: string): DecisionTexts {
  const parts = decisions.split(flowMark);
  const texts = parts.filter((_part, at) => at % 2 === 0).map((text) => Buffer.from(text));
  return {
    texts,
    numbers: parts.filter((_part, at) => at % 2 === 1).map(Number),
    length: texts.reduce((sum, { length }) => sum + length, 0),
  };
}

/**
 * Writes what policies decided, with its flows.
 * @param flows with marks between them.
 */
function writeDecisions(writer: ByteWriter, { texts, numbers }: DecisionTexts, flows: string): void {
  const places = flows.split(flowMark).map((flow) => Buffer.from(flow));
  for (const [at, text] of texts.entries()) {
    // oxlint-disable-next-line typescript/no-non-null-assertion -- there is a number between two texts, and a place for each
    if (at > 0) writer.bytes(places[numbers[at - 1]!]!);
    writer.bytes(text);
  }
}

/** Lists the flows that policies decided about, as members of an object each, in their order. */
export function flowsIn(doc: string): string[] {
  const inner = doc.slice(doc.indexOf(flowMark) + 1, doc.lastIndexOf(flowMark));
  return inner === "" ? [] : inner.split(flowMark);
}

/** Stands in the documents of trusted artifacts alone. No name can look like it: quotes in names are escaped. */
export const trustedMember = ',"allow_listed":true,"fingerprint":"';

/** Says whether a document shows its artifact as trusted. */
export function isTrusted(doc: string): boolean {
  return doc.includes(trustedMember);
}

/** Completes what comes before the annotation by where the artifact runs. */
function withPlaces(middle: string, { places }: Pick<ArtifactDocument, "places">): string {
  const at = middle.indexOf(placesMark);
  return at < 0 ? middle : middle.slice(0, at) + places.slice(1, -1) + middle.slice(at + 1);
}

/** Completes what comes after the annotation by what flows knew. */
function withFlows(
  rest: string,
  { flows, fingerprint }: Pick<ArtifactDocument, "flows" | "fingerprint">,
): string {
  const at = rest.indexOf(flowsMark);
  if (at < 0) return rest;
  const printed = printFlows(JSON.parse(flows ?? "[]") as SnapshotFlow[], fingerprint);
  return rest.slice(0, at) + printed + rest.slice(at + 1);
}

/**
 * Writes a document. Documents are long and many: what they have in common is written from bytes made once, and hardly
 * anything is looked at one character at a time.
 * @param address the web address of the organization, as it stands in JSON without quotes.
 */
export function writeDocument(
  writer: ByteWriter,
  document: ArtifactDocument,
  decisions: DecisionTexts,
  address: string,
): void {
  const { doc, type, was, now } = document;
  const [first, last] = [doc.indexOf(flowMark), doc.lastIndexOf(flowMark)];
  const annotated = doc.indexOf(annotationMark, last);
  writer.text(doc.slice(0, first));
  writeDecisions(writer, decisions, doc.slice(first + 1, last));
  const annotation = `{"type":"${type}","was":${was},"now":${now}}`;
  const linked = withFlows(doc.slice(annotated + 1), document)
    .split(addressMark)
    .join(address);
  writer.text(withPlaces(doc.slice(last + 1, annotated), document) + annotation + linked);
}
