import { orgs } from "../data.ts";
import { type Figure, measureAlone, type Setting, type Subject } from "../measure.ts";
import { fingerprintOfLarge, processOrgs } from "../process-data.ts";
import { builtArtifact, large, runtimeOrgs } from "../runtime-data.ts";
import { below, figureOf, type Scenario } from "../scenario.ts";
import { viewNames } from "../views-data.ts";

const org = orgs.large;

/** What pages ask for: a title, a path below the prefix of the API, and the milliseconds that may go by. */
type View = [title: string, path: string, most: number];

function environments(title: string, query: string, most: number): View {
  return [`environments ${title}`, `/environments/${org}?per_page=50&${query}`, most];
}

function running(title: string, query: string, most: number): View {
  return [`what runs ${title}`, `/running/${org}?${query}`, most];
}

const views: View[] = [
  environments("first page", "sort=name", 100),
  environments("page 2,000", "sort=name&page=2000", 100),
  environments("by a part of the name that nearly all have", "name=e", 150),
  environments("by a part of the name that a sixth has", "name=eu-west", 150),
  environments("by a tag that all have", "tag=stage", 150),
  environments("by a tag that all have, page 2,000", "tag=stage&page=2000", 150),
  environments("by a tag that a fifth has", "tag=stage:prod", 150),
  environments("by a policy of 90,000", `policy=${viewNames.policyOfAll}`, 150),
  environments("by a policy of 90,000, page 1,800", `policy=${viewNames.policyOfAll}&page=1800`, 150),
  environments("by a policy of 1,000", `policy=${viewNames.policyOfFew}`, 150),
  environments("that do not comply", "state=NON-COMPLIANT", 150),
  environments("that are silent", "stale=true", 150),
  environments("that are silent, page 2", "stale=true&page=2", 150),
  ["tag choices of environments", `/tags/${org}/environments`, 50],
  ["tag choices, 200 keys with 100 values", `/tags/${viewNames.tags}/flows`, 150],
  running("first page", "", 100),
  running("by a part of the name that nearly all have", "name=e", 150),
  running("by a part of the name that few have", "name=agent-4711", 150),
  running("without provenance", "provenance=none", 100),
  running("without provenance, of a tag", "provenance=none&tag=stage:prod", 150),
  ["overview", `/organizations/${org}/overview`, 50],
  ["compliance of 30 days", `/organizations/${org}/compliance-history`, 150],
  ["search by the beginning of words", `/search/${org}?q=prod`, 50],
  ["search by a name that few have", `/search/${org}?q=west-0421`, 50],
];

/** Measures each on one connection, and judges its median. */
async function measureViews(setting: Setting, asked: readonly View[]): ReturnType<Scenario["run"]> {
  const figures: Figure[] = [];
  for (const [scenario, path] of asked) {
    const subject: Subject = { scenario, path: `/api/v2${path}` };
    figures.push(...(await measureAlone(setting, subject, [1])));
  }
  const verdicts = asked.map(([title, , most]) =>
    below(`${title}, p50`, figureOf(figures, title, 1).own.p50, most, " ms"),
  );
  return { figures, verdicts };
}

/** The scenario of what pages of many environments ask for: 100,000 of them, 270,000 artifacts, 1,000,000 builds. */
export const viewsScenario: Scenario = { name: "views", run: (setting) => measureViews(setting, views) };

const { steady, changing } = large;
const ofRuntime = runtimeOrgs.runtime;

const snapshotViews: View[] = [
  ["why one of 800", `/environments/${ofRuntime}/${steady}/explain?fingerprint=${builtArtifact(7)}`, 100],
  [
    "difference in detail, 800 : 800",
    `/env-diff/${ofRuntime}?snappish1=${steady}&snappish2=${changing}&include=detail`,
    300,
  ],
  ["what runs in an environment with 800", `/running/${ofRuntime}?environment=${steady}`, 100],
  ["artifacts of a snapshot of 800, one page", `/snapshots/${ofRuntime}/${steady}/-1/artifacts`, 100],
];

/** The scenario of what pages of one snapshot ask for. */
export const snapshotViewsScenario: Scenario = {
  name: "snapshot-views",
  run: (setting) => measureViews(setting, snapshotViews),
};

const ofProcess = processOrgs.large;
const days89 = 89 * 24 * 3600;
const since = Math.floor(Date.now() / 1000) - days89;

const trailViews: View[] = [
  ["trails of an organization, one page of 100,000", `/trails/${ofProcess}?per_page=20`, 100],
  ["trails by a part of the name, newest 10,000", `/trails/${ofProcess}?search=abc&per_page=50`, 100],
  ["trails by what fails, newest 10,000", `/trails/${ofProcess}?failing=check-3&per_page=50`, 100],
  ["trail matrix of a flow, 50 trails", `/trails/${ofProcess}/flow-7?include=matrix&per_page=50`, 100],
  [
    "statistics of a flow of 100 trails",
    `/flows/${ofProcess}/flow-7/statistics?start_ts=${since}&bucket=week`,
    100,
  ],
  ["provenance of an artifact", `/provenance/${ofProcess}/${fingerprintOfLarge(11)}`, 100],
];

/** The scenario of what pages of flows and trails ask for: 100,000 trails, 2,000,000 attestations. */
export const trailViewsScenario: Scenario = {
  name: "trail-views",
  run: (setting) => measureViews(setting, trailViews),
};
