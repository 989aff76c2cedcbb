import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { parseTypeReference } from "./reference.ts";

describe("a reference to a type", () => {
  it.each<[string, string, number | undefined]>([
    ["coverage", "coverage", undefined],
    ["coverage@v1", "coverage", 1],
    ["a.b-c_d~e@v12", "a.b-c_d~e", 12],
    ["v1@v2", "v1", 2],
    ["x@v2147483647", "x", 2_147_483_647],
  ])("%s", (text, name, version) => {
    expect(parseTypeReference(text)).toEqual({ name, version });
  });

  it.each([
    "",
    "@v1",
    "a@",
    "a@v",
    "a@v0",
    "a@v01",
    "a@1",
    "a@v1@v2",
    "a@v-1",
    "a@V1",
    "a@v1 ",
    "a@v2147483648",
    "a@v99999999999",
    "-a",
    "a b",
    "a\0",
    "a\n",
    "a".repeat(513),
  ])("is not %j", (text) => {
    expect(parseTypeReference(text)).toBeUndefined();
  });

  it("is read back as it was written", () => {
    const name = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9.\-_~]{0,40}$/);
    fc.assert(
      fc.property(name, fc.integer({ min: 1, max: 2_147_483_647 }), (type, version) => {
        expect(parseTypeReference(`${type}@v${version}`)).toEqual({ name: type, version });
        expect(parseTypeReference(type)).toEqual({ name: type, version: undefined });
      }),
    );
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(text.startsWith(parseTypeReference(text)?.name ?? "")).toBe(true);
      }),
    );
  });
});
