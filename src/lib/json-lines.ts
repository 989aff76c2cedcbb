import type { Steps } from "./steps.ts";

/** Characters that are read in one go: it takes about a millisecond. */
const pieceLength = 64 * 1024;

/** Reads values that were written as JSON in a line each, with commas between the lines: many of them in steps. */
export function* readLines<T>(text: string): Steps<T[]> {
  if (text.length <= pieceLength) return JSON.parse(`[${text}]`) as T[];
  const all: T[] = [];
  for (let from = 0; from < text.length;) {
    yield;
    const comma = text.indexOf(",\n", from + pieceLength);
    const to = comma === -1 ? text.length : comma;
    for (const one of JSON.parse(`[${text.slice(from, to)}]`) as T[]) all.push(one);
    from = to + ",\n".length;
  }
  return all;
}
