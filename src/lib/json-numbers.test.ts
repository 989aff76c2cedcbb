import fc from "fast-check";
import { expect, it } from "vitest";

import { digitsWrittenOut, findRoundedNumber } from "./json-numbers.ts";

it.each([
  "0",
  "-0.0",
  "1.0",
  "1e2",
  "1E+02",
  "0.1",
  "100",
  "1.50e-7",
  "9007199254740992",
  "1e300",
  '"1e400"',
  '"\\"1e400"',
])("keeps %s", (text) => expect(findRoundedNumber(`{"a":[${text}]}`)).toBeUndefined());

it.each([
  "9007199254740993",
  "1e400",
  "-1e400",
  "0.10000000000000000001",
  "1e-400",
  "12345678901234567890",
  "1e99999999999999999999",
])("tells %s", (text) => expect(findRoundedNumber(`{"a":1,"b":["x",${text}]}`)).toBe(text));

it("keeps whatever a program writes, and tells integers that it could not", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findRoundedNumber(JSON.stringify(value))).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 53n }),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 60n }),
      (small, large) => {
        expect(findRoundedNumber(`${small}`)).toBeUndefined();
        expect(findRoundedNumber(`${2n * large + 1n}`)).toBe(`${2n * large + 1n}`);
      },
    ),
  );
});

it("counts the digits that powers of ten stand for, of numbers only", () => {
  expect(digitsWrittenOut('{"a":[1e300,-2.5E-10,7,1.25],"1e9":"1e9"}')).toBe(310);
});
