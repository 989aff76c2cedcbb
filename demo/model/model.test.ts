import { describe, expect, it } from "vitest";

import { environmentTypes } from "../../src/domain/environments.ts";
import {
  environmentNamePattern,
  fingerprintPattern,
  flowNamePattern,
  gitCommitPattern,
  organizationNamePattern,
  tagKeyPattern,
  templateReferenceNamePattern,
  trailNamePattern,
} from "../../src/domain/names.ts";
import { flows, releaseFlow } from "../data/flows.ts";
import { repos } from "../data/repos.ts";
import { spaces } from "../data/spaces.ts";
import { makeRuns, type Run } from "./builds.ts";
import { createCalendar } from "./calendar.ts";
import { type Environment, makeEnvironments, makeFormerEnvironments } from "./environments.ts";
import { namespaceOf, repoOf, templateOf } from "./flows.ts";
import { makePeople } from "./people.ts";
import { makeAnalyses } from "./quality.ts";

const end = 1_790_000_000;

function runs(seed: string, builds: number, at = end): Run[] {
  return [
    ...makeRuns({
      seed,
      people: makePeople(seed, 9),
      calendar: createCalendar(at, 365),
      builds,
      firstJob: 1,
    }),
  ];
}

function environments(seed: string, count: number): Environment[] {
  const made: Environment[] = [];
  for (const environment of makeEnvironments(seed)) {
    made.push(environment);
    if (made.length === count) return made;
  }
  return made;
}

function withoutTimes(run: Run): unknown {
  return { ...run, at: 0, commit: { ...run.commit, timestamp: 0 } };
}

describe("runs", () => {
  it("have exactly as many artifacts as asked for, none twice", () => {
    for (const count of [0, 1, 2, 3, 57, 4000]) {
      const fingerprints = runs("a", count).flatMap((run) => run.builds.map((build) => build.fingerprint));
      expect(fingerprints).toHaveLength(count);
      expect(new Set(fingerprints).size).toBe(count);
    }
  });

  it("are the same for the same seed whenever they are made, but for the times", () => {
    expect(runs("a", 300).map(withoutTimes)).toEqual(runs("a", 300, end - 12_345_678).map(withoutTimes));
    expect(runs("a", 300).map(withoutTimes)).not.toEqual(runs("b", 300).map(withoutTimes));
  });

  it("come in order of time, after their commits", () => {
    let before = 0;
    for (const run of runs("a", 2000)) {
      expect(run.at).toBeGreaterThanOrEqual(before);
      expect(run.commit.timestamp).toBeLessThan(run.at);
      before = run.at;
    }
    expect(before).toBeLessThan(end);
  });

  it("use names and digests that the server takes", () => {
    for (const run of runs("a", 500)) {
      expect(run.flow.name).toMatch(flowNamePattern);
      expect(run.trail).toMatch(trailNamePattern);
      expect(run.commit.sha1).toMatch(gitCommitPattern);
      for (const build of run.builds) {
        expect(build.fingerprint).toMatch(fingerprintPattern);
        expect(build.component.name).toMatch(templateReferenceNamePattern);
      }
    }
  });

  it("are of every flow, and some fail before anything is built", () => {
    const made = runs("a", 4000);
    expect(new Set(made.map((run) => run.flow.name))).toEqual(new Set(flows.map((flow) => flow.name)));
    expect(made.some((run) => run.builds.length === 0)).toBe(true);
  });
});

describe("environments", () => {
  it("are the same for the same seed and have different, valid names", () => {
    const made = environments("a", 3000);
    expect(environments("a", 3000)).toEqual(made);
    expect(new Set(made.map((environment) => environment.name)).size).toBe(3000);
    for (const environment of made) {
      expect(environment.name).toMatch(environmentNamePattern);
      for (const key of Object.keys(environment.tags)) expect(key).toMatch(tagKeyPattern);
    }
  });

  it("are of every type from the start", () => {
    expect(new Set(environments("any", 9).map((environment) => environment.type))).toEqual(
      new Set(environmentTypes),
    );
  });

  it("combine earlier physical ones, each once", () => {
    const before = new Map<string, Environment>();
    for (const environment of environments("a", 2000)) {
      expect(new Set(environment.members).size).toBe(environment.members.length);
      for (const member of environment.members) expect(before.get(member)?.type).not.toBe("logical");
      for (const member of environment.members) expect(before.has(member)).toBe(true);
      expect(environment.members.length > 0).toBe(environment.type === "logical");
      before.set(environment.name, environment);
    }
  });

  it("that did not stay have names of their own", () => {
    const { archived, renamed } = makeFormerEnvironments("a");
    const names = [...archived, renamed].map((environment) => environment.name);
    expect(new Set([...names, ...environments("a", 500).map((e) => e.name)]).size).toBe(names.length + 500);
  });
});

describe("the company", () => {
  it("has a dozen flows, each with a repo, and repos of several providers and namespaces", () => {
    expect([...flows, releaseFlow]).toHaveLength(12);
    for (const flow of [...flows, releaseFlow]) expect(repos).toContain(repoOf(flow));
    expect(new Set(repos.map((repo) => repo.provider)).size).toBeGreaterThanOrEqual(5);
    expect(new Set(repos.map((repo) => namespaceOf(repo.name).join("/"))).size).toBeGreaterThanOrEqual(5);
  });

  it("has a tree of spaces, parents first, and everything lies in one of them", () => {
    const known = new Set<string>();
    for (const space of spaces) {
      if (space.parent !== null) expect(known).toContain(space.parent);
      known.add(space.key);
    }
    for (const flow of flows) expect(known).toContain(flow.space);
    for (const environment of environments("a", 200))
      if (environment.space !== null) expect(known).toContain(environment.space);
  });

  it("has people with different names and every role", () => {
    const people = makePeople("a", 30);
    expect(new Set(people.map((person) => person.name)).size).toBe(30);
    expect(new Set(people.map((person) => person.role))).toEqual(
      new Set(["admin", "member", "snapshotter", "reader"]),
    );
    for (const person of people) expect(person.name).toMatch(organizationNamePattern);
    expect(makePeople("a", 30)).toEqual(people);
  });

  it("describes each flow's artifacts in its template", () => {
    expect(templateOf(releaseFlow)).toBe(
      "version: 1\ntrail:\n  attestations:\n    - name: sonar\n      type: sonar\n",
    );
    expect(templateOf(flows[0]!)).toContain("  artifacts:\n    - name: web\n    - name: assets\n");
  });
});

describe("quality analyses", () => {
  it("are one for each run, and the three that go wrong", () => {
    const made = runs("a", 40).filter((run) => run.builds.length > 0);
    const analyses = makeAnalyses("a", made);
    expect(analyses).toHaveLength(made.length + 3);
    const tasks = analyses.map((analysis) => analysis["taskId"]);
    expect(new Set(tasks).size).toBe(tasks.length - 1);
    expect(analyses.filter((analysis) => analysis["status"] !== "SUCCESS")).toHaveLength(1);
    expect(makeAnalyses("a", made)).toEqual(analyses);
    expect(makeAnalyses("a", [])).toEqual([]);
  });
});
