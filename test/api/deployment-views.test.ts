import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { build, list, orgWith, read, repoId, run } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const base = "http://waybill.test/api/v2";
const day = 86_400;

describe("GET /environments/{org}/{env_name}/deployments", () => {
  it("pages, newest first, by the names of its own parameters", async () => {
    const org = await orgWith(app, "prod", "test");
    for (const name of ["a", "b", "c"]) await build(org, name, "web");
    for (const name of ["a", "b", "c"]) await run(org, "prod", [name]);
    await run(org, "test", ["a"]);
    const path = `/environments/${org.name}/prod/deployments`;
    expect(await read(org, path)).toMatchObject({ page: 1, page_size: 50, total_pages: 1, total_count: 3 });
    expect(await list(org, path)).toEqual(["c>prod", "b>prod", "a>prod"]);
    const second = await read(org, `${path}?page_size=2&page=2`);
    expect(second).toMatchObject({
      page: 2,
      page_size: 2,
      total_pages: 2,
      deployments: [{ artifact_name: "a" }],
    });
    expect(second._links.prev).toEqual({ href: `${base}${path}?page_size=2&page=1` });
    const nope = await org.reader.get(`/environments/${org.name}/nope/deployments`);
    expect([nope.status, nope.json.message]).toEqual([
      404,
      `Environment named 'nope' does not exist for organization '${org.name}'`,
    ]);
  });

  it("looks at 30 days, or at days and moments in ISO 8601", async () => {
    const org = await orgWith(app, "prod");
    for (const name of ["old", "mid", "new"]) await build(org, name, "web");
    const times: number[] = [];
    for (const name of ["old", "mid", "new"]) {
      await run(org, "prod", [name]);
      times.push(app.clock.now());
      app.clock.advance(name === "new" ? 0 : 29 * day);
    }
    const path = `/environments/${org.name}/prod/deployments`;
    const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();
    expect(await list(org, path)).toEqual(["new>prod", "mid>prod"]);
    expect(await list(org, `${path}?from=1970-01-01`)).toEqual(["new>prod", "mid>prod", "old>prod"]);
    expect(await list(org, `${path}?to=${iso(times[1]! + 10)}`)).toEqual(["mid>prod", "old>prod"]);
    const [from, to] = [iso(times[1]! - 60), iso(times[1]! + 60)];
    expect(await list(org, `${path}?from=${from}&to=${to}`)).toEqual(["mid>prod"]);
    expect(await list(org, `${path}?from=${from.slice(0, 19)}%2B00:00&to=${to.slice(0, 19)}+00:00`)).toEqual([
      "mid>prod",
    ]);
    expect(await list(org, `${path}?to=${iso(times[0]!).slice(0, 10)}`)).toEqual([]);
  });
});

describe("GET /environments/{org}/{env_name}/deployment_frequency", () => {
  it("has one moment for each deployment of the flow, oldest first, and the window", async () => {
    const org = await orgWith(app, "prod", "test");
    for (const name of ["a", "b"]) await build(org, name, "web");
    const body = artifactBody({ fingerprint: fingerprintOf("c"), repo_info: repoInfo("api") });
    expect((await org.member.post(`/artifacts/${org.name}/other`, body)).status).toBe(201);
    await run(org, "test", ["a"]);
    for (const name of ["a", "b", "c"]) await run(org, "prod", [name]);
    const path = `/environments/${org.name}/prod/deployment_frequency`;
    const { deployments } = await read(org, `/environments/${org.name}/prod/deployments`);
    const times = deployments.map((each: { deployed_at: number }) => each.deployed_at).toReversed();
    const flowId = (await read(org, `/flows/${org.name}/ci`)).id;
    const found = await read(org, `${path}?flow_id=${flowId}`);
    expect(found).toEqual({
      environment_name: "prod",
      flow_id: flowId,
      start_ts: expect.any(Number),
      end_ts: expect.any(Number),
      total_count: 2,
      deployment_timestamps: times.slice(0, 2),
      _links: { self: { href: `${base}${path}?flow_id=${flowId}` } },
    });
    expect(found.end_ts - found.start_ts).toBeCloseTo(28 * day, 3);
    for (const query of ["", "?flow_id="])
      expect(await read(org, `${path}${query}`)).toMatchObject({
        flow_id: null,
        deployment_timestamps: times,
      });
    expect(await read(org, `${path}?start_ts=${times[1]}&end_ts=${times[1]}`)).toMatchObject({
      start_ts: times[1],
      end_ts: times[1],
      deployment_timestamps: [times[1]],
    });
    for (const id of ["nope", flowId.replace(/^./, "f")])
      expect(await read(org, `${path}?flow_id=${id}`)).toMatchObject({
        total_count: 0,
        deployment_timestamps: [],
      });
    expect((await org.reader.get(`/environments/${org.name}/nope/deployment_frequency`)).status).toBe(404);
  });
});

describe("GET /repos/{org}/{repo}/deployments", () => {
  it("lists one repo's, in any of the environments asked for", async () => {
    const org = await orgWith(app, "prod", "test", "dev");
    await createEnvironment(org, "live", { type: "logical", included_environments: ["prod", "test"] });
    await build(org, "web", "acme/web");
    await build(org, "api", "api");
    for (const environment of ["dev", "test", "prod"]) await run(org, environment, ["web", "api"]);
    const path = `/repos/${org.name}/${await repoId(org, "acme/web")}/deployments`;
    const all = ["web>prod", "web>test", "web>dev"];
    for (const [query, expected] of Object.entries({
      "": all,
      "env=": all,
      "env=prod": ["web>prod"],
      "env=prod&env=dev": ["web>prod", "web>dev"],
      "env=live&env=prod": ["web>prod", "web>test"],
      "env=nope": [],
      "env=nope&env=dev": ["web>dev"],
      "per_page=2&page=2": ["web>dev"],
    }))
      expect([query, await list(org, `${path}?${query}`)]).toEqual([query, expected]);
    expect(await read(org, `${path}?per_page=0&env=live`)).toMatchObject({ total_count: 2, deployments: [] });
    const { deployments } = await read(org, path);
    expect(await list(org, `${path}?end_ts=${deployments[1].deployed_at}`)).toEqual(["web>test", "web>dev"]);
  });

  it("is not there for an unknown repo, nor for a name", async () => {
    const org = await orgWith(app, "prod");
    await build(org, "web", "web");
    await build(org, "slashed", "web/deployments/x");
    const foreign = await app.org();
    for (const [client, name, id] of [
      [org, org.name, "web"],
      [org, org.name, "01234567-0123-0123-0123-01234567"],
      [foreign, foreign.name, await repoId(org, "web")],
    ] as const)
      for (const what of ["deployments", "deployment-statistics"]) {
        const answer = await client.reader.get(`/repos/${name}/${id}/${what}`);
        expect([answer.status, answer.json]).toEqual([404, { message: `Repo '${id}' not found` }]);
      }
    expect((await read(org, `/repos/${org.name}/web/deployments/x`)).name).toBe("web/deployments/x");
  });
});

describe("GET /repos/{org}/{repo}/deployment-statistics", () => {
  it("has the series of each physical environment the repo reached in the window", async () => {
    const org = await orgWith(app, "prod", "test", "idle");
    await createEnvironment(org, "live", { type: "logical", included_environments: ["prod"] });
    for (const name of ["a", "b"]) await build(org, name, "web");
    await build(org, "x", "other");
    await run(org, "idle", ["x"]);
    await run(org, "test", ["a"]);
    app.clock.advance(3600);
    await run(org, "prod", ["a"]);
    app.clock.advance(3600);
    await run(org, "prod", ["b"]);
    const path = `/repos/${org.name}/${await repoId(org, "web")}/deployment-statistics`;
    const found = await read(org, path);
    const { deployments } = await read(org, `/deployments/${org.name}?repo_name=web`);
    const [b, a, test] = deployments;
    const series = (
      environment_name: string,
      each: { deployed_at: number; lead_time_seconds: number }[],
    ) => ({
      environment_name,
      environment_type: "server",
      total_count: each.length,
      deployed_at: each.map((deployment) => deployment.deployed_at),
      lead_time_seconds: each.map((deployment) => deployment.lead_time_seconds),
    });
    expect(found).toEqual({
      start_ts: expect.any(Number),
      end_ts: expect.any(Number),
      environments: [series("prod", [a, b]), series("test", [test])],
      _links: { self: { href: `${base}${path}` } },
    });
    expect(b.lead_time_seconds).toBeGreaterThanOrEqual(7200);
    expect(found.end_ts - found.start_ts).toBeCloseTo(28 * day, 3);
    const environments = async (query: string) => (await read(org, `${path}?${query}`)).environments;
    expect(await environments("env=test")).toEqual([series("test", [test])]);
    expect(await environments("env=live&env=test&env=nope")).toEqual([
      series("prod", [a, b]),
      series("test", [test]),
    ]);
    expect(await environments("env=idle")).toEqual([]);
    expect(await environments(`start_ts=${b.deployed_at}`)).toEqual([series("prod", [b])]);
    expect(await environments("end_ts=1")).toEqual([]);
  });
});
