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
  /** One more than numbers. */
  texts: string[];
  numbers: number[];
}

function takeApart(decisions: string): Decisions {
  const parts = decisions.split(flowMark);
  return {
    texts: parts.filter((_part, at) => at % 2 === 0),
    numbers: parts.filter((_part, at) => at % 2 === 1).map(Number),
  };
}

/** @param places the flows, with marks between them. */
function putTogether({ texts, numbers }: Decisions, places: string): string {
  // Nearly every artifact has one flow.
  if (!places.includes(flowMark)) return texts.join(places);
  const flows = places.split(flowMark);
  return texts.map((text, at) => (at === 0 ? text : flows[numbers[at - 1]!]! + text)).join("");
}

function pushLinked(parts: string[], text: string, address: string): void {
  let from = 0;
  for (let at = text.indexOf(addressMark); at !== -1; at = text.indexOf(addressMark, from)) {
    parts.push(text.slice(from, at), address);
    from = at + 1;
  }
  parts.push(text.slice(from));
}

/**
 * Documents as the items of a list, without its brackets. They are long and many: each character is copied from one text
 * to another as few times as possible, and none is looked at one by one.
 */
export function joinDocuments(
  documents: readonly ArtifactDocument[],
  { decisions, address }: Surroundings,
): string {
  const known = new Map([...decisions].map(([digest, text]) => [digest, takeApart(text)]));
  const parts: string[] = [];
  for (const { doc, decisions_digest, type, was, now } of documents) {
    const [first, last] = [doc.indexOf(flowMark), doc.lastIndexOf(flowMark)];
    const annotated = doc.indexOf(annotationMark, last);
    if (parts.length > 0) parts.push(",");
    parts.push(doc.slice(0, first), putTogether(known.get(decisions_digest)!, doc.slice(first + 1, last)));
    parts.push(doc.slice(last + 1, annotated), `{"type":"${type}","was":${was},"now":${now}}`);
    pushLinked(parts, doc.slice(annotated + 1), address);
  }
  return parts.join("");
}
