import fc from "fast-check";

/** Numbers that a program's own would not keep as they were written. */
const hostileNumbers = [
  "9007199254740993",
  "-9007199254740993",
  "12345678901234567890123456789",
  "1e400",
  "-1E+400",
  "1e-400",
  "1.0",
  "-0",
  "-0.0",
  "1E5",
  "1.10",
  "0.1234567890123456789012345678901234567890",
  "3.00e+02",
];

const digits = fc.stringMatching(/^[0-9]{1,30}$/);

const numberText = fc.oneof(
  fc.constantFrom(...hostileNumbers),
  fc
    .tuple(fc.boolean(), fc.stringMatching(/^(0|[1-9][0-9]{0,30})$/), fc.option(digits), fc.option(digits))
    .map(([isNegative, whole, fraction, exponent]) => {
      const point = fraction === null ? "" : `.${fraction}`;
      const power = exponent === null ? "" : `e-${exponent}`;
      return `${isNegative ? "-" : ""}${whole}${point}${power}`;
    }),
);

/** Texts as they may be written: bare, with escapes that need not be, with characters beyond the first plane. */
const stringText = fc.oneof(
  fc.constantFrom(
    '"10"',
    '"9"',
    '"\\u0041\\/"',
    '"é\\u00e9"',
    '"😀"',
    '"\\ud83d\\ude00"',
    '"$&"',
    '"{\\"a\\":1}"',
  ),
  fc
    .string({ unit: "grapheme", maxLength: 12 })
    .filter((text) => text.isWellFormed() && !text.includes("\0") && text !== "__proto__")
    .map((text) => JSON.stringify(text)),
);

const blank = fc.constantFrom("", "", "", " ", "\n  ", "\t");

/** JSON text of any value, written in ways that a program would not write it. */
export const { json: hostileJson, object: hostileObject } = fc.letrec<{
  json: string;
  object: string;
  list: string;
}>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: numberText },
    stringText,
    fc.constantFrom("true", "false", "null"),
    tie("object"),
    tie("list"),
  ),
  object: fc
    .array(fc.tuple(blank, stringText, blank, tie("json")), { maxLength: 5 })
    .map(
      (members) =>
        `{${members.map(([before, key, after, value]) => `${before}${key}${after}:${value}`).join(",")}}`,
    ),
  list: fc
    .array(fc.tuple(blank, tie("json"), blank), { maxLength: 5 })
    .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
}));

/** Everything that is hard to keep, in one object. */
export const hardToKeep =
  `{"10":1.0,"9": 9007199254740993,"b":1e400,"a":-0,"list":[${hostileNumbers.join(", ")}],` +
  `"10":1E5,"long":0.1234567890123456789012345678901234567890,"text":"\\u0041\\/é😀","deep":{"z":{},"1":[]}}`;
