import { type Candidates, makeRollout } from "../model/rollout.ts";
import { images, rounds, shown } from "../model/sites.ts";
import type { Demo } from "../plan.ts";
import { createPolicies } from "./policies.ts";
import { reportSites } from "./reports.ts";

/** What the reader needs to look at what runs. */
export interface Runtime {
  prod: string;
  staging: string;
  /** Something that runs in staging and may want to go to production. */
  next: string;
}

/**
 * Has the sites report what runs there, and brings the policies into force in the middle of it.
 * @param reporterKey key of the sites' reporters.
 */
export async function fillRuntime(demo: Demo, candidates: Candidates, reporterKey: string): Promise<Runtime> {
  const reporter: Demo = { ...demo, api: demo.api.as(reporterKey) };
  const rollout = makeRollout(demo.seed, candidates);
  await reportSites(reporter, "Reports of what runs", rollout.slice(0, rounds.beforePolicies));
  await createPolicies(demo);
  await reportSites(reporter, "Reports under policies", rollout.slice(rounds.beforePolicies));
  const staging = rollout.at(-1)?.find(({ site }) => site.name === shown.staging);
  const build = staging?.running.findLast(({ built }) => built > 0);
  return { ...shown, next: build?.fingerprint ?? images.cache.fingerprint };
}
