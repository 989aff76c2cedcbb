import { orgs } from "../data.ts";
import { type Figure, measure, type Subject } from "../measure.ts";
import { atLeast, below, figureOf, ratioOf, type Scenario } from "../scenario.ts";

const repo = "repo_name=harborlight%2Fcheckout";

function subject(org: string, scenario: string, query: string): Subject {
  return { scenario, path: `/api/v2/builds/${org}?per_page=50&${query}` };
}

const all = "builds: 50 of the last 28 days, of 1,000,000";
const allOfFew = "builds: the same of 10,000";
const ofRepo = "builds: 50 of a repo, of 1,000,000";
const ofRepoOfFew = "builds: the same of 10,000, of a repo";
const deep = "builds: 28 days, page 1,000";
const year = "builds: a window half a year ago";

/** The scenario of lists of builds. */
export const buildsScenario: Scenario = {
  name: "builds",
  run: async (setting) => {
    const figures: Figure[] = await measure(setting, subject(orgs.large, all, "page=1"), [1, 16, 64]);
    figures.push(...(await measure(setting, subject(orgs.small, allOfFew, "page=1"), [16])));
    figures.push(...(await measure(setting, subject(orgs.large, ofRepo, repo), [1, 16, 64])));
    figures.push(...(await measure(setting, subject(orgs.small, ofRepoOfFew, repo), [16])));
    figures.push(...(await measure(setting, subject(orgs.large, deep, "page=1000"), [16])));
    const then = Math.floor(Date.now() / 1000) - 180 * 86_400;
    const window = `start_ts=${then - 28 * 86_400}&end_ts=${then}`;
    figures.push(...(await measure(setting, subject(orgs.large, year, window), [16])));
    const speed = (name: string): number => figureOf(figures, name, 16).own.throughput;
    return {
      figures,
      verdicts: [
        atLeast(
          "builds list, share of bare node:http at 16 connections",
          ratioOf(figureOf(figures, all, 16)),
          0.4,
        ),
        atLeast(
          "builds of a repo, share of bare node:http at 16",
          ratioOf(figureOf(figures, ofRepo, 16)),
          0.4,
        ),
        below("builds list, 10,000 against 1,000,000", speed(allOfFew) / speed(all), 1.3, " times as fast"),
        below(
          "builds of a repo, 10,000 against 1,000,000",
          speed(ofRepoOfFew) / speed(ofRepo),
          1.3,
          " times as fast",
        ),
      ],
    };
  },
};
