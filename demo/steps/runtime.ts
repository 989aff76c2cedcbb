import { rounds, shown } from "../data/sites.ts";
import { type Candidates, makeRollout } from "../model/rollout.ts";
import { images } from "../model/sites.ts";
import type { Demo } from "../plan.ts";
import { createPolicies } from "./policies.ts";
import { reportSites } from "./reports.ts";

/** What the printed commands need to ask about what runs. */
export interface Runtime {
  prod: string;
  staging: string;
  /** Fingerprint of a build that runs in staging and may go to production. */
  next: string;
}

/**
 * Reports what runs at the sites, and creates the policies in the middle of that.
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
