// Numbers beyond the end of a text are NaN, which is neither.
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Finds where two texts begin to differ: at the start of a character, never in its middle. */
function firstDifference(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  const inCharacter = isLowSurrogate(left.charCodeAt(at)) || isLowSurrogate(right.charCodeAt(at));
  return inCharacter && isHighSurrogate(left.charCodeAt(at - 1)) ? at - 1 : at;
}

/** Units from the first surrogate on: only between two of these the order of units and that of code points differ. */
const highUnit = /[\uD800-\uFFFF]/;

/** Compares texts by code point, for `sort`. JavaScript's own order is that of UTF-16 units. */
export function compareText(left: string, right: string): -1 | 0 | 1 {
  if (left === right) return 0;
  // Three times as fast, and nearly every text is so.
  if (!highUnit.test(left) || !highUnit.test(right)) return left < right ? -1 : 1;
  const at = firstDifference(left, right);
  return (left.codePointAt(at) ?? -1) < (right.codePointAt(at) ?? -1) ? -1 : 1;
}

/** Compares texts by UTF-16 unit, as `sort` does of its own: for order that is only to be the same each time, which is found fastest so. */
export function compareUnits(left: string, right: string): -1 | 0 | 1 {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Length of a piece, in UTF-16 units. */
const pieceLength = 64 * 1024;

/** Splits a text into pieces, none of which ends within a character. */
export function* textPieces(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const to = from + pieceLength - (isHighSurrogate(text.charCodeAt(from + pieceLength - 1)) ? 1 : 0);
    yield text.slice(from, to);
    from = to;
  }
}

/** Writes a text with a capital at its beginning. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
