import { describe, expect, it } from "vitest";

import { fingerprintOf } from "../support/artifacts.ts";
import { policyText, samplePolicy } from "../support/policies.ts";
import { startServer, withUsedDataDir } from "../support/server-process.ts";
import { ask, form, type Json, type Site, startSite, until } from "../support/site.ts";

const environments = Array.from({ length: 20 }, (_, index) => `env-${index}`);

async function putPolicy(site: Site, text: string): Promise<void> {
  const body = form({ payload: { name: "known" } }, { policy_file: text });
  await ask(site, "PUT", `/policies/${site.org}`, body);
}

/** Servers that run what nobody knows, and the policy that asks for more. */
async function prepare(site: Site): Promise<void> {
  await putPolicy(site, samplePolicy);
  const artifacts = [{ digests: { web: fingerprintOf("web") }, creationTimestamp: 1_780_000_000 }];
  for (const name of environments) {
    const path = `/environments/${site.org}`;
    await ask(site, "PUT", path, { name, type: "server", description: "" });
    await ask(site, "POST", `${path}/${name}/policies`, { policy_names: ["known"] });
    await ask(site, "PUT", `${path}/${name}/report/server`, { artifacts });
  }
}

async function states(site: Site): Promise<(boolean | null)[]> {
  const list: Json[] = await ask(site, "GET", `/environments/${site.org}`);
  return list.map(({ state }: Json) => state);
}

describe("kill -9 between a policy's new version and its effects", () => {
  it("leaves no environment with the old verdict", { timeout: 120_000 }, async () => {
    await withUsedDataDir(async (dataDir) => {
      const site = await startSite(dataDir);
      await prepare(site);
      expect(new Set(await states(site))).toEqual(new Set([false]));
      for (const [text, expected] of [
        [policyText("attestations: []"), true],
        [samplePolicy, false],
      ] as const) {
        await putPolicy(site, text);
        await site.server.kill();
        site.server = await startServer(dataDir);
        await until(async () => (await states(site)).every((state) => state === expected));
        for (const name of environments) {
          const { versions } = await ask(site, "GET", `/policies/${site.org}/known`);
          const snapshot = await ask(site, "GET", `/snapshots/${site.org}/${name}/-1`);
          expect(snapshot.applied_policies[0].version).toBe(versions.at(-1).version);
          expect(snapshot.index).toBe(versions.length);
        }
      }
      expect(await site.server.stop()).toBe(0);
    });
  });
});
