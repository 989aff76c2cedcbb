// A map: the text may be the name of something every object has.
const booleans = new Map(
  Object.entries({
    true: true,
    false: false,
    "1": true,
    "0": false,
    yes: true,
    no: false,
    on: true,
    off: false,
    t: true,
    f: false,
    y: true,
    n: false,
  }),
);

/** Reads `true`, `false` and the usual synonyms, in any case; undefined for other texts. */
export function parseBoolean(text: string): boolean | undefined {
  return booleans.get(text.toLowerCase());
}

/** Reads a whole number in decimal digits; undefined for other texts, and for more digits than a number can hold. */
export function parseInteger(text: string): number | undefined {
  const trimmed = text.trim();
  return /^[+-]?\d{1,15}$/.test(trimmed) ? Number(trimmed) : undefined;
}

/**
 * Reads a number in decimal digits, with or without a sign, a fraction and an exponent: `1e3`, `.5`, `12.`. Undefined
 * for other texts, infinities and `NaN` included; `Infinity` for what is too large.
 */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim();
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** Says whether `parseBoolean` reads this text. */
export const readsAsBoolean = (text: string): boolean => parseBoolean(text) !== undefined;
/** Says whether `parseInteger` reads this text. */
export const readsAsInteger = (text: string): boolean => parseInteger(text) !== undefined;
/** Says whether `parseNumber` reads this text. */
export const readsAsNumber = (text: string): boolean => parseNumber(text) !== undefined;
