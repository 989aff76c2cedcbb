import { environmentEndpoints } from "../../src/contract/environments.ts";
import { tagEndpoints } from "../../src/contract/tags.ts";
import { eachInParallel } from "../../src/lib/parallel.ts";
import { type Environment, makeEnvironments, makeFormerEnvironments } from "../model/environments.ts";
import { makeSiteEnvironments } from "../model/sites.ts";
import { concurrency, type Demo } from "../plan.ts";
import type { SpaceIds } from "./spaces.ts";

async function createEnvironment(demo: Demo, environment: Environment, spaceIds: SpaceIds): Promise<void> {
  const { api, org } = demo;
  const { name, type, description, tags, space, members, fate } = environment;
  const params = { org, env_name: name };
  await api.call(environmentEndpoints.create_env, {
    params: { org },
    body: { name, type, description, ...(type === "logical" ? { included_environments: members } : {}) },
  });
  await api.call(tagEndpoints.patch_tags, {
    params: { org, resource_type: "environment", resource_id: name },
    body: { set_tags: tags },
  });
  const space_id = space === null ? undefined : spaceIds.get(space);
  if (space_id !== undefined) await api.call(environmentEndpoints.update_env, { params, body: { space_id } });
  if (fate.kind === "archived") await api.call(environmentEndpoints.archive_env, { params });
  if (fate.kind === "renamed")
    await api.call(environmentEndpoints.rename_environment, { params, body: { new_name: fate.to } });
}

/** Plans the environments to make one by one. `count` includes the sites and the renamed one, but not archived ones. */
function plannedEnvironments(seed: string, count: number): { live: Environment[]; archived: Environment[] } {
  const { archived, renamed } = makeFormerEnvironments(seed);
  const live: Environment[] = [...makeSiteEnvironments(), renamed];
  for (const environment of makeEnvironments(seed)) {
    if (live.length >= count) break;
    live.push(environment);
  }
  return { live: live.slice(0, count), archived };
}

/** Creates environments one by one: physical ones first, then logical ones, which need their members. */
export function createEnvironments(demo: Demo, spaceIds: SpaceIds): Promise<Environment[]> {
  const { amounts, seed, progress } = demo;
  const count = Math.min(amounts.environments, amounts.singleEnvironments);
  const { live, archived } = plannedEnvironments(seed, count);
  const physical = [...archived, ...live.filter((environment) => environment.type !== "logical")];
  const logical = live.filter((environment) => environment.type === "logical");
  return progress.step("Environments", physical.length + logical.length, async (advance) => {
    for (const round of [physical, logical])
      await eachInParallel(round, concurrency, async (environment) => {
        await createEnvironment(demo, environment, spaceIds);
        advance();
      });
    return live;
  });
}
