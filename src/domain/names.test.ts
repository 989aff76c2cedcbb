import fc from "fast-check";
import { describe, expect, it } from "vitest";

import * as names from "./names.ts";

const patterns: [keyof typeof names, string, string[], string[]][] = [
  [
    "flowNamePattern",
    "^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$",
    ["a", "0.-_~"],
    ["", "-a", "~a", "a b", "a/b", "a\n"],
  ],
  ["trailNamePattern", "^[a-zA-Z0-9][a-zA-Z0-9\\-_.~]*$", ["a", "0.-_~"], ["", ".a", "a#"]],
  [
    "environmentNamePattern",
    "^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_]*$",
    ["prod", "0.-_"],
    ["", "a~", "a#1", "a@b", "_a"],
  ],
  ["templateReferenceNamePattern", "^[a-zA-Z0-9\\-_]+$", ["-a_"], ["", "a.b"]],
  ["attestationNamePattern", "^[a-zA-Z0-9\\-_,]+$", ["a,b", "-"], ["", "a.b", "a b"]],
  ["policyNamePattern", "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~]*$", ["a~"], ["", "~a"]],
  ["tagKeyPattern", "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~]*$", ["team"], ["", "a:b"]],
  ["controlIdentifierPattern", "^[a-zA-Z0-9\\-._~]+$", ["-._~"], ["", "bad identifier"]],
  ["customAttestationTypeNamePattern", "^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$", ["a.b"], ["", ".a"]],
  ["serviceAccountNamePattern", "^[a-zA-Z0-9\\-]+$", ["-", "ci-Bot1"], ["", "a_b", "a.b"]],
  ["actionNamePattern", "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~/]*$", ["a/b"], ["", "/a"]],
  ["organizationNamePattern", "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.]*$", ["acme", "0._-"], ["", "-a", "a~b", "a/b"]],
  [
    "fingerprintPattern",
    "^[a-f0-9]{64}$",
    ["a".repeat(64)],
    ["a".repeat(63), "A".repeat(64), "g".repeat(64)],
  ],
  ["fingerprintPrefixPattern", "^[a-f0-9]{5,64}$", ["abcde"], ["abcd", "a".repeat(65)]],
  ["gitCommitPattern", "^[a-f0-9]{40}$", ["0".repeat(40)], ["0".repeat(39), "0".repeat(41)]],
  ["externalUrlLabelPattern", "^[^=.]+$", ["a b", "ü"], ["", "a=b", "a.b"]],
  ["annotationKeyPattern", "^[A-Za-z0-9_-]+$", ["a_b-c"], ["", "a.b", "a b"]],
  [
    "chosenKeyPattern",
    "^[!-~]{20,512}$",
    ["!".repeat(20), "~".repeat(512)],
    ["a".repeat(19), "a".repeat(513), `${"a".repeat(20)} b`, `é${"a".repeat(20)}`],
  ],
];

describe.each(patterns)("%s", (name, source, good, bad) => {
  const pattern = names[name] as RegExp;

  it("reads to the letter as error texts quote it", () => expect(pattern.source).toBe(source));
  it.each(good)("takes %j", (text) => expect(pattern.test(text)).toBe(true));
  it.each(bad)("refuses %j", (text) => expect(pattern.test(text)).toBe(false));

  it("decides at once on long texts", () => {
    fc.assert(
      fc.property(fc.constantFrom("a", "a.", "-", "~", "a,"), (part) => {
        const started = performance.now();
        pattern.test(`${part.repeat(50_000)}\n`);
        expect(performance.now() - started).toBeLessThan(500);
      }),
      { numRuns: 10 },
    );
  });
});

describe("archivedName", () => {
  it("tells the second of archiving", () => {
    expect(names.archivedName("prod", 1_780_584_129.987)).toBe("prod-archived-at-1780584129");
  });
});

describe("limits", () => {
  it("are the public interface's", () => {
    expect(names.latestExpiry).toBe(Date.UTC(2100, 0, 1) / 1000);
    expect(names.maxPage).toBe(1_000_000);
    expect(names.serviceAccountNameLength).toEqual({ min: 1, max: 64 });
    expect(names.serviceAccountDescriptionLength).toBe(512);
    expect(names.apiKeyDescriptionLength).toEqual({ min: 1, max: 256 });
  });
});
