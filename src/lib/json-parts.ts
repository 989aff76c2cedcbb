import { areFew, inOneGo, type Steps } from "./steps.ts";

/** Writes a list as JSON, in parts that follow each other, each of them in one go. */
export function* listParts<T>(
  items: readonly T[],
  show: (item: T) => unknown = (item) => item,
): Steps<string[]> {
  if (areFew(items.length)) return [JSON.stringify(items.map(show))];
  const parts: string[] = [];
  for (let at = 0; at < items.length; at += inOneGo) {
    yield;
    const some = JSON.stringify(items.slice(at, at + inOneGo).map(show)).slice(1, -1);
    parts.push(`${at === 0 ? "[" : ","}${some}`);
  }
  return [...parts, "]"];
}
