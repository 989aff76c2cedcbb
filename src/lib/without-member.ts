import { JsonScanner } from "./json-scanner.ts";

/** Finds where the member of a value begins: at its key, which has no quotes in it. */
function memberStart(text: string, valueStart: number): number {
  const closing = text.lastIndexOf('"', valueStart - 1);
  return text.lastIndexOf('"', closing - 1);
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && " \n\r\t".includes(character);
}

/**
 * Removes the members of one name from a JSON object; everything else stays as it was written.
 * @param text of an object, known to be valid.
 * @param name without quotes in it.
 */
export function withoutMember(text: string, name: string): string {
  const ranges: { start: number; end: number }[] = [];
  const scanner = new JsonScanner(text, {
    places: { members: new Map([[name, { exact: "always" }]]) },
    listener: { onWanted: (start, end) => ranges.push({ start, end }) },
  });
  scanner.advance(Infinity);
  let rest = "";
  let copied = 0;
  for (const { start, end } of ranges) {
    let from = memberStart(text, start);
    let to = end;
    while (from > copied && isBlank(text[from - 1])) from -= 1;
    if (from > copied && text[from - 1] === ",") from -= 1;
    else {
      while (isBlank(text[to])) to += 1;
      if (text[to] === ",") to += 1;
    }
    rest += text.slice(copied, from);
    copied = to;
  }
  return rest + text.slice(copied);
}
