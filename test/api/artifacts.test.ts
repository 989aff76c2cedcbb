import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { reportArtifacts } from "../../src/modules/process/artifacts/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function rows(table: string, org: TestOrg): Promise<Record<string, unknown>[]> {
  return (await app.deps.db.pool.query(`select * from ${table} where org_id = $1`, [org.id])).rows;
}

const commit = commitOf("one");
const commitInfo = {
  sha1: commit,
  message: "fix",
  author: "Ann <a@x.io>",
  timestamp: 1_786_000_000,
  branch: "main",
};

describe("POST /artifacts/{org}/{flow_name}", () => {
  it("creates flow, trail and repo, records the artifact, its build, an event and an audit row", async () => {
    const org = await app.org();
    const body = artifactBody({
      git_commit: commit,
      git_commit_info: commitInfo,
      repo_info: repoInfo("acme/web"),
      trail_name: "t1",
      template_reference_name: "web",
      repo_url: "not a url",
      external_urls: { sbom: { href: "https://http://www.example.com", fingerprint: "a".repeat(64) } },
      annotations: { team: "shop" },
      user_data: [1, { a: null }],
      commits_list: [{ ...commitInfo, parents: [] }],
      is_compliant: true,
      template: ["x"],
      something_newer: 1,
    });
    const answer = await org.member.post(`/artifacts/${org.name}/web-ci`, body);
    expect([answer.status, answer.json]).toEqual([201, { message: "OK" }]);

    const [flow] = await rows("flows", org);
    expect(flow).toMatchObject({ name: "web-ci", template: "version: 1\n", description: "" });
    const [repo] = await rows("repos", org);
    expect(repo).toMatchObject({
      name: "acme/web",
      repo_id: "id-of-acme/web",
      vcs_instance: "git.example.com",
    });
    const [trail] = await rows("trails", org);
    expect(trail).toMatchObject({
      name: "t1",
      flow_id: flow!["id"],
      template: "version: 1\n",
      template_id: flow!["template_id"],
      repo_ids: [repo!["id"]],
      git_commit_info: commitInfo,
      user_data: {},
    });
    expect(await rows("trail_events", org)).toMatchObject([
      { type: "trail_reported", trail_id: trail!["id"], occurred_at: trail!["created_at"] },
    ]);
    const { json: shown } = await org.reader.get(`/trails/${org.name}/${String(flow!["name"])}/t1`);
    expect(shown.events[0].trail_data_json).toMatchObject({
      name: "t1",
      description: "",
      user_data: "{}",
      origin_url: null,
      git_commit_info: commitInfo,
      repo_ids: [(repo!["id"] as string).slice(0, 32)],
      org_id: org.id.slice(0, 32),
      flow_id: (flow!["id"] as string).slice(0, 32),
    });
    expect(await rows("artifacts", org)).toMatchObject([
      {
        fingerprint: body["fingerprint"],
        template_reference_name: "web",
        repo_url: "not a url",
        repo_id: repo!["id"],
        git_commit: commit,
        external_urls: body["external_urls"],
        annotations: body["annotations"],
        user_data: body["user_data"],
        commits_list: body["commits_list"],
      },
    ]);
    expect(await rows("builds", org)).toMatchObject([
      { number: 1, repo_number: 1, fingerprint: body["fingerprint"], json: expect.stringContaining(commit) },
    ]);
    expect(await rows("audit_log", org)).toMatchObject([
      { seq: 1, action: "create_artifact", resource_type: "artifact", resource: body["fingerprint"] },
    ]);
  });

  it("appends a report of its own each time, one build for a fingerprint, and moves the trail on", async () => {
    const org = await app.org();
    const body = artifactBody({ trail_name: "t", repo_info: repoInfo("a") });
    await org.member.post(`/artifacts/${org.name}/f`, body);
    const [before] = await rows("trails", org);
    app.clock.advance(10);
    await org.member.post(`/artifacts/${org.name}/f`, { ...body, repo_info: repoInfo("b") });
    await org.member.post(`/artifacts/${org.name}/g`, { ...body, trail_name: "other", repo_info: null });
    expect(await rows("artifacts", org)).toHaveLength(3);
    expect(await rows("builds", org)).toHaveLength(1);
    const after = (await rows("trails", org)).find((trail) => trail["name"] === "t")!;
    expect(after["created_at"]).toBe(before!["created_at"]);
    expect(after["last_modified_at"]).toBeGreaterThan((before!["last_modified_at"] as number) + 9);
    expect(after["repo_ids"]).toHaveLength(2);
    expect(await rows("trail_events", org)).toHaveLength(2);
  });

  it.each([
    ["the trail's name", { trail_name: "t", git_commit: commit }, "t", "artifact"],
    ["the commit without one", { git_commit: commit, template_reference_name: null }, commit, "artifact"],
    ["the described commit", { git_commit_info: { sha1: commit } }, commit, "artifact"],
    [
      "the fingerprint without a commit",
      { git_commit_info: { sha1: "short" }, template_reference_name: "cli" },
      fingerprintOf("x"),
      "cli",
    ],
  ])("names the trail after %s", async (_, more, trail, reference) => {
    const org = await app.org();
    const body = artifactBody({ fingerprint: fingerprintOf("x"), ...more });
    expect((await org.member.post(`/artifacts/${org.name}/f`, body)).status).toBe(201);
    expect(await rows("trails", org)).toMatchObject([{ name: trail }]);
    expect(await rows("artifacts", org)).toMatchObject([{ template_reference_name: reference }]);
  });

  it("reports to a renamed flow by its former name until another flow takes it", async () => {
    const org = await app.org();
    await org.member.post(`/artifacts/${org.name}/old`, artifactBody());
    const [flow] = await rows("flows", org);
    const { db } = app.deps;
    await db.run(sql`update flows set name = 'new' where org_id = ${org.id}`);
    await db.run(sql`
      insert into flow_former_names (org_id, name, flow_id) values (${org.id}, 'old', ${flow!["id"] as string})`);
    await org.member.post(`/artifacts/${org.name}/old`, artifactBody());
    await org.member.post(`/artifacts/${org.name}/new`, artifactBody());
    expect(await rows("flows", org)).toHaveLength(1);
    const commits = await org.reader.get(`/artifacts/${org.name}/old/${fingerprintOf()}/latest_commit`);
    expect(commits.json).toEqual({ latest_commit: null });
  });

  it.each([
    ["filename", { filename: "" }, "String should have at least 1 character [input: ]"],
    ["fingerprint", { fingerprint: "abc" }, "String should match pattern '^[a-f0-9]{64}$' [input: abc]"],
    ["fingerprint", { fingerprint: undefined }, "Field required [input: None]"],
    ["build_url", { build_url: null }, "Input should be a valid string [input: None]"],
    ["git_commit", { git_commit: "ABC" }, "String should match pattern '^[a-f0-9]{40}$' [input: ABC]"],
    [
      "template_reference_name",
      { template_reference_name: "a.b" },
      "String should match pattern '^[a-zA-Z0-9\\-_]+$' [input: a.b]",
    ],
    [
      "trail_name",
      { trail_name: "a b" },
      "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\-_.~]*$' [input: a b]",
    ],
    [
      "external_urls.x.fingerprint",
      { external_urls: { x: { href: "h", fingerprint: "7509e5bda0" } } },
      "String should match pattern '^[a-f0-9]{64}$' [input: 7509e5bda0]",
    ],
    [
      "external_urls.x.y",
      { external_urls: { x: { href: "h", y: 1 } } },
      "Extra inputs are not permitted [input: 1]",
    ],
    ["repo_info.url", { repo_info: { name: "a" } }, "Field required [input: None]"],
  ])("refuses a bad %s", async (location, more, reason) => {
    const org = await app.org();
    const answer = await org.member.post(`/artifacts/${org.name}/f`, artifactBody(more));
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      message: "Input payload validation failed",
      errors: { [location]: reason },
    });
    expect(await rows("artifacts", org)).toEqual([]);
  });

  it("refuses a flow name that is none, and a body that is none", async () => {
    const org = await app.org();
    const named = await org.member.post(`/artifacts/${org.name}/-f`, artifactBody());
    expect(named.json.errors["path.flow_name"]).toContain("[input: -f]");
    expect((await org.member.post(`/artifacts/${org.name}/f`, null)).status).toBe(400);
  });

  it("is for members and admins", async () => {
    const org = await app.org({ public: true });
    const statuses = [];
    for (const client of [org.admin, org.member, org.snapshotter, org.reader, app.anonymous])
      statuses.push((await client.post(`/artifacts/${org.name}/f`, artifactBody())).status);
    expect(statuses).toEqual([201, 201, 403, 403, 401]);
  });

  it("takes the same report fifty times at once, and fifty different ones", async () => {
    const org = await app.org();
    const body = artifactBody({ trail_name: "t", repo_info: repoInfo("acme/web"), git_commit: commit });
    const same = Array.from({ length: 50 }, () => org.member.post(`/artifacts/${org.name}/f`, body));
    expect(new Set((await Promise.all(same)).map((answer) => answer.status))).toEqual(new Set([201]));
    for (const table of ["flows", "trails", "trail_events", "repos", "builds"])
      expect(await rows(table, org), table).toHaveLength(1);
    expect(await rows("artifacts", org)).toHaveLength(50);

    const different = Array.from({ length: 50 }, (_, index) =>
      org.member.post(
        `/artifacts/${org.name}/f${index % 7}`,
        artifactBody({ trail_name: `t${index % 11}`, repo_info: repoInfo(`r${index % 5}`) }),
      ),
    );
    expect(new Set((await Promise.all(different)).map((answer) => answer.status))).toEqual(new Set([201]));
    const numbers = (await rows("builds", org))
      .map((build) => build["number"] as number)
      .sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 51 }, (_, index) => index + 1));
    const seqs = (await rows("audit_log", org)).map((entry) => entry["seq"] as number).sort((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  it("survives concurrent writers in different transactions", async () => {
    const org = await app.org();
    const actor = { id: null, name: "loader" };
    const write = (seed: number) =>
      transaction(app.deps.db, (tx) =>
        reportArtifacts(
          app.deps,
          tx,
          org.id,
          Array.from({ length: 20 }, (_, index) => ({
            flow_name: `f${(index * seed) % 4}`,
            actor,
            artifact: {
              fingerprint: fingerprintOf(`${(index * seed) % 30}`),
              filename: "x",
              build_url: "",
              commit_url: "",
              trail_name: `t${(index * seed) % 6}`,
              repo_info: { name: `r${(index * seed) % 3}`, url: "u" },
            },
          })),
        ),
      );
    await Promise.all([1, 3, 7, 11, 13, 17, 19, 23].map(write));
    const builds = await rows("builds", org);
    const fingerprints = async (table: string) => (await rows(table, org)).map((row) => row["fingerprint"]);
    const built = await fingerprints("builds");
    expect(new Set(built)).toEqual(new Set(await fingerprints("artifacts")));
    expect(new Set(built).size).toBe(built.length);
    const numbers = [builds.map((build) => build["number"] as number)];
    for (const repo of new Set(builds.map((build) => build["repo_id"])))
      numbers.push(
        builds.filter((build) => build["repo_id"] === repo).map((build) => build["repo_number"] as number),
      );
    for (const group of numbers)
      expect(group.toSorted((a, b) => a - b)).toEqual(group.map((_, index) => index + 1));
    expect(await rows("artifacts", org)).toHaveLength(160);
    expect(await rows("repos", org)).toHaveLength(3);
  });

  it("loads records made elsewhere with their own times, builds never going back", async () => {
    const org = await app.org();
    const times = [100, 300, 200, 300.5];
    await transaction(app.deps.db, (tx) =>
      reportArtifacts(
        app.deps,
        tx,
        org.id,
        times.map((created_at) => ({
          flow_name: "f",
          actor: { id: null, name: "loader" },
          created_at,
          artifact: {
            fingerprint: fingerprintOf(),
            filename: "x",
            build_url: "",
            commit_url: "",
            trail_name: "t",
          },
        })),
      ),
    );
    const builds = (await rows("builds", org)).sort(
      (a, b) => (a["number"] as number) - (b["number"] as number),
    );
    expect(builds.map((build) => build["created_at"])).toEqual([100, 300, 300, 300.5]);
    expect(await rows("trails", org)).toMatchObject([{ created_at: 100, last_modified_at: 300.5 }]);
  });
});

describe("GET /artifacts/{org}/{flow_name}/{fingerprint}/latest_commit", () => {
  it("answers the commit of the newest other artifact, on the branch if asked for", async () => {
    const org = await app.org();
    const report = (name: string, branch: string | null, more: object = {}) =>
      org.member.post(
        `/artifacts/${org.name}/f`,
        artifactBody({
          fingerprint: fingerprintOf(name),
          git_commit: commitOf(name),
          ...(branch === null ? {} : { git_commit_info: { sha1: commitOf(name), branch } }),
          ...more,
        }),
      );
    const latest = async (name: string, query = "") =>
      (
        await org.reader.get(
          `/artifacts/${org.name}/f/${fingerprintOf(name).slice(0, 12)}/latest_commit${query}`,
        )
      ).json.latest_commit;
    expect(await latest("a")).toBeNull();
    await report("a", "main");
    await report("b", "feature/x");
    await report("c", null, { commits_list: [{ sha1: commitOf("c"), branch: "legacy" }] });
    await report("d", null, { git_commit: null });
    expect(await latest("new")).toBe(commitOf("c"));
    expect(await latest("c")).toBe(commitOf("b"));
    expect(await latest("new", "?branch=main")).toBe(commitOf("a"));
    expect(await latest("a", "?branch=main")).toBeNull();
    expect(await latest("new", "?branch=feature/x")).toBe(commitOf("b"));
    expect(await latest("new", "?branch=legacy")).toBe(commitOf("c"));
    expect(await latest("new", "?branch=")).toBe(commitOf("c"));
  });

  it("takes a branch as clients write it, encoded or not", async () => {
    const org = await app.org();
    const branches = ["feature/c++", "x&y", "100%", "a b", "main"];
    for (const branch of branches) {
      const more = { git_commit: commitOf(branch), git_commit_info: { sha1: commitOf(branch), branch } };
      await org.member.post(
        `/artifacts/${org.name}/f`,
        artifactBody({ fingerprint: fingerprintOf(branch), ...more }),
      );
    }
    const latest = async (branch: string) =>
      (
        await org.reader.get(
          `/artifacts/${org.name}/f/${fingerprintOf("new")}/latest_commit?branch=${branch}`,
        )
      ).json.latest_commit;
    for (const branch of branches) expect(await latest(encodeURIComponent(branch))).toBe(commitOf(branch));
    for (const branch of ["feature/c++", "x&y", "main"]) expect(await latest(branch)).toBe(commitOf(branch));
    expect(await latest("a+b")).toBe(commitOf("a b"));
  });

  it("tolerates a doubled slash, refuses what is no fingerprint and text that cannot be stored", async () => {
    const org = await app.org();
    const url = `/artifacts/${org.name}/f/${fingerprintOf("x")}/latest_commit`;
    expect(
      (await org.reader.get(`root://api/v2//artifacts/${org.name}/f/${fingerprintOf("x")}/latest_commit`))
        .status,
    ).toBe(200);
    expect((await org.reader.get(`/artifacts/${org.name}/f/xyz12/latest_commit`)).status).toBe(400);
    expect((await org.reader.get(`${url}?branch=%00`)).json.errors).toHaveProperty(["query.branch"]);
  });
});
