import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { putTrail } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function report(org: TestOrg, name: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = artifactBody({ fingerprint: fingerprintOf(name), filename: name, trail_name: "t", ...more });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
}

async function builds(org: TestOrg, query = "") {
  const answer = await org.reader.get(`/builds/${org.name}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

async function names(org: TestOrg, query = ""): Promise<string[]> {
  return (await builds(org, query)).builds.map((build: { filename: string }) => build.filename);
}

describe("GET /builds/{org}", () => {
  it("is empty before the first build", async () => {
    const org = await app.org();
    const url = `http://waybill.test/api/v2/builds/${org.name}`;
    expect(await builds(org)).toEqual({
      page: 1,
      per_page: 15,
      total_pages: 0,
      total_count: 0,
      builds: [],
      has_builds_ever: false,
      _links: {
        self: { href: url },
        first: { href: `${url}?page=1` },
        last: { href: `${url}?page=1` },
      },
    });
  });

  it("shows everything a build has", async () => {
    const org = await app.org();
    const fingerprint = fingerprintOf("web");
    await report(org, "web", {
      git_commit: commitOf("1"),
      git_commit_info: {
        sha1: commitOf("1"),
        message: "fix",
        author: "Ann <a@x.io>",
        timestamp: 1_786_000_000,
        branch: "main",
        url: "https://git.example.com/c/1",
        parents: ["x"],
      },
      repo_info: repoInfo("acme/web"),
    });
    const { builds: list, has_builds_ever } = await builds(org);
    expect(has_builds_ever).toBe(true);
    expect(list).toEqual([
      {
        created_at: expect.any(Number),
        fingerprint,
        flow_name: "web-ci",
        trail_name: "t",
        repo_info: { name: "acme/web", repo_id: "id-of-acme/web", provider: "gitlab" },
        filename: "web",
        build_url: "https://ci.example.com/7",
        git_commit: commitOf("1"),
        git_commit_info: {
          sha1: commitOf("1"),
          message: "fix",
          author: "Ann <a@x.io>",
          timestamp: 1_786_000_000,
          branch: "main",
          url: "https://git.example.com/c/1",
        },
        _links: {
          self: {
            href: `http://waybill.test/api/v2/artifacts/${org.name}/web-ci/fingerprint/${fingerprint}`,
          },
        },
      },
    ]);
  });

  it("has null for what was not said, and text where the contract asks for text", async () => {
    const org = await app.org();
    await report(org, "bare", { build_url: "" });
    await report(org, "half", {
      git_commit_info: { sha1: "short" },
      repo_info: { name: "local", url: "file:///srv/git" },
    });
    const [half, bare] = (await builds(org)).builds;
    expect(bare).toMatchObject({ repo_info: null, git_commit: null, git_commit_info: null, build_url: "" });
    expect(half.repo_info).toEqual({ name: "local", repo_id: "", provider: null });
    expect(half.git_commit_info).toEqual({
      sha1: "short",
      message: null,
      author: null,
      branch: null,
      timestamp: null,
      url: null,
    });
  });

  it("counts a fingerprint once, whatever flow reports it again, newest first", async () => {
    const org = await app.org();
    for (const name of ["a", "b", "a", "c"]) await report(org, name);
    await org.member.post(
      `/artifacts/${org.name}/other`,
      artifactBody({ fingerprint: fingerprintOf("b"), filename: "again" }),
    );
    expect(await names(org)).toEqual(["c", "b", "a"]);
    const other = await app.org();
    await report(other, "a");
    expect(await names(other)).toEqual(["a"]);
  });

  it("pages, and links the pages with the query they were asked with", async () => {
    const org = await app.org();
    for (let index = 1; index <= 17; index += 1) await report(org, `b${index}`);
    expect(await names(org)).toEqual(Array.from({ length: 15 }, (_, index) => `b${17 - index}`));
    const page = await builds(org, "?per_page=5&page=2");
    expect(page.builds.map((build: { filename: string }) => build.filename)).toEqual([
      "b12",
      "b11",
      "b10",
      "b9",
      "b8",
    ]);
    expect(page).toMatchObject({ page: 2, per_page: 5, total_pages: 4, total_count: 17 });
    const url = `http://waybill.test/api/v2/builds/${org.name}?per_page=5`;
    expect(page._links).toEqual({
      self: { href: `${url}&page=2` },
      first: { href: `${url}&page=1` },
      last: { href: `${url}&page=4` },
      prev: { href: `${url}&page=1` },
      next: { href: `${url}&page=3` },
    });
    expect(await names(org, "?per_page=5&page=4")).toEqual(["b2", "b1"]);
    const beyond = await builds(org, "?per_page=50&page=1000000");
    expect(beyond).toMatchObject({ page: 1_000_000, total_pages: 1, total_count: 17, builds: [] });
    expect(await builds(org, "?per_page=0&page=3")).toMatchObject({
      page: 3,
      per_page: 0,
      total_pages: 0,
      total_count: 17,
      builds: [],
      has_builds_ever: true,
    });
  });

  it.each([
    ["page", "0", "Input should be greater than or equal to 1 [input: 0]"],
    ["page", "1000001", "Input should be less than or equal to 1000000 [input: 1000001]"],
    ["page", "x", "Input should be a valid integer, unable to parse string as an integer [input: x]"],
    ["per_page", "-1", "Input should be greater than or equal to 0 [input: -1]"],
    ["per_page", "51", "Input should be less than or equal to 50 [input: 51]"],
    [
      "start_ts",
      "yesterday",
      "Input should be a valid number, unable to parse string as a number [input: yesterday]",
    ],
    ["end_ts", "1e", "Input should be a valid number, unable to parse string as a number [input: 1e]"],
    ["end-ts", "-1", "Input should be greater than or equal to 0 [input: -1]"],
    ["end_ts", "999999999999", "Input should be less than or equal to 253402300799 [input: 999999999999]"],
    ["repo_name", "%00", "Text must not contain NUL or unpaired surrogates [input: \0]"],
  ])("refuses %s=%s", async (name, value, reason) => {
    const org = await app.org();
    const answer = await org.reader.get(`/builds/${org.name}?${name}=${value}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual({ [`query.${name}`]: reason });
  });

  it("filters by repo, by any of its names, all of which must fit", async () => {
    const org = await app.org();
    const web = repoInfo("web", { id: "1", provider: "gitlab" });
    const fork = repoInfo("web", { id: "2", provider: "github" });
    const api = repoInfo("api", { id: "1", provider: "github" });
    for (const [name, repo] of Object.entries({ w1: web, f1: fork, a1: api, w2: web, f2: fork, a2: api }))
      await report(org, name, { repo_info: repo });
    await report(org, "none");
    const ids = new Map<string, string>();
    for (const repo of (await org.reader.get(`/repos/${org.name}`)).json.repos)
      ids.set(`${repo.name} ${repo.provider}`, repo.id);
    const inner = ids.get("web gitlab")!;
    expect(await names(org)).toEqual(["none", "a2", "f2", "w2", "a1", "f1", "w1"]);
    expect(await names(org, "?repo_name=api")).toEqual(["a2", "a1"]);
    expect(await names(org, "?repo_name=web")).toEqual(["f2", "w2", "f1", "w1"]);
    expect(await names(org, "?repo_name=web&per_page=2&page=2")).toEqual(["f1", "w1"]);
    expect(await names(org, "?repo_id=1")).toEqual(["a2", "w2", "a1", "w1"]);
    expect(await names(org, "?repo_id=1&repo_name=web")).toEqual(["w2", "w1"]);
    expect(await names(org, `?repo_inner_id=${inner}`)).toEqual(["w2", "w1"]);
    expect(await names(org, `?repo_inner_id=${inner}&repo_name=api`)).toEqual([]);
    expect(await names(org, "?repo_name=&repo_id=")).toHaveLength(7);
    for (const query of [
      "repo_name=nope",
      "repo_id=nope",
      "repo_inner_id=nope",
      `repo_inner_id=${inner.replace(/^./, "f")}`,
    ])
      expect(await builds(org, `?${query}`)).toMatchObject({
        total_count: 0,
        builds: [],
        has_builds_ever: false,
      });
  });

  it("says of a repo whether it ever had a build, whatever the window", async () => {
    const org = await app.org();
    await report(org, "a", { repo_info: repoInfo("built") });
    await putTrail(org.member, `${org.name}/web-ci`, { name: "t", repo_info: repoInfo("planned") });
    const later = `start_ts=${Math.ceil(app.clock.now()) + 60}&end_ts=${Math.ceil(app.clock.now()) + 120}`;
    for (const [repo, ever] of [
      ["built", true],
      ["planned", false],
    ] as const) {
      const { id } = (await org.reader.get(`/repos/${org.name}/${repo}`)).json;
      for (const filter of [`repo_name=${repo}`, `repo_id=id-of-${repo}`, `repo_inner_id=${id}`]) {
        const { total_count, has_builds_ever } = await builds(org, `?${filter}&${later}`);
        expect([filter, total_count, has_builds_ever]).toEqual([filter, 0, ever]);
      }
    }
  });

  it("shows the current names of renamed flows and repos, and finds builds by them", async () => {
    const org = await app.org();
    await report(org, "a", { repo_info: repoInfo("old", { id: "7" }) });
    await report(org, "b", { repo_info: repoInfo("new", { id: "7" }) });
    await app.deps.db.run(sql`update flows set name = 'shop' where org_id = ${org.id}`);
    const { builds: list } = await builds(org, "?repo_name=new");
    expect(list).toMatchObject([
      { filename: "b", flow_name: "shop", repo_info: { name: "new", repo_id: "7" } },
      { filename: "a", flow_name: "shop", repo_info: { name: "new", repo_id: "7" } },
    ]);
    expect(list[0]._links.self.href).toContain("/shop/fingerprint/");
    expect(await builds(org, "?repo_name=old")).toMatchObject({ total_count: 0, has_builds_ever: false });
  });

  it("may be read by every role, and by anybody when the organization is public", async () => {
    const org = await app.org();
    for (const client of [org.admin, org.member, org.snapshotter, org.reader])
      expect((await client.get(`/builds/${org.name}`)).status).toBe(200);
    expect((await app.anonymous.get(`/builds/${org.name}`)).status).toBe(401);
    const foreign = await (await app.user()).client.get(`/builds/${org.name}`);
    expect(foreign.json).toEqual({ message: `Access denied to /api/v2/builds/${org.name}` });
    const open = await app.org({ public: true });
    expect((await app.anonymous.get(`/builds/${open.name}`)).status).toBe(200);
    expect((await app.anonymous.get(`/builds/${open.name}/statistics`)).status).toBe(200);
  });
});

describe("GET /builds/{org}/statistics", () => {
  it("has one moment for each build in the window, oldest first, and the window", async () => {
    const org = await app.org();
    for (const name of ["a", "b", "a"]) await report(org, name, { repo_info: repoInfo(name) });
    const times = (await builds(org)).builds.map((build: { created_at: number }) => build.created_at);
    const answer = await org.reader.get(`/builds/${org.name}/statistics`);
    expect(answer.json).toMatchObject({ total_count: 2, build_timestamps: times.toReversed() });
    expect(answer.json.end_ts - answer.json.start_ts).toBeCloseTo(28 * 86_400, 3);
    expect(Math.abs(answer.json.end_ts - app.clock.now())).toBeLessThan(30);

    const one = await org.reader.get(`/builds/${org.name}/statistics?repo_name=b`);
    expect(one.json.build_timestamps).toEqual([times[0]]);
    const window = await org.reader.get(
      `/builds/${org.name}/statistics?start_ts=${times[0]}&end_ts=${times[0]}`,
    );
    expect(window.json).toMatchObject({ start_ts: times[0], end_ts: times[0], build_timestamps: [times[0]] });
    const none = await org.reader.get(`/builds/${org.name}/statistics?repo_id=nope`);
    expect(none.json).toMatchObject({ total_count: 0, build_timestamps: [] });
    expect((await org.reader.get(`/builds/${org.name}/statistics?start_ts=2&end_ts=1`)).status).toBe(400);
  });
});
