import fc from "fast-check";
import { expect, it } from "vitest";

import { buildMembers } from "./builds.ts";

const text = fc.string({ unit: "binary" }).filter((value) => value.isWellFormed());
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

it("gives everything that never changes, and null for what is unknown of a commit", () => {
  const commit = fc.record(
    { sha1: text, message: orNull(text), author: text, branch: text, timestamp: fc.integer(), url: text },
    { requiredKeys: [] },
  );
  const facts = fc.record({
    fingerprint: text,
    trail_name: text,
    filename: text,
    build_url: text,
    git_commit: orNull(text),
    git_commit_info: orNull(commit),
  });
  const nothing = { sha1: null, message: null, author: null, branch: null, timestamp: null, url: null };
  fc.assert(
    fc.property(facts, (given) => {
      const shown = given.git_commit_info === null ? null : { ...nothing, ...given.git_commit_info };
      expect(JSON.parse(`{${buildMembers(given)}}`)).toEqual({ ...given, git_commit_info: shown });
    }),
  );
});

it("leaves out what of a commit is not shown", () => {
  const git_commit_info = { sha1: "a", parents: ["b"], verified: true };
  const facts = { fingerprint: "f", trail_name: "t", filename: "n", build_url: "u", git_commit: null };
  expect(buildMembers({ ...facts, git_commit_info })).not.toMatch(/parents|verified/);
});
