import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { safeNext } from "./next-address.ts";

const site = "https://waybill.example";

/** Two hundred ways to name another site. */
const starts = [
  "//",
  "\\\\",
  "/\\",
  "\\/",
  "///",
  "/\t/",
  "/\n/",
  "\t//",
  " //",
  "https://",
  "HTTPS:",
  "https:/",
  "javascript:",
  "data:,",
  "/%0d%0a//",
  "/\r/",
  "http:\\\\",
  "//\u3002",
  "/\u2215/",
  "\u0000//",
];
const hosts = [
  "evil.example",
  "evil.example/%2f..",
  "waybill.example@evil.example",
  "evil.example\\@waybill.example",
  "evil.example#https://waybill.example",
  "[::1]",
  "2130706433",
  "evil.example:443/x",
  "e\u0000vil.example",
  "waybill.example.evil.example",
];
const openRedirects = starts.flatMap((start) => hosts.map((host) => start + host));

describe("safeNext", () => {
  it.each(["/", "/acme", "/acme/flows?page=2&x=%2F#top", "/-/account"])("goes on to %s", (next) =>
    expect(safeNext(next)).toBe(next),
  );

  it("goes to no other site, whatever is asked", () => {
    expect(openRedirects).toHaveLength(200);
    for (const next of openRedirects) expect(new URL(safeNext(next), site).origin).toBe(site);
    for (const next of [undefined, 1, [], ["/a"], "", "a", `/${"a".repeat(5000)}`])
      expect(safeNext(next)).toBe("/");
  });

  it("stays here for any text", () => {
    const unit = fc.constantFrom("/", "\\", ":", "@", ".", "a", "\t", "\n", "?", "#", "%", "2", "f");
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit }), fc.webUrl(), fc.string()), (next) => {
        expect(new URL(safeNext(next), site).origin).toBe(site);
      }),
    );
  });
});
