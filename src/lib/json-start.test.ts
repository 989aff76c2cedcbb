import fc from "fast-check";
import { expect, it } from "vitest";

import { ExactJson, writeJson } from "./exact-json.ts";
import { jsonStart } from "./json-start.ts";

it("begins as the whole does", () => {
  const exact = fc.constant(ExactJson.ofText('{"10": 1.0, "9":[2]}'));
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: "binary" }),
    fc.array(fc.oneof(exact, fc.jsonValue())),
  );
  fc.assert(
    fc.property(value, fc.nat(60), (given, length) => {
      const [whole, start] = [writeJson(given), jsonStart(given, length)];
      expect(start.slice(0, length)).toBe(whole.slice(0, length));
      expect(start.length > length).toBe(whole.length > length);
    }),
  );
});

it("looks at no more than is wanted", () => {
  const list = new Proxy([1, 2, 3, 4], {
    get: (target, key) => {
      if (key === "3") throw new Error("was looked at");
      return Reflect.get(target, key) as unknown;
    },
  });
  expect(jsonStart(list, 2)).toBe("[1,2");
});
