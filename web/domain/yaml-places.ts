/** Keys and places in lists, from the top of a text. */
export type YamlPath = readonly (string | number)[];

/** A key or an item of a list, where it stands in a text in block style. */
export interface YamlEntry {
  kind: "key" | "item";
  /** Empty for items. */
  name: string;
  /** From 0. */
  line: number;
  /** How many characters stand before it on its line. */
  indent: number;
  /** What stands behind it on its line. */
  rest: string;
}

const keyPattern = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:'"[\]{},&*!|>%@`-][^:#]*?|-[^\s:#][^:#]*?)\s*:(?=\s|$)/;

function nameOf(written: string): string {
  return /^["']/.test(written) ? written.slice(1, -1) : written;
}

function entriesOfLine(text: string, line: number): YamlEntry[] {
  const found: YamlEntry[] = [];
  let indent = text.length - text.trimStart().length;
  while (/^-(?:\s|$)/.test(text.slice(indent))) {
    const rest = text.slice(indent + 1);
    found.push({ kind: "item", name: "", line, indent, rest: rest.trim() });
    indent += 1 + rest.length - rest.trimStart().length;
  }
  const content = text.slice(indent);
  const key = content.startsWith("#") ? null : keyPattern.exec(content);
  if (key !== null) {
    const name = nameOf(key[1] ?? "");
    found.push({ kind: "key", name, line, indent, rest: content.slice(key[0].length).trim() });
  }
  return found;
}

/** Lists keys and items of a text in their order. What stands in texts of several lines may be among them. */
export function yamlEntries(text: string): YamlEntry[] {
  return text.split("\n").flatMap((line, index) => entriesOfLine(line.replace(/\r$/, ""), index));
}

/** Finds where the part of an entry ends: the index of the first entry behind it. */
export function endOfEntry(entries: readonly YamlEntry[], at: number): number {
  const own = entries[at];
  if (own === undefined) return at;
  const next = entries.findIndex(
    ({ kind, indent }, index) =>
      index > at &&
      (indent < own.indent || (indent === own.indent && (own.kind === "item" || kind === "key"))),
  );
  return next === -1 ? entries.length : next;
}

function childAt(
  entries: readonly YamlEntry[],
  step: string | number,
  from: number,
  to: number,
): number | undefined {
  const first = entries[from];
  if (first === undefined || from >= to) return undefined;
  const kind = typeof step === "number" ? "item" : "key";
  const children = entries
    .map((entry, index) => ({ entry, index }))
    .slice(from, to)
    .filter(({ entry }) => entry.kind === kind && entry.indent === first.indent);
  const found = typeof step === "number" ? children[step] : children.find(({ entry }) => entry.name === step);
  return found?.index;
}

/** Finds the entry at a path: as much of it as is there. @returns its index, and how many steps it took. */
export function findEntry(
  entries: readonly YamlEntry[],
  path: YamlPath,
): { index: number | undefined; depth: number } {
  let [from, to] = [0, entries.length];
  let index: number | undefined;
  for (const [depth, step] of path.entries()) {
    const child = childAt(entries, step, from, to);
    if (child === undefined) return { index, depth };
    index = child;
    [from, to] = [child + 1, endOfEntry(entries, child)];
  }
  return { index, depth: path.length };
}

/** Reads a path as errors of the API write it: `artifacts.attestations[0].type`. */
export function pathOfText(text: string): (string | number)[] {
  return [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? "") : Number(index),
  );
}
