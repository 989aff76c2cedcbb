import { describe, expect, it } from "vitest";

import { environmentTypes } from "../../src/domain/environments.ts";
import { environmentNamePattern, fingerprintPattern, policyNamePattern } from "../../src/domain/names.ts";
import { flattenReport } from "../../src/domain/snapshot/flatten.ts";
import { finish } from "../../src/lib/steps.ts";
import { flows } from "../data/flows.ts";
import { policies } from "../data/policies.ts";
import { rounds, shown } from "../data/sites.ts";
import { spaces } from "../data/spaces.ts";
import { makeRuns, type Run } from "./builds.ts";
import { createCalendar } from "./calendar.ts";
import { makeEnvironments, makeFormerEnvironments } from "./environments.ts";
import { makePeople } from "./people.ts";
import { reportOf } from "./reports.ts";
import { candidatesOf, type LatestRuns, makeRollout, remembering, type SiteReport } from "./rollout.ts";
import { images, makeSiteEnvironments, sites } from "./sites.ts";

const now = 1_790_000_000.5;

function runs(seed: string, builds: number, days: number): Run[] {
  const calendar = createCalendar(now, days);
  return [...makeRuns({ seed, people: makePeople(seed, 9), calendar, builds, firstJob: 1 })];
}

/** The rollout of a company that built so much in the year, and so much lately. */
function rollout(seed: string, past: number, recent: number): SiteReport[][] {
  const latest: LatestRuns = new Map();
  const all = [...remembering(runs(`${seed}/past`, past, 365), latest)];
  expect(all).toEqual(runs(`${seed}/past`, past, 365));
  return makeRollout(seed, candidatesOf(seed, latest, runs(`${seed}/recent`, recent, 2)));
}

/** What of a name without its version a site ran, round by round. */
function history(made: SiteReport[][], siteName: string, name: string): (string | undefined)[] {
  return made.map((round) => {
    const { running = [] } = round.find(({ site }) => site.name === siteName) ?? {};
    return running.find((each) => each.name.startsWith(name))?.fingerprint;
  });
}

describe("sites", () => {
  it("are of every kind that reports, with names of their own, in spaces, under policies that there are", () => {
    expect(new Set([...sites.map(({ type }) => type), "logical"])).toEqual(new Set(environmentTypes));
    const made = makeSiteEnvironments();
    const { archived, renamed } = makeFormerEnvironments("a");
    const names = [...made, ...archived, renamed].map(({ name }) => name);
    for (const environment of makeEnvironments("a")) if (names.push(environment.name) === 500) break;
    expect(new Set(names).size).toBe(names.length);
    for (const { name, space, members } of made) {
      expect(name).toMatch(environmentNamePattern);
      expect(spaces.map(({ key }) => key)).toContain(space);
      for (const member of members) expect(sites.map((site) => site.name)).toContain(member);
    }
    for (const { name } of policies) expect(name).toMatch(policyNamePattern);
    for (const site of sites)
      for (const name of site.policies) expect(policies.map((policy) => policy.name)).toContain(name);
  });

  it("run components that flows build", () => {
    for (const { flow, component } of sites.flatMap(({ services }) => services))
      expect(flows.find(({ name }) => name === flow)?.components.map(({ name }) => name)).toContain(
        component,
      );
  });
});

describe("rollouts", () => {
  const made = rollout("a", 360, 40);

  it("are the same for the same seed, and cover every site in every round", () => {
    expect(rollout("a", 360, 40)).toEqual(made);
    expect(rollout("b", 360, 40)).not.toEqual(made);
    expect(made).toHaveLength(rounds.total);
    for (const round of made) expect(round.map(({ site }) => site)).toEqual(sites);
  });

  it("bring nothing to production that staging did not have before", () => {
    for (const name of ["registry/checkout-api", "registry/storefront-web"]) {
      const staging = history(made, shown.staging, name);
      const production = history(made, shown.prod, name);
      expect(new Set(staging).size).toBeGreaterThan(3);
      expect(new Set(production).size).toBeGreaterThan(2);
      for (const [round, fingerprint] of production.entries())
        expect(staging.slice(0, Math.max(round, 1))).toContain(fingerprint);
    }
  });

  it("go back once in production, whatever the seed", () => {
    for (const seed of ["a", "b", "c", "d", "e", "f", "g", "h"]) {
      const production = history(rollout(seed, 360, 40), shown.prod, "registry/checkout-api");
      const before = production.slice(0, -1);
      const returns = before.filter(
        (fingerprint, round) =>
          fingerprint !== before[round - 1] && before.slice(0, round).includes(fingerprint),
      );
      expect(returns).toHaveLength(1);
    }
  });

  it("let a foreign image turn up in production late, and change numbers of instances", () => {
    const toolbox = history(made, shown.prod, images.toolbox.name);
    expect(toolbox.filter((fingerprint) => fingerprint !== undefined)).toHaveLength(2);
    const numbers = made.flatMap((round) =>
      round.flatMap(({ running }) => running.map((each) => each.instances)),
    );
    expect(new Set(numbers)).toEqual(new Set([1, 2, 3, 4, 5]));
  });

  it("end in production with the newest that passed", () => {
    const seed = "a";
    const candidates = candidatesOf(seed, new Map(), runs(`${seed}/recent`, 400, 2));
    const best = candidates.get("checkout-ci")?.findLast(({ passed }) => passed);
    const last = history(makeRollout(seed, candidates), shown.prod, "registry/checkout-api").at(-1);
    expect(best?.run.builds.map(({ fingerprint }) => fingerprint)).toContain(last);
  });

  it("do with flows that have built nothing, or just once", () => {
    for (const builds of [0, 1, 2, 20]) {
      const fingerprints = rollout("a", 0, builds)
        .flat()
        .flatMap(({ running }) => running.map(({ fingerprint }) => fingerprint));
      for (const fingerprint of fingerprints.filter((each) => each !== images.agent.fingerprint))
        expect(fingerprint).toMatch(fingerprintPattern);
      expect(fingerprints).toContain(images.sidecar.fingerprint);
    }
  });
});

describe("reports", () => {
  it("name everything that runs, as often as it runs, not started before it was built", () => {
    for (const siteReport of rollout("a", 360, 40).flat()) {
      const artifacts = finish(flattenReport(reportOf(siteReport, now)));
      expect(artifacts.map(({ name }) => name).sort()).toEqual(
        siteReport.running.map(({ name }) => name).sort(),
      );
      for (const { name, instances, built } of siteReport.running) {
        const times = artifacts.find((artifact) => artifact.name === name)?.creationTimestamp ?? [];
        expect(times).toHaveLength(instances);
        for (const time of times) expect(time).toBeGreaterThanOrEqual(built);
      }
    }
  });
});
