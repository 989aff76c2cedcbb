/** A line of two texts: in both, or in one of them; its numbers are from 1. */
export interface DiffLine {
  kind: "same" | "removed" | "added";
  text: string;
  before: number | undefined;
  after: number | undefined;
}

/** Lines that both texts have, far from any change. */
export interface SkippedLines {
  kind: "skipped";
  count: number;
  /** Number of the first of them in the later text. */
  after: number;
}

/** Most pairs of lines that are held against each other, which takes milliseconds. */
const mostPairs = 4_000_000;

/** Counts for each pair of places how long the longest text is that what follows both has in common. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint16Array {
  const width = after.length + 1;
  const lengths = new Uint16Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        before[i] === after[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  return lengths;
}

type Kind = DiffLine["kind"];

/** Says for the lines of both, in order, in which they are. Too many of them are told as replaced. */
function kindsOf(before: readonly string[], after: readonly string[]): Kind[] {
  if (before.length * after.length > mostPairs)
    return [...before.map((): Kind => "removed"), ...after.map((): Kind => "added")];
  const lengths = commonLengths(before, after);
  const width = after.length + 1;
  const kinds: Kind[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const isSame = i < before.length && j < after.length && before[i] === after[j];
    const without = lengths[(i + 1) * width + j] ?? 0;
    const isRemoved =
      i < before.length && (j === after.length || without >= (lengths[i * width + j + 1] ?? 0));
    kinds.push(isSame ? "same" : isRemoved ? "removed" : "added");
    if (isSame || isRemoved) i += 1;
    if (isSame || !isRemoved) j += 1;
  }
  return kinds;
}

function sharedAtStart(before: readonly string[], after: readonly string[]): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && before[count] === after[count]) count += 1;
  return count;
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

/** Finds which lines have to go from a text, and which have to come, to make another of it. */
export function diffLines(beforeText: string, afterText: string): DiffLine[] {
  const [before, after] = [linesOf(beforeText), linesOf(afterText)];
  const start = sharedAtStart(before, after);
  const end = sharedAtStart(before.slice(start).toReversed(), after.slice(start).toReversed());
  const kinds: Kind[] = [
    ...Array.from({ length: start }, (): Kind => "same"),
    ...kindsOf(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...Array.from({ length: end }, (): Kind => "same"),
  ];
  let [i, j] = [0, 0];
  return kinds.map((kind) => {
    const text = (kind === "added" ? after[j] : before[i]) ?? "";
    if (kind !== "added") i += 1;
    if (kind !== "removed") j += 1;
    return {
      kind,
      text,
      before: kind === "added" ? undefined : i,
      after: kind === "removed" ? undefined : j,
    };
  });
}

/** Leaves out what is the same far from all changes. @param context how many lines stay beside each change. */
export function withContext(lines: readonly DiffLine[], context = 3): (DiffLine | SkippedLines)[] {
  const isNear = new Uint8Array(lines.length);
  for (const [index, { kind }] of lines.entries())
    if (kind !== "same") isNear.fill(1, Math.max(0, index - context), index + context + 1);
  const shown: (DiffLine | SkippedLines)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (isNear[index] === 1) shown.push(line);
    else if (last?.kind === "skipped") last.count += 1;
    else shown.push({ kind: "skipped", count: 1, after: line.after ?? 1 });
  }
  return shown;
}
