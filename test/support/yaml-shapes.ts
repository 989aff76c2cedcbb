/** Fills a text of a length with copies of a piece. */
function filled(length: number, piece: string, before = "", after = ""): string {
  const room = length - before.length - after.length;
  return before + piece.repeat(Math.floor(room / piece.length)) + after;
}

function numbered(length: number, line: (index: string) => string): string {
  const lines: string[] = [];
  for (let index = 0, size = 0; size < length; index += 1) {
    const next = line(index.toString(36));
    size += next.length;
    if (size < length) lines.push(next);
  }
  return lines.join("");
}

/** Texts that take long to read for their length, by what they are made of. */
export function expensiveYaml(length: number): Record<string, string> {
  return {
    "empty pairs": filled(length, "?,", "{", "}"),
    "deep flow collections": filled(length, `${"[".repeat(28)}${"]".repeat(28)},`, "a: [", "]"),
    "flow mappings": filled(length, "{a: b},", "a: [", "]"),
    "short scalars": filled(length, "1,", "a: [", "]"),
    "empty collections": filled(length, "[],", "a: [", "]"),
    "pairs in a list": filled(length, "a: ,", "a: [", "]"),
    "dashes in a list": filled(length, "-,", "a: [", "]"),
    "lists in lists": filled(length, "- - - - - a\n"),
    "an error at the end": filled(length, "- a: b\n", "", "- a: 1\n  a: 2\n"),
    "short keys": numbered(length, (index) => `${index}: \n`),
    "keys in a flow mapping": `{${numbered(length - 2, (index) => `${index},`)}}`,
    "explicit keys": filled(length, "? a\n"),
    "empty lines of a list": filled(length, "-\n"),
    aliases: filled(length, "- *a\n", "- &a x\n"),
    "aliases in a list": filled(length, "*a ,", "a: [&a x,", "]"),
    anchors: numbered(length, (index) => `- &a${index} x\n`),
    "blank lines": filled(length, "\n", "", "a: 1"),
    comments: filled(length, "#\n", "", "a: 1"),
    "comments in a list": filled(length, "# c\n ", "a: [", "]"),
    documents: filled(length, "---\n"),
    "ends of documents": filled(length, "...\n"),
    directives: filled(length, "%A\n", "", "---\na"),
    tags: filled(length, "- !!str a\n"),
    "open quotes": filled(length, '"', "a: ["),
    "folded quoted text": filled(length, "a\n  ", 'a: "', '"'),
    escapes: filled(length, "\\u0041", 'a: "', '"'),
    "a long plain scalar": filled(length, "word ", "a: "),
    "a plain scalar of many lines": filled(length, "w\n  ", "a: "),
    "a folded block": filled(length, "  x\n\n", "a: >\n"),
    tabs: filled(length, "\t", "a:", "b"),
    "lines with tabs": filled(length, "a:\t\n\t\n"),
  };
}
