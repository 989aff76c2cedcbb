import { createApi } from "../../demo/api.ts";
import { sizes } from "../../demo/data/sizes.ts";
import { fill } from "../../demo/fill.ts";
import { makePeople } from "../../demo/model/people.ts";
import { createProgress } from "../../demo/progress.ts";
import { createOrganization } from "../../demo/steps/organization.ts";
import type { Server } from "../processes.ts";

/** The organization that is made a multiple of. */
export const scaleOrg = "harborlight";

/**
 * Reports builds of the demo's company through the API, as pipelines do, with all that belongs to them.
 * @param builds how many of them.
 */
export async function reportSeed(server: Server, builds: number): Promise<void> {
  const api = createApi(server.url, server.key);
  const seed = "harborlight";
  const org = await createOrganization(api, scaleOrg);
  const now = Date.now() / 1000;
  await fill({
    api,
    org: org.name,
    seed,
    amounts: { ...sizes.medium, builds, recentBuilds: builds },
    people: makePeople(seed, sizes.medium.people),
    progress: createProgress(false),
    now,
    // Past the API there would be builds without attestations.
    beside: undefined,
  });
}
