import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { build, list, orgWith, read, repoId, run } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const base = "http://waybill.test/api/v2";
const day = 86_400;

describe("GET /deployments/{org}", () => {
  it("is empty before the first deployment", async () => {
    const org = await app.org();
    const url = `${base}/deployments/${org.name}`;
    expect(await read(org, `/deployments/${org.name}`)).toEqual({
      page: 1,
      per_page: 15,
      total_pages: 0,
      total_count: 0,
      deployments: [],
      _links: { self: { href: url }, first: { href: `${url}?page=1` }, last: { href: `${url}?page=1` } },
    });
  });

  it("shows everything a deployment has", async () => {
    const org = await orgWith(app, "prod");
    const commit = (name: string): Record<string, unknown> => ({
      template_reference_name: "web",
      git_commit: commitOf(name),
      commit_url: `https://github.com/acme/web/commit/${commitOf(name)}`,
      git_commit_info: {
        sha1: commitOf(name),
        message: name,
        author: "Ann <a@x.io>",
        timestamp: 1_786_000_000,
      },
    });
    await build(org, "web1", "acme/web", commit("1"));
    await build(org, "web2", "acme/web", commit("2"));
    await run(org, "prod", ["web1"]);
    app.clock.advance(7200);
    await run(org, "prod", ["web2"]);
    const { deployments } = await read(org, `/deployments/${org.name}`);
    const second = {
      deployed_at: expect.any(Number),
      environment_name: "prod",
      environment_type: "server",
      snapshot_index: 2,
      artifact_name: "web2",
      fingerprint: fingerprintOf("web2"),
      compliant: null,
      flow_name: "ci",
      trail_name: "web2",
      template_reference_name: "web",
      repo_info: { name: "acme/web", repo_id: "id-of-acme/web", provider: "gitlab" },
      git_commit: commitOf("2"),
      commit_url: `https://github.com/acme/web/commit/${commitOf("2")}`,
      git_commit_info: {
        sha1: commitOf("2"),
        message: "2",
        author: "Ann <a@x.io>",
        timestamp: 1_786_000_000,
        branch: null,
        url: null,
      },
      lead_time_seconds: expect.any(Number),
      replaced_artifact: {
        artifact_name: "web1",
        fingerprint: fingerprintOf("web1"),
        trail_name: "web1",
        git_commit: commitOf("1"),
        commit_url: `https://github.com/acme/web/commit/${commitOf("1")}`,
        diff_url: `https://github.com/acme/web/compare/${commitOf("1")}...${commitOf("2")}`,
        still_running: false,
      },
      _links: {
        self: { href: `${base}/deployments/${org.name}/prod/${fingerprintOf("web2")}` },
        artifact: { href: `${base}/artifacts/${org.name}/ci/fingerprint/${fingerprintOf("web2")}` },
        snapshot: { href: `${base}/snapshots/${org.name}/prod/2` },
      },
    };
    expect(deployments).toEqual([
      second,
      expect.objectContaining({ artifact_name: "web1", snapshot_index: 1, replaced_artifact: null }),
    ]);
    const [late, early] = deployments;
    expect(late.lead_time_seconds).toBeGreaterThanOrEqual(7200);
    expect(late.lead_time_seconds).toBeLessThan(7260);
    expect(early.lead_time_seconds).toBeLessThan(60);
    expect(late.deployed_at - early.deployed_at).toBeGreaterThanOrEqual(7200);
    expect(Math.abs(late.deployed_at - app.clock.now())).toBeLessThan(30);
    const builds = (await read(org, `/builds/${org.name}`)).builds;
    expect(late.lead_time_seconds).toBeCloseTo(late.deployed_at - builds[0].created_at, 5);
  });

  it("has what starts with a known repo in a physical environment, each time it starts", async () => {
    const org = await orgWith(app, "prod");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    await build(org, "web", "web");
    await build(org, "bare");
    await run(org, "prod", ["web", "bare", "unknown"]);
    await run(org, "prod", ["bare"]);
    await build(org, "bare", "web");
    await run(org, "prod", ["bare", "web"]);
    await run(org, "prod", ["bare", "web"]);
    const found = await read(org, `/deployments/${org.name}`);
    expect(found.deployments.map((each: { snapshot_index: number }) => each.snapshot_index)).toEqual([3, 1]);
    expect(found.total_count).toBe(2);
    expect(await list(org, `/deployments/${org.name}`)).toEqual(["web>prod", "web>prod"]);
    expect((await read(org, `/snapshots/${org.name}/all`)).length).toBeGreaterThan(1);
  });

  it("is that of the repo that the first flow with one says", async () => {
    const org = await orgWith(app, "prod");
    await build(org, "web");
    for (const [flow, repo] of [
      ["second", "web"],
      ["promote", "releases"],
    ] as const) {
      const body = artifactBody({ fingerprint: fingerprintOf("web"), repo_info: repoInfo(repo) });
      expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
    }
    await run(org, "prod", ["web"]);
    const { deployments } = await read(org, `/deployments/${org.name}?repo_name=web`);
    expect(deployments).toMatchObject([{ flow_name: "second", repo_info: { name: "web" } }]);
    expect(await list(org, `/deployments/${org.name}?repo_name=releases`)).toEqual([]);
    expect(await list(org, `/repos/${org.name}/${await repoId(org, "releases")}/deployments`)).toEqual([]);
  });

  it("filters by repo and environment, which must both fit; a logical one stands for its members", async () => {
    const org = await orgWith(app, "prod", "test", "dev");
    await createEnvironment(org, "live", { type: "logical", included_environments: ["prod", "test"] });
    await build(org, "web", "web");
    await build(org, "fork", "web", { repo_info: repoInfo("web", { id: "2", provider: "github" }) });
    await build(org, "api", "api");
    for (const environment of ["dev", "test", "prod"]) await run(org, environment, ["web"]);
    await run(org, "prod", ["web", "api"]);
    await run(org, "test", ["web", "fork"]);
    const all = ["fork>test", "api>prod", "web>prod", "web>test", "web>dev"];
    for (const [query, expected] of Object.entries({
      "": all,
      "repo_name=&env_name=": all,
      "repo_name=web": ["fork>test", "web>prod", "web>test", "web>dev"],
      "repo_name=web&per_page=2&page=2": ["web>test", "web>dev"],
      "repo_name=api": ["api>prod"],
      "repo_name=nope": [],
      "env_name=prod": ["api>prod", "web>prod"],
      "env_name=live": ["fork>test", "api>prod", "web>prod", "web>test"],
      "env_name=live&per_page=2&page=2": ["web>prod", "web>test"],
      "env_name=nope": [],
      "env_name=prod&repo_name=api": ["api>prod"],
      "env_name=test&repo_name=api": [],
      "env_name=nope&repo_name=api": [],
      "env_name=live&repo_name=web": ["fork>test", "web>prod", "web>test"],
    }))
      expect([query, await list(org, `/deployments/${org.name}?${query}`)]).toEqual([query, expected]);
    expect(await read(org, `/deployments/${org.name}?env_name=live&per_page=1`)).toMatchObject({
      total_count: 4,
      total_pages: 4,
    });
    expect(await read(org, `/deployments/${org.name}?repo_name=web&env_name=nope`)).toMatchObject({
      total_count: 0,
    });
  });

  it("pages and counts, links pages with their query, and counts only without a size", async () => {
    const org = await orgWith(app, "prod");
    const names = Array.from({ length: 17 }, (_, index) => `w${index + 1}`);
    await Promise.all(names.map((name) => build(org, name, "web")));
    // All in one snapshot: the order is total all the same.
    await run(org, "prod", names);
    const all = await list(org, `/deployments/${org.name}?per_page=50`);
    expect(all).toHaveLength(17);
    const pages = [];
    for (const page of [1, 2, 3, 4])
      pages.push(...(await list(org, `/deployments/${org.name}?per_page=5&page=${page}`)));
    expect(pages).toEqual(all);
    const second = await read(org, `/deployments/${org.name}?per_page=5&page=2`);
    expect(second).toMatchObject({ page: 2, per_page: 5, total_pages: 4, total_count: 17 });
    const url = `${base}/deployments/${org.name}?per_page=5`;
    expect(second._links).toEqual({
      self: { href: `${url}&page=2` },
      first: { href: `${url}&page=1` },
      last: { href: `${url}&page=4` },
      prev: { href: `${url}&page=1` },
      next: { href: `${url}&page=3` },
    });
    expect(await read(org, `/deployments/${org.name}?per_page=0`)).toMatchObject({
      total_pages: 0,
      total_count: 17,
      deployments: [],
    });
    expect(await read(org, `/deployments/${org.name}?page=1000000`)).toMatchObject({
      total_count: 17,
      deployments: [],
    });
  });

  it("looks at a window that includes both ends, 28 days unless said otherwise", async () => {
    const org = await orgWith(app, "prod");
    for (const name of ["old", "mid", "new"]) await build(org, name, "web");
    await run(org, "prod", ["old"]);
    app.clock.advance(20 * day);
    await run(org, "prod", ["mid"]);
    app.clock.advance(20 * day);
    await run(org, "prod", ["new"]);
    expect(await list(org, `/deployments/${org.name}`)).toEqual(["new>prod", "mid>prod"]);
    const { deployments } = await read(org, `/deployments/${org.name}?start_ts=0`);
    const [, mid, old] = deployments.map((each: { deployed_at: number }) => each.deployed_at);
    const within = (query: string) => list(org, `/deployments/${org.name}?${query}`);
    expect(await within(`start_ts=${old}&end_ts=${mid}`)).toEqual(["mid>prod", "old>prod"]);
    expect(await within(`start_ts=${mid}&end_ts=${mid}`)).toEqual(["mid>prod"]);
    expect(await within(`end_ts=${mid}`)).toEqual(["mid>prod", "old>prod"]);
    expect(await within(`end_ts=${old}`)).toEqual(["old>prod"]);
    expect(await read(org, `/deployments/${org.name}?start_ts=${mid}&per_page=1`)).toMatchObject({
      total_count: 2,
    });
  });

  it("shows the present names of what was renamed or archived, and finds it by them", async () => {
    const org = await orgWith(app, "prod", "gone");
    await build(org, "web", "old", { repo_info: repoInfo("old", { id: "7" }) });
    await run(org, "gone", ["web"]);
    await run(org, "prod", ["web"]);
    await build(org, "next", "new", { repo_info: repoInfo("new", { id: "7" }) });
    expect((await org.member.put(`/environments/${org.name}/prod/rename`, { new_name: "live" })).status).toBe(
      200,
    );
    expect((await org.member.put(`/flows/${org.name}/ci/rename`, { new_name: "shop" })).status).toBe(200);
    expect((await org.member.put(`/environments/${org.name}/gone/archive`)).status).toBe(200);
    const { deployments } = await read(org, `/deployments/${org.name}?repo_name=new`);
    expect(deployments).toMatchObject([
      { environment_name: "live", flow_name: "shop", repo_info: { name: "new" } },
      { environment_name: expect.stringMatching(/^gone-archived-at-/), flow_name: "shop" },
    ]);
    const archived = deployments[1].environment_name;
    expect(await list(org, `/deployments/${org.name}?env_name=prod`)).toEqual(["web>live"]);
    expect(await list(org, `/deployments/${org.name}?env_name=${archived}`)).toEqual([`web>${archived}`]);
    expect(await list(org, `/deployments/${org.name}?env_name=gone`)).toEqual([]);
    expect(await list(org, `/environments/${org.name}/prod/deployments`)).toEqual(["web>live"]);
    const gone = await org.reader.get(`/environments/${org.name}/gone/deployments`);
    expect([gone.status, gone.json.message]).toEqual([
      404,
      `Environment named 'gone' has been archived for organization '${org.name}'`,
    ]);
  });

  it.each([
    ["deployments/{org}?page=0", "page", "Input should be greater than or equal to 1 [input: 0]"],
    ["deployments/{org}?per_page=51", "per_page", "Input should be less than or equal to 50 [input: 51]"],
    ["deployments/{org}?per_page=-1", "per_page", "Input should be greater than or equal to 0 [input: -1]"],
    [
      "deployments/{org}?start_ts=2&end_ts=1",
      "start_ts",
      "Input should be less than or equal to end_ts [input: 2]",
    ],
    [
      "deployments/{org}?end_ts=now",
      "end_ts",
      "Input should be a valid number, unable to parse string as a number [input: now]",
    ],
    [
      "deployments/{org}?repo_name=%00",
      "repo_name",
      "Text must not contain NUL or unpaired surrogates [input: \0]",
    ],
    [
      "environments/{org}/prod/deployments?page_size=0",
      "page_size",
      "Input should be greater than or equal to 1 [input: 0]",
    ],
    [
      "environments/{org}/prod/deployments?page_size=101",
      "page_size",
      "Input should be less than or equal to 100 [input: 101]",
    ],
    [
      "environments/{org}/prod/deployments?from=2026-02-30",
      "from",
      "Input should be a valid datetime, unable to parse string as a datetime [input: 2026-02-30]",
    ],
    [
      "environments/{org}/prod/deployments?from=2026-02-02&to=2026-02-01",
      "from",
      "Input should be less than or equal to to [input: 1769990400]",
    ],
    [
      "environments/{org}/prod/deployment_frequency?start_ts=2&end_ts=1",
      "start_ts",
      "Input should be less than or equal to end_ts [input: 2]",
    ],
    [
      "repos/{org}/x/deployments?per_page=51",
      "per_page",
      "Input should be less than or equal to 50 [input: 51]",
    ],
    [
      "repos/{org}/x/deployment-statistics?start_ts=2&end_ts=1",
      "start_ts",
      "Input should be less than or equal to end_ts [input: 2]",
    ],
  ])("refuses %s", async (path, parameter, reason) => {
    const org = await app.org();
    const answer = await org.reader.get(`/${path.replace("{org}", org.name)}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      message: "Input payload validation failed",
      errors: { [`query.${parameter}`]: reason },
    });
  });

  it("may be read by every role, and by anybody when the organization is public", async () => {
    const org = await orgWith(app, "prod");
    await build(org, "web", "web");
    await run(org, "prod", ["web"]);
    for (const client of [org.admin, org.member, org.snapshotter, org.reader])
      expect((await client.get(`/deployments/${org.name}`)).json.total_count).toBe(1);
    expect((await app.anonymous.get(`/deployments/${org.name}`)).status).toBe(401);
    const foreign = await (await app.user()).client.get(`/deployments/${org.name}`);
    expect(foreign.json).toEqual({ message: `Access denied to /api/v2/deployments/${org.name}` });
    const open = await app.org({ public: true });
    expect((await app.anonymous.get(`/deployments/${open.name}`)).json.total_count).toBe(0);
  });
});

describe("GET /deployments/{org}/{env_name}/{fingerprint}", () => {
  it("is the latest deployment of the artifact there", async () => {
    const org = await orgWith(app, "prod", "test");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod", "test"] });
    await build(org, "web", "web");
    await run(org, "prod", ["web"]);
    await run(org, "prod", ["other"]);
    await run(org, "prod", ["web"]);
    await run(org, "test", ["web"]);
    const path = (environment: string) => `/deployments/${org.name}/${environment}/${fingerprintOf("web")}`;
    const { deployments } = await read(org, `/deployments/${org.name}`);
    expect(await read(org, path("prod"))).toEqual(deployments[1]);
    expect(deployments[1].snapshot_index).toBe(3);
    expect(await read(org, path("all"))).toEqual(deployments[0]);
  });

  it("is not there for others", async () => {
    const org = await orgWith(app, "prod", "test");
    await build(org, "web", "web");
    await run(org, "prod", ["web", "unknown"]);
    for (const [environment, fingerprint] of [
      ["test", fingerprintOf("web")],
      ["prod", fingerprintOf("unknown")],
      ["prod", "x"],
    ] as const) {
      const answer = await org.reader.get(`/deployments/${org.name}/${environment}/${fingerprint}`);
      expect([answer.status, answer.json]).toEqual([
        404,
        {
          message: `Deployment of artifact '${fingerprint}' to environment '${environment}' does not exist for organization '${org.name}'`,
        },
      ]);
    }
    const answer = await org.reader.get(`/deployments/${org.name}/nope/${fingerprintOf("web")}`);
    expect([answer.status, answer.json.message]).toEqual([
      404,
      `Environment named 'nope' does not exist for organization '${org.name}'`,
    ]);
  });
});
