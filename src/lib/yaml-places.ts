import { isMap, isScalar, isSeq, type ParsedNode } from "yaml";

import { compose, placeAt, type TextPlace } from "./yaml.ts";

/** Keys and indexes from the root of a document. */
type Path = readonly (string | number)[];

interface Step {
  /** Where what was looked for begins: a key, or an item. */
  offset: number;
  inside: ParsedNode | null;
}

/** Goes to a key or an item of a node; undefined where there is none. What stands behind an alias is not looked at. */
function step(node: ParsedNode | null, part: string | number): Step | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    return pair && { offset: pair.key.range[0], inside: pair.value };
  }
  if (!isSeq(node) || typeof part !== "number") return undefined;
  const item = node.items[part] as ParsedNode | null | undefined;
  return item ? { offset: item.range[0], inside: item } : undefined;
}

function offsetOf(root: ParsedNode | null, path: Path): number {
  let found: Step = { offset: root?.range[0] ?? 0, inside: root };
  for (const part of path) {
    const next = step(found.inside, part);
    if (next === undefined) break;
    found = next;
  }
  return found.offset;
}

/**
 * Finds where paths lead in a text that `readYaml` has read: to the key or item they name, else to the innermost one
 * around it that is there.
 */
export function findPlaces(text: string, paths: readonly Path[]): TextPlace[] {
  const root = compose(text).contents;
  return paths.map((path) => placeAt(text, offsetOf(root, path)));
}
