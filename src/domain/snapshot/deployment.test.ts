import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { threadTime } from "../../../test/support/turns.ts";
import { compareUrl } from "./compare-url.ts";
import { commitLeadTime, deploymentDiff, type BuiltArtifact, type DeployedArtifact } from "./deployment.ts";

const old = "1111111111111111111111111111111111111111";
const now = "2222222222222222222222222222222222222222";

describe("compareUrl", () => {
  it.each([
    ["https://github.com/o/r/commit/$", `https://github.com/o/r/compare/${old}...${now}`],
    [
      "https://git.example.test:8443/o/r/commit/$",
      `https://git.example.test:8443/o/r/compare/${old}...${now}`,
    ],
    ["https://github.com/o/r/commit/$/?diff=split#x", `https://github.com/o/r/compare/${old}...${now}`],
    ["https://gitlab.com/g/r/-/commit/$", `https://gitlab.com/g/r/-/compare/${old}...${now}`],
    [
      "https://gitlab.example.test/g/s/t/r/-/commit/$",
      `https://gitlab.example.test/g/s/t/r/-/compare/${old}...${now}`,
    ],
    [
      "https://gitlab.example.test/g/s/r/commit/$",
      `https://gitlab.example.test/g/s/r/compare/${old}...${now}`,
    ],
    ["https://bitbucket.org/w/r/commits/$", `https://bitbucket.org/w/r/branches/compare/${now}..${old}`],
    [
      "https://bb.example.test/projects/P/repos/r/commits/$",
      `https://bb.example.test/projects/P/repos/r/compare/diff?targetBranch=${old}&sourceBranch=${now}`,
    ],
    [
      "https://example.test/bb/users/u/repos/r/commits/$",
      `https://example.test/bb/users/u/repos/r/compare/diff?targetBranch=${old}&sourceBranch=${now}`,
    ],
    [
      "https://dev.azure.com/o/p/_git/r/commit/$",
      `https://dev.azure.com/o/p/_git/r/branchCompare?baseVersion=GC${old}&targetVersion=GC${now}&_a=files`,
    ],
    [
      "https://o.visualstudio.com/_git/r/commit/$",
      `https://o.visualstudio.com/_git/r/branchCompare?baseVersion=GC${old}&targetVersion=GC${now}&_a=files`,
    ],
    [
      "https://dev.azure.com/o/my%20p/_git/r/commit/$",
      `https://dev.azure.com/o/my%20p/_git/r/branchCompare?baseVersion=GC${old}&targetVersion=GC${now}&_a=files`,
    ],
    ["http://localhost/o/r/commit/$", `http://localhost/o/r/compare/${old}...${now}`],
  ])("%s", (template, expected) => {
    expect(compareUrl(template.replace("$", old), template.replace("$", now))).toBe(expected);
  });

  it.each([
    [null, null],
    [null, `https://github.com/o/r/commit/${now}`],
    [`https://github.com/o/r/commit/${old}`, null],
    [`https://github.com/o/r/commit/${old}`, `https://github.com/o/other/commit/${now}`],
    [`https://github.com/o/r/commit/${old}`, `https://gitlab.com/o/r/-/commit/${now}`],
    ["https://github.com/o/r/commit/main", `https://github.com/o/r/commit/${now}`],
    [`https://github.com/r/commit/${old}`, `https://github.com/r/commit/${now}`],
    [`https://example.test/w/r/commits/${old}`, `https://example.test/w/r/commits/${now}`],
    [`javascript://github.com/o/r/commit/${old}`, `javascript://github.com/o/r/commit/${now}`],
    [`https://u:p@github.com/o/r/commit/${old}`, `https://u:p@github.com/o/r/commit/${now}`],
    ["", ""],
    ["not a url", "not a url"],
  ])("is null for %j and %j", (previous, current) => {
    expect(compareUrl(previous, current)).toBeNull();
  });

  it("compares a commit with itself, and does not mind the case of a repo", () => {
    const url = `https://github.com/o/r/commit/${old}`;
    expect(compareUrl(url, url)).toBe(`https://github.com/o/r/compare/${old}...${old}`);
    expect(compareUrl(url, `https://github.com/O/R/commit/${now}`)).toBe(
      `https://github.com/O/R/compare/${old}...${now}`,
    );
  });

  it("gives a web address of the same host, or nothing, for any text", () => {
    const part = fc.constantFrom("https://", "javascript:", "x.test", "/", "o", "-", "commit", "commits", "_git", old, "?", "#", "@", "..", "%", " ", "\\"); // prettier-ignore
    const url = fc
      .array(part, { maxLength: 14 })
      .map((parts) => `https://x.test${parts.join("/")}/commit/${old}`);
    fc.assert(
      fc.property(url, (text) => {
        const result = compareUrl(text, text);
        if (result !== null) expect(new URL(result).origin).toBe(new URL(text).origin);
      }),
    );
    const started = threadTime();
    compareUrl(`https://x.test${"/_git".repeat(5000)}`, `https://x.test${"/a".repeat(900)}/commit/`);
    compareUrl(`https://x.test${"/_git".repeat(390)}`, null);
    expect(threadTime() - started).toBeLessThan(200);
  });
});

describe("deploymentDiff", () => {
  const built: BuiltArtifact = {
    flow_name: "ci",
    trail_name: "t2",
    template_reference_name: "web",
    git_commit: now,
    commit_url: `https://github.com/o/r/commit/${now}`,
    compliance_state: "COMPLIANT",
  };
  const before: BuiltArtifact = {
    ...built,
    trail_name: "t1",
    git_commit: old,
    commit_url: `https://github.com/o/r/commit/${old}`,
  };
  const ran = (fingerprint: string, flows: BuiltArtifact[], running = false): DeployedArtifact => ({
    name: `web@${fingerprint}`,
    fingerprint,
    running,
    flows,
  });

  it("tells what ran before", () => {
    expect(deploymentDiff("new", built, [ran("old", [{ ...before, flow_name: "other" }, before])])).toEqual({
      diff_url: `https://github.com/o/r/compare/${old}...${now}`,
      previous_git_commit: old,
      previous_fingerprint: "old",
      previous_artifact_name: "web@old",
      previous_artifact_compliance_state: "COMPLIANT",
      previous_running: false,
      previous_git_commit_url: before.commit_url,
      previous_trail_name: "t1",
      previous_template_reference_name: "web",
    });
  });

  it.each<[string, DeployedArtifact[], string | undefined]>([
    ["nothing ran", [], undefined],
    ["the latest", [ran("b", [before], true), ran("a", [before])], "b"],
    ["not itself", [ran("new", [before]), ran("a", [before])], "a"],
    ["not another flow's", [ran("b", [{ ...before, flow_name: "other" }]), ran("a", [before])], "a"],
    [
      "not another artifact of the flow",
      [ran("b", [{ ...before, template_reference_name: "db" }])],
      undefined,
    ],
    ["not what no flow knows", [ran("b", [])], undefined],
  ])("%s", (_, predecessors, fingerprint) => {
    expect(deploymentDiff("new", built, predecessors)?.previous_fingerprint).toBe(fingerprint);
  });

  it("has no address where there is none to make", () => {
    const unknown = { ...before, git_commit: null, commit_url: null, compliance_state: null };
    expect(deploymentDiff("new", built, [ran("old", [unknown], true)])).toMatchObject({
      diff_url: null,
      previous_git_commit: null,
      previous_running: true,
      previous_artifact_compliance_state: null,
    });
  });
});

describe("commitLeadTime", () => {
  it.each<[number[], number | null, number | null]>([
    [[1000], 400, 600],
    [[1000, 1100, 900], 400, 500],
    [[1000], 1500.5, -500.5],
    [[1000], null, null],
    [[], 400, null],
    [[0], 400, null],
    [[-62_135_596_800], 400, null],
    [[0, 1000], 400, 600],
    [[1_777_956_787], 1_777_956_786.9, 0.1],
  ])("%j from %j: %j", (started, committed, seconds) => {
    expect(commitLeadTime(started, committed)).toBe(seconds);
  });
});
