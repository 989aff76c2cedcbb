/** Texts, which may hold what looks like numbers, and numbers of valid JSON. */
const textOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Writes a number in the one form that all ways of writing it have: its digits without zeros at either end, and its power of ten. */
function normal(number: string): string {
  const [, sign = "", whole = "", fraction = "", power = "0"] = parts.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  const exponent = BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${exponent}`;
}

/**
 * Finds a number in a text of valid JSON that would be another one after it was read and written again: it has more digits than
 * a double (IEEE 754), or is too large for one.
 */
export function findRoundedNumber(text: string): string | undefined {
  for (const [found] of text.matchAll(textOrNumber))
    if (!found.startsWith('"') && normal(found) !== normal(String(Number(found)))) return found;
  return undefined;
}

/**
 * Counts how many digits more the numbers of a text of valid JSON have where they are written without a power of ten, as PostgreSQL
 * keeps those of `jsonb`: 1e300 has three hundred.
 */
export function digitsWrittenOut(text: string): number {
  let digits = 0;
  for (const [found] of text.matchAll(textOrNumber))
    if (!found.startsWith('"')) digits += Math.abs(Number(parts.exec(found)?.[4] ?? 0));
  return digits;
}
