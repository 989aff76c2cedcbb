import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { nameWithoutTag } from "../../src/domain/artifact-name.ts";
import { groupByArtifact, partsOfName, type RunningRow } from "./artifact-names.ts";

const row = fc.record({
  environment_name: fc.constantFrom("prod", "staging", "dev"),
  artifact_name: fc.constantFrom(
    "registry/api:1.0",
    "registry/api:1.1",
    "host:5000/web",
    "tool@sha256:ab",
    "a:b",
  ),
  fingerprint: fc.constantFrom("a".repeat(64), "b".repeat(64), "c".repeat(64)),
  started_at: fc.integer({ min: 1, max: 1000 }),
});

describe("names of artifacts", () => {
  it("are divided from their tags, not from the port of a registry", () => {
    expect(partsOfName("registry/api:1.0")).toEqual({ name: "registry/api", tag: "1.0" });
    expect(partsOfName("host:5000/web")).toEqual({ name: "host:5000/web", tag: "" });
    expect(partsOfName("host:5000/web:2")).toEqual({ name: "host:5000/web", tag: "2" });
    expect(partsOfName("web:2@sha256:0aff")).toEqual({ name: "web", tag: "2" });
    expect(partsOfName("web@sha256:0aff")).toEqual({ name: "web", tag: "" });
    expect(partsOfName("web:1.2@sha512:0aff")).toEqual({ name: "web", tag: "1.2" });
    expect(partsOfName("app:release 1")).toEqual({ name: "app:release 1", tag: "" });
    expect(partsOfName("")).toEqual({ name: "", tag: "" });
  });

  it("are divided as the server divides them", () => {
    const part = fc.constantFrom("web", ":", "@", "/", "sha256", "1.2", "0aff", "-", "+", " ", "\n", "_");
    const name = fc.oneof(
      fc.array(part, { maxLength: 8 }).map((parts) => parts.join("")),
      fc.string(),
    );
    fc.assert(
      fc.property(name, (one) => {
        expect(partsOfName(one).name).toBe(nameWithoutTag(one));
      }),
    );
  });

  it("put together what runs: every row once, versions by contents, the latest first", () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows: RunningRow[]) => {
        const groups = groupByArtifact(rows);
        const all = groups.flatMap(({ versions }) => versions.flatMap((version) => version.rows));
        expect(new Set(all)).toEqual(new Set(rows));
        expect(all).toHaveLength(rows.length);
        for (const { name, versions } of groups) {
          const latest = versions.map((version) => Math.max(...version.rows.map((one) => one.started_at)));
          expect(latest).toEqual(latest.toSorted((a, b) => b - a));
          expect(new Set(versions.map(({ fingerprint }) => fingerprint)).size).toBe(versions.length);
          for (const version of versions)
            for (const one of version.rows) expect(partsOfName(one.artifact_name).name).toBe(name);
        }
      }),
    );
  });
});
