import { describe, expect, it } from "vitest";

import { commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { sampleTemplate } from "../support/flows.ts";
import { samplePolicy } from "../support/policies.ts";
import { startServer, withUsedDataDir } from "../support/server-process.ts";
import { ask, form, type Json, type Site, startSite } from "../support/site.ts";

const cli = fingerprintOf("cli");
const redis = fingerprintOf("redis");
const repo = "acme/cli";

/** What a reporter of each kind says of an instance beside its digests. */
const kinds: Record<string, Record<string, unknown>> = {
  K8S: { podName: "cli-1", namespace: "shop" },
  ECS: { taskArn: "arn:1", service_name: "cli" },
  S3: {},
  lambda: {},
  server: {},
  docker: {},
  "azure-apps": { app_name: "shop", app_kind: "functionapp", digests_source: "acr" },
  "cloud-run": { kind: "service", serviceName: "cli", revisionName: "cli-1" },
};

/** What a pipeline reports: a flow with its template, a trail, an artifact, and all that the template asks for. */
async function build(site: Site): Promise<void> {
  const { org } = site;
  await ask(
    site,
    "PUT",
    `/flows/${org}/template_file`,
    form({ data_json: { name: "cli-ci", description: "" } }, { template_file: sampleTemplate }),
  );
  await ask(site, "PUT", `/trails/${org}/cli-ci`, form({ data_json: { name: "run" } }));
  await ask(site, "POST", `/artifacts/${org}/cli-ci`, {
    fingerprint: cli,
    filename: "cli:1",
    build_url: "https://ci.example.com/7",
    commit_url: "https://git.example.com/c/1",
    git_commit: commitOf("1"),
    repo_info: repoInfo(repo),
    trail_name: "run",
    template_reference_name: "cli",
  });
  const attest = (kind: string, data_json: unknown, files: Record<string, string> = {}) =>
    ask(site, "POST", `/attestations/${org}/cli-ci/trail/run/${kind}`, form({ data_json }, files));
  const user_data = {};
  await attest("junit", { attestation_name: "bar", junit_results: [], user_data });
  const foo = { attestation_name: "foo", is_compliant: true, artifact_fingerprint: cli, user_data };
  await attest("generic", foo, { attachment_file: "all is well" });
}

/** Says that these run in the environment of a kind. */
async function report(site: Site, kind: string, running: Record<string, string>): Promise<void> {
  const artifacts = Object.entries(running).map(([name, fingerprint]) => ({
    ...kinds[kind],
    digests: { [name]: fingerprint },
    creationTimestamp: 1_780_000_000,
  }));
  await ask(site, "PUT", `/environments/${site.org}/${kind}-env/report/${kind}`, { artifacts });
}

async function createEnvironment(site: Site, kind: string): Promise<void> {
  const { org } = site;
  await ask(site, "PUT", `/environments/${org}`, { name: `${kind}-env`, type: kind, description: "" });
  await ask(site, "POST", `/environments/${org}/${kind}-env/policies`, { policy_names: ["known"] });
}

function snapshotOf(site: Site, kind: string, expression = "-1"): Promise<Json> {
  return ask(site, "GET", `/snapshots/${site.org}/${kind}-env/${expression}`);
}

/** `index, verdict, artifacts` of the latest snapshot. */
async function stateOf(site: Site, kind: string): Promise<unknown> {
  const { index, compliant, artifacts } = await snapshotOf(site, kind);
  return [index, compliant, artifacts.map(({ name }: Json) => name).toSorted()];
}

describe("from the pipeline to what runs", () => {
  it("is told whole, with a kill -9 in the middle", { timeout: 120_000 }, async () => {
    await withUsedDataDir(async (dataDir) => {
      const site = await startSite(dataDir);
      const { org } = site;
      await build(site);
      await ask(
        site,
        "PUT",
        `/policies/${org}`,
        form({ payload: { name: "known" } }, { policy_file: samplePolicy }),
      );
      const [early, late] = [Object.keys(kinds).slice(0, 4), Object.keys(kinds).slice(4)];
      for (const kind of early) {
        await createEnvironment(site, kind);
        await report(site, kind, { "cli:1": cli });
      }
      await report(site, "K8S", { "cli:1": cli, "redis:7": redis });

      await site.server.kill();
      site.server = await startServer(dataDir);
      expect(await stateOf(site, "K8S")).toEqual([2, false, ["cli:1", "redis:7"]]);
      for (const kind of early.slice(1)) expect(await stateOf(site, kind)).toEqual([1, true, ["cli:1"]]);
      expect(await ask(site, "GET", `/trails/${org}/cli-ci/run`)).toMatchObject({
        compliance_status: { status: "COMPLIANT" },
      });

      for (const kind of late) {
        await createEnvironment(site, kind);
        await report(site, kind, { "cli:1": cli });
        expect(await stateOf(site, kind)).toEqual([1, true, ["cli:1"]]);
      }
      const entry = { artifact_name: "redis:7", artifact_fingerprint: redis, description: "we trust it" };
      await ask(site, "PUT", `/allowlists/${org}/K8S-env`, entry);
      expect(await stateOf(site, "K8S")).toEqual([3, true, ["cli:1", "redis:7"]]);

      await site.server.kill();
      site.server = await startServer(dataDir);
      await expectWhole(site);
      expect(await site.server.stop()).toBe(0);
    });
  });
});

/** What readers are told at the end. */
async function expectWhole(site: Site): Promise<void> {
  const { org } = site;
  expect(await stateOf(site, "K8S")).toEqual([3, true, ["cli:1", "redis:7"]]);
  const first = await snapshotOf(site, "K8S", "1");
  expect(first.artifacts).toMatchObject([{ name: "cli:1", fingerprint: cli }]);

  const between = new URLSearchParams({ snappish1: "K8S-env#1", snappish2: "K8S-env#2" });
  const diff = await ask(site, "GET", `/env-diff/${org}?${between.toString()}`);
  expect(diff.snappish1.artifacts).toEqual([]);
  expect(diff.snappish2.artifacts).toMatchObject([{ fingerprint: redis }]);

  const asserted = (fingerprint: string) =>
    ask(site, "GET", `/asserts/${org}/fingerprint/${fingerprint}?environment_name=K8S-env`);
  expect(await asserted(cli)).toMatchObject({ compliant: true, allow_listing: null });
  expect(await asserted(redis)).toMatchObject({
    compliant: true,
    allow_listing: { description: "we trust it" },
  });

  const { deployments } = await ask(site, "GET", `/deployments/${org}?per_page=50`);
  const places = Object.keys(kinds).map((kind) => `${kind}-env`);
  expect(deployments.map((each: Json) => each.environment_name).toSorted()).toEqual(places.toSorted());
  const live = await ask(site, "GET", `/repos/${org}/live-artifacts/${repo}`);
  expect(live.live_artifacts).toHaveLength(places.length);
  for (const each of live.live_artifacts)
    expect(each).toMatchObject({ artifact_name: "cli:1", compliance: "COMPLIANT" });
}
