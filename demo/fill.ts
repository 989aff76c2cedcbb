import type { Environment } from "./model/environments.ts";
import { createCalendar } from "./model/calendar.ts";
import { makeRuns, type Run } from "./model/builds.ts";
import { candidatesOf, type LatestRuns, remembering } from "./model/rollout.ts";
import type { Demo } from "./plan.ts";
import { type ActionNumbers, createActions } from "./steps/actions.ts";
import { createAttestationTypes } from "./steps/attestation-types.ts";
import { createControls, decideReleases } from "./steps/controls.ts";
import { createEnvironments } from "./steps/environments.ts";
import { createFlows } from "./steps/flows.ts";
import { loadHistory } from "./steps/history.ts";
import { loadMoreEnvironments } from "./steps/more-environments.ts";
import { overrideTests, reportMeasurements } from "./steps/measurements.ts";
import { createOpenSource } from "./steps/open-source.ts";
import { createPeople } from "./steps/people.ts";
import { deliverAnalyses, type QualityHook } from "./steps/quality.ts";
import { tagRepos } from "./steps/repos.ts";
import { reportReleases, reportRuns } from "./steps/runs.ts";
import { fillRuntime, type Runtime } from "./steps/runtime.ts";
import { createServiceAccounts, type Robots } from "./steps/service-accounts.ts";
import { fallSilent } from "./steps/silence.ts";
import { createSpaces, type SpaceIds } from "./steps/spaces.ts";

const hour = 3600;

/** Plans the runs of the year up to an hour ago, and those of the last two days. */
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

/** What was made, as far as the printed commands refer to it. */
export interface Filled {
  robots: Robots;
  actions: ActionNumbers;
  hook: QualityHook;
  runtime: Runtime;
  /** Name of the public organization. */
  openOrg: string;
}

/** Fills the new organization, one kind of record after the other: those that others need come first. */
export async function fill(demo: Demo): Promise<Filled> {
  const { past, recent } = planRuns(demo);
  await createPeople(demo);
  const robots = await createServiceAccounts(demo);
  const spaceIds = await createSpaces(demo);
  await createFlows(demo, spaceIds);
  await createAttestationTypes(demo);
  await createControls(demo);
  const latest: LatestRuns = new Map();
  if (demo.beside !== undefined) await loadHistory(demo, demo.beside, remembering(past, latest));
  // One more falls silent.
  const amounts = { ...demo.amounts, environments: demo.amounts.environments - 1 };
  const environments = await fillEnvironments({ ...demo, amounts }, spaceIds);
  const pipeline: Demo = { ...demo, api: demo.api.as(robots.pipelineKey) };
  await reportRuns(pipeline, recent);
  await reportMeasurements(pipeline, recent);
  await overrideTests(demo, recent);
  await decideReleases(pipeline, await reportReleases(pipeline, recent));
  await tagRepos(demo);
  const actions = await createActions(demo, environments);
  const hook = await deliverAnalyses(demo, recent);
  const candidates = candidatesOf(demo.seed, latest, recent);
  const runtime = await fillRuntime(demo, candidates, robots.reporterKey);
  await fallSilent(demo);
  const openOrg = await createOpenSource(demo);
  return { robots, actions, hook, runtime, openOrg };
}
