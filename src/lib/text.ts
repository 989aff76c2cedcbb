const highSurrogate = /^[\uD800-\uDBFF]$/;
const lowSurrogate = /^[\uDC00-\uDFFF]$/;

/** Where two texts begin to differ: at the start of a character, never in its middle. */
function firstDifference(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  const inCharacter = lowSurrogate.test(left[at] ?? "") || lowSurrogate.test(right[at] ?? "");
  return inCharacter && highSurrogate.test(left[at - 1] ?? "") ? at - 1 : at;
}

/** Orders texts by code point, for `sort`. JavaScript's own order is that of UTF-16 units. */
export function compareText(left: string, right: string): -1 | 0 | 1 {
  if (left === right) return 0;
  const at = firstDifference(left, right);
  return (left.codePointAt(at) ?? -1) < (right.codePointAt(at) ?? -1) ? -1 : 1;
}
