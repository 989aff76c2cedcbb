import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { matchQualities, type NameMatch, rankMatches, readSearch, searchKinds } from "./search-names.ts";

const digest = "AB12".repeat(16);

describe("a searched text", () => {
  it.each([
    [" Web ", { name: "Web", base: "Web", digits: undefined }],
    [
      "registry:5000/web:1.2",
      { name: "registry:5000/web:1.2", base: "registry:5000/web", digits: undefined },
    ],
    [
      "https://git.test/shop/pull/7",
      { name: "git.test/shop/pull/7", base: "git.test/shop/pull/7", digits: undefined },
    ],
    ["#12345", { name: "12345", base: "#12345", digits: undefined }],
    ["!7", { name: "7", base: "!7", digits: undefined }],
    ["ABC12", { name: "ABC12", base: "ABC12", digits: "abc12" }],
    ["abc1", { name: "abc1", base: "abc1", digits: undefined }],
    [`web@sha256:${digest}`, { name: `web@sha256:${digest}`, base: "web", digits: digest.toLowerCase() }],
    [`sha256:${digest}`, { name: `sha256:${digest}`, base: "sha256", digits: digest.toLowerCase() }],
  ])("of %s", (typed, texts) => {
    expect(readSearch(typed)).toEqual(texts);
  });
});

describe("ranking", () => {
  const match = (kind: NameMatch["kind"], name: string, quality: NameMatch["quality"]): NameMatch => ({
    kind,
    ref: null,
    name,
    quality,
  });

  it("puts the best first, and lets kinds take turns among equal ones", () => {
    const found = [
      match("environment", "prod-1", "prefix"),
      match("environment", "prod-2", "prefix"),
      match("environment", "eu-prod", "word"),
      match("flow", "reprod", "contains"),
      match("flow", "prod-ci", "prefix"),
      match("policy", "prod", "exact"),
    ];
    expect(rankMatches(found, 50).map(({ name }) => name)).toEqual([
      "prod",
      "prod-1",
      "prod-ci",
      "prod-2",
      "eu-prod",
      "reprod",
    ]);
    expect(rankMatches(found, 4).map(({ name }) => name)).toEqual(["prod", "prod-1", "prod-ci", "prod-2"]);
    expect(rankMatches([...found, match("artifact", "of/prod", "word")], 4).map(({ name }) => name)).toEqual([
      "prod",
      "prod-1",
      "prod-ci",
      "of/prod",
    ]);
  });

  it("shows a thing once, by its best match", () => {
    const found = [match("flow", "web-web", "word"), match("flow", "web-web", "prefix")];
    expect(rankMatches(found, 50)).toEqual([match("flow", "web-web", "prefix")]);
    const control = { ...match("control", "C-1", "exact"), ref: "1" };
    expect(rankMatches([{ ...control, name: "C-1 review", quality: "prefix" }, control], 50)).toEqual([
      control,
    ]);
    const artifact = { ...match("artifact", "web", "prefix"), ref: "1" };
    expect(rankMatches([artifact, { ...artifact, name: "web-api" }], 50)).toHaveLength(2);
  });

  it("keeps the order of quality, shows nothing twice, and no kind hides another", () => {
    const any = fc.array(
      fc.record({
        kind: fc.constantFrom(...searchKinds),
        ref: fc.constantFrom(null, "1", "2"),
        name: fc.constantFrom("a", "b", "c"),
        quality: fc.constantFrom(...matchQualities),
      }),
    );
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 50 }), (found, limit) => {
        const shown = rankMatches(found, limit);
        const ranks = shown.map(({ quality }) => matchQualities.indexOf(quality));
        expect(ranks).toEqual(ranks.toSorted((left, right) => left - right));
        const keys = shown.map(({ kind, ref, name }) => `${kind} ${ref} ${name}`);
        expect(new Set(keys).size).toBe(keys.length);
        const all = rankMatches(found, 1000);
        expect(shown).toHaveLength(Math.min(limit, all.length));
        for (const match of shown) expect(all).toContainEqual(match);
        const kinds = (matches: NameMatch[]) => new Set(matches.map(({ kind }) => kind)).size;
        expect(kinds(shown)).toBe(Math.min(limit, kinds(all)));
      }),
    );
  });
});
