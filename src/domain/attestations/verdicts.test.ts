import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { jiraVerdict, junitVerdict, pullRequestVerdict, snykVerdict, sonarVerdict } from "./verdicts.ts";

const suite = (failures: number, errors: number) => ({ failures, errors });
const scan = (low_count: number, medium_count: number, high_count: number) => ({
  low_count,
  medium_count,
  high_count,
});
const issue = (issue_exists: boolean) => ({ issue_exists });

describe("junit", () => {
  it.each([
    ["no suites", [], true],
    ["all passed", [suite(0, 0), suite(0, 0)], true],
    ["a failure", [suite(1, 0)], false],
    ["an error", [suite(0, 1)], false],
    ["one bad suite among good ones", [suite(0, 0), suite(0, 2), suite(0, 0)], false],
  ])("%s", (_, suites, verdict) => {
    expect(junitVerdict(suites)).toBe(verdict);
  });
});

describe("snyk", () => {
  it.each([
    ["no projects", [], true],
    ["nothing found", [scan(0, 0, 0)], true],
    ["a low one", [scan(1, 0, 0)], false],
    ["a medium one", [scan(0, 1, 0)], false],
    ["a high one", [scan(0, 0, 1)], false],
    ["in one project of several", [scan(0, 0, 0), scan(1, 0, 0)], false],
  ])("%s", (_, projects, verdict) => {
    expect(snykVerdict(projects)).toBe(verdict);
  });
});

describe("sonar", () => {
  it.each([
    ["a passed gate", { status: "OK" }, true],
    ["a failed gate", { status: "ERROR" }, false],
    ["a warning", { status: "WARN" }, false],
    ["another spelling", { status: "ok" }, false],
    ["null", null, false],
    ["no gate", undefined, false],
  ])("%s", (_, gate, verdict) => {
    expect(sonarVerdict(gate)).toBe(verdict);
  });
});

describe("jira", () => {
  it.each([
    ["no issues", [], false],
    ["one that exists", [issue(true)], true],
    ["all exist", [issue(true), issue(true)], true],
    ["one is missing", [issue(true), issue(false)], false],
  ])("%s", (_, issues, verdict) => {
    expect(jiraVerdict(issues)).toBe(verdict);
  });
});

describe("pull_request", () => {
  it.each([
    ["none", [], false],
    ["an open one", [{ state: "OPEN" }], true],
    ["a closed one", [{ state: "DECLINED" }], true],
    ["several", [{ state: "MERGED" }, { state: "OPEN" }], true],
  ])("%s", (_, pullRequests, verdict) => {
    expect(pullRequestVerdict(pullRequests)).toBe(verdict);
  });
});

describe("any verdict", () => {
  const suites = fc.array(fc.record({ failures: fc.nat(2), errors: fc.nat(2) }));
  const scans = fc.array(fc.record({ low_count: fc.nat(1), medium_count: fc.nat(1), high_count: fc.nat(1) }));

  it("of several results fails exactly if that of one fails", () => {
    fc.assert(
      fc.property(suites, scans, (tested, scanned) => {
        expect(junitVerdict(tested)).toBe(tested.every((one) => junitVerdict([one])));
        expect(snykVerdict(scanned)).toBe(scanned.every((one) => snykVerdict([one])));
      }),
    );
  });
});
