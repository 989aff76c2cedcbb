import { orgs } from "../data.ts";
import { type Figure, measure, type Subject } from "../measure.ts";
import { atLeast, below, figureOf, ratioOf, type Scenario } from "../scenario.ts";

const headlineQuery = "type=K8S&sort=last_modified_at&sort_direction=desc&page=1";

const variants: [title: string, query: string][] = [
  ["by name, page 1", "sort=name&page=1"],
  ["by name, page 1,000", "sort=name&page=1000"],
  ["by last_modified_at, descending", "sort=last_modified_at&sort_direction=desc&page=1"],
  ["by last_changed_at, descending", "sort=last_changed_at&sort_direction=desc&page=1"],
  ["by last_changed_at, page 1,000", "sort=last_changed_at&page=1000"],
  ["of a type, by name", "type=lambda&sort=name&page=1"],
  ["with a tag that 4,000 or so have", "tag=team:operations&page=1"],
  ["with a tag that a fifth has", "tag=stage:prod&page=1"],
  ["with a part of the name that few have", "name=west-0421&page=1"],
  ["with a part of the name that a sixth has", "name=eu-west&page=1"],
  [
    "with a part of the name that a sixth has, page 300, by last_changed_at",
    "name=eu-west&sort=last_changed_at&page=300",
  ],
  ["page 2,000", "sort=name&page=2000"],
  ["silent ones", "stale=true&page=1"],
  ["those that report, page 1,000", "stale=false&page=1000"],
  [
    "non-compliant ones, by last_modified_at",
    "state=NON-COMPLIANT&sort=last_modified_at&sort_direction=desc&page=1",
  ],
  ["by state, page 1,000", "sort=state&page=1000"],
  ["by last_reported_at, page 1,000", "sort=last_reported_at&sort_direction=desc&page=1000"],
  ["with summary", "include=summary&page=1"],
];

function subject(org: string, scenario: string, query: string): Subject {
  return { scenario, path: `/api/v2/environments/${org}?per_page=50&${query}` };
}

const headline = "environments: 50 of 100,000, of a type, by last_modified_at";
const ofFew = "environments: the same of 1,000";

/** The scenario of lists of environments. */
export const environmentsScenario: Scenario = {
  name: "environments",
  run: async (setting) => {
    const figures: Figure[] = await measure(
      setting,
      subject(orgs.large, headline, headlineQuery),
      [1, 16, 64],
    );
    figures.push(...(await measure(setting, subject(orgs.small, ofFew, headlineQuery), [16])));
    const at16 = figureOf(figures, headline, 16);
    const growth = figureOf(figures, ofFew, 16).own.throughput / at16.own.throughput;
    for (const [title, query] of variants)
      figures.push(...(await measure(setting, subject(orgs.large, `environments ${title}`, query), [16])));
    const overview = {
      scenario: "overview of 100,000 environments",
      path: `/api/v2/organizations/${orgs.large}/overview`,
    };
    figures.push(...(await measure(setting, overview, [16])));
    return {
      figures,
      verdicts: [
        atLeast("environments list, share of bare node:http at 16 connections", ratioOf(at16), 0.4),
        below("environments list, p99 at 16 connections", at16.own.p99, 25, " ms"),
        below("environments list, 1,000 against 100,000", growth, 1.3, " times as fast"),
      ],
    };
  },
};
