import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { threadTime } from "../../test/support/turns.ts";
import * as names from "./names.ts";

const patterns: [string, RegExp, string, string[], string[]][] = [
  [
    "flowNamePattern",
    names.flowNamePattern,
    "^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$",
    ["a", "0.-_~"],
    ["", "-a", "~a", "a b", "a/b", "a\n"],
  ],
  [
    "trailNamePattern",
    names.trailNamePattern,
    "^[a-zA-Z0-9][a-zA-Z0-9\\-_.~]*$",
    ["a", "0.-_~"],
    ["", ".a", "a#"],
  ],
  [
    "environmentNamePattern",
    names.environmentNamePattern,
    "^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_]*$",
    ["prod", "0.-_"],
    ["", "a~", "a#1", "a@b", "_a"],
  ],
  [
    "templateReferenceNamePattern",
    names.templateReferenceNamePattern,
    "^[a-zA-Z0-9\\-_]+$",
    ["-a_"],
    ["", "a.b"],
  ],
  [
    "attestationNamePattern",
    names.attestationNamePattern,
    "^[a-zA-Z0-9\\-_,]+$",
    ["a,b", "-"],
    ["", "a.b", "a b"],
  ],
  ["policyNamePattern", names.policyNamePattern, "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~]*$", ["a~"], ["", "~a"]],
  ["tagKeyPattern", names.tagKeyPattern, "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~]*$", ["team"], ["", "a:b"]],
  [
    "controlIdentifierPattern",
    names.controlIdentifierPattern,
    "^[a-zA-Z0-9\\-._~]+$",
    ["-._~"],
    ["", "bad identifier"],
  ],
  [
    "customAttestationTypeNamePattern",
    names.customAttestationTypeNamePattern,
    "^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$",
    ["a.b"],
    ["", ".a"],
  ],
  [
    "serviceAccountNamePattern",
    names.serviceAccountNamePattern,
    "^[a-zA-Z0-9\\-]+$",
    ["-", "ci-Bot1"],
    ["", "a_b", "a.b"],
  ],
  ["actionNamePattern", names.actionNamePattern, "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~/]*$", ["a/b"], ["", "/a"]],
  [
    "organizationNamePattern",
    names.organizationNamePattern,
    "^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.]*$",
    ["acme", "0._-"],
    ["", "-a", "a~b", "a/b"],
  ],
  [
    "fingerprintPattern",
    names.fingerprintPattern,
    "^[a-f0-9]{64}$",
    ["a".repeat(64)],
    ["a".repeat(63), "A".repeat(64), "g".repeat(64)],
  ],
  [
    "fingerprintPrefixPattern",
    names.fingerprintPrefixPattern,
    "^[a-f0-9]{5,64}$",
    ["abcde"],
    ["abcd", "a".repeat(65)],
  ],
  [
    "gitCommitPattern",
    names.gitCommitPattern,
    "^[a-f0-9]{40}$",
    ["0".repeat(40)],
    ["0".repeat(39), "0".repeat(41)],
  ],
  ["externalUrlLabelPattern", names.externalUrlLabelPattern, "^[^=.]+$", ["a b", "ü"], ["", "a=b", "a.b"]],
  ["annotationKeyPattern", names.annotationKeyPattern, "^[A-Za-z0-9_-]+$", ["a_b-c"], ["", "a.b", "a b"]],
  [
    "chosenKeyPattern",
    names.chosenKeyPattern,
    "^[!-~]{20,512}$",
    ["!".repeat(20), "~".repeat(512)],
    ["a".repeat(19), "a".repeat(513), `${"a".repeat(20)} b`, `é${"a".repeat(20)}`],
  ],
];

describe.each(patterns)("%s", (_name, pattern, source, good, bad) => {
  it("reads to the letter as error texts quote it", () => expect(pattern.source).toBe(source));
  it.each(good)("takes %j", (text) => expect(pattern.test(text)).toBe(true));
  it.each(bad)("refuses %j", (text) => expect(pattern.test(text)).toBe(false));

  it("decides at once on long texts", () => {
    fc.assert(
      fc.property(fc.constantFrom("a", "a.", "-", "~", "a,"), (part) => {
        const started = threadTime();
        pattern.test(`${part.repeat(50_000)}\n`);
        expect(threadTime() - started).toBeLessThan(500);
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
