import type { Environment } from "./model/environments.ts";
import { createCalendar } from "./model/calendar.ts";
import { makeRuns, type Run } from "./model/builds.ts";
import { candidatesOf, type LatestRuns, remembering } from "./model/rollout.ts";
import type { Demo } from "./plan.ts";
import { type ActionNumbers, createActions } from "./steps/actions.ts";
import { createEnvironments } from "./steps/environments.ts";
import { createFlows } from "./steps/flows.ts";
import { loadHistory } from "./steps/history.ts";
import { loadMoreEnvironments } from "./steps/more-environments.ts";
import { createPeople } from "./steps/people.ts";
import { deliverAnalyses, type QualityHook } from "./steps/quality.ts";
import { tagRepos } from "./steps/repos.ts";
import { reportReleases, reportRuns } from "./steps/runs.ts";
import { fillRuntime, type Runtime } from "./steps/runtime.ts";
import { createServiceAccounts, type Robots } from "./steps/service-accounts.ts";
import { createSpaces, type SpaceIds } from "./steps/spaces.ts";

const hour = 3600;

/** The work of the year up to an hour ago, and that of the last two days. */
function planRuns(demo: Demo): { past: Iterable<Run>; recent: Run[] } {
  const { seed, people, amounts, now } = demo;
  const past = makeRuns({
    seed: `${seed}/past`,
    people,
    calendar: createCalendar(now - hour, 365),
    builds: amounts.builds - amounts.recentBuilds,
    firstJob: 1,
  });
  const recent = makeRuns({
    seed: `${seed}/recent`,
    people,
    calendar: createCalendar(now, 2),
    builds: amounts.recentBuilds,
    firstJob: amounts.builds,
  });
  return { past, recent: [...recent] };
}

async function fillEnvironments(demo: Demo, spaceIds: SpaceIds): Promise<Environment[]> {
  const environments = await createEnvironments(demo, spaceIds);
  if (demo.beside !== undefined)
    await loadMoreEnvironments(demo, demo.beside, { made: environments, spaceIds });
  return environments;
}

/** What the organization was filled with, as far as the reader may want to try it. */
export interface Filled {
  robots: Robots;
  actions: ActionNumbers;
  hook: QualityHook;
  runtime: Runtime;
}

/** Fills the new organization, one kind of record after the other, in the order they need each other. */
export async function fill(demo: Demo): Promise<Filled> {
  const { past, recent } = planRuns(demo);
  await createPeople(demo);
  const robots = await createServiceAccounts(demo);
  const spaceIds = await createSpaces(demo);
  await createFlows(demo, spaceIds);
  const latest: LatestRuns = new Map();
  if (demo.beside !== undefined) await loadHistory(demo, demo.beside, remembering(past, latest));
  const environments = await fillEnvironments(demo, spaceIds);
  const pipeline: Demo = { ...demo, api: demo.api.as(robots.pipelineKey) };
  await reportRuns(pipeline, recent);
  await reportReleases(pipeline, recent);
  await tagRepos(demo);
  const actions = await createActions(demo, environments);
  const hook = await deliverAnalyses(demo, recent);
  const candidates = candidatesOf(demo.seed, latest, recent);
  const runtime = await fillRuntime(demo, candidates, robots.reporterKey);
  return { robots, actions, hook, runtime };
}
