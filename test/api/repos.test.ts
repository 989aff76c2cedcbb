import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { jsonb, sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { captureRepos } from "../../src/modules/process/repos/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, repoInfo } from "../support/artifacts.ts";
import { putTrail } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function report(org: TestOrg, name: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = artifactBody({ repo_info: repoInfo(name, more) });
  expect((await org.member.post(`/artifacts/${org.name}/f`, body)).status).toBe(201);
}

async function list(org: TestOrg, query = "") {
  const answer = await org.reader.get(`/repos/${org.name}${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

async function names(org: TestOrg, query = ""): Promise<string[]> {
  return (await list(org, query)).repos.map((repo: { name: string }) => repo.name);
}

async function tag(org: TestOrg, name: string, tags: Record<string, string>): Promise<void> {
  await app.deps.db.run(sql`
    update repos set tags = ${jsonb(tags)} where org_id = ${org.id} and name = ${name}`);
}

describe("capturing repos", () => {
  it("identifies a repo by provider and external id: another name is a rename", async () => {
    const org = await app.org();
    await report(org, "old", { id: "7" });
    const [before] = (await list(org)).repos;
    await report(org, "new", { id: "7", description: "shop" });
    await report(org, "new", { id: "8" });
    await report(org, "new", { id: "7", provider: "github" });
    expect((await list(org)).total_count).toBe(3);
    const renamed = (await list(org, "?repo_id=7&provider=gitlab")).repos[0];
    expect(renamed).toMatchObject({
      id: before.id,
      name: "new",
      description: "shop",
      created_at: before.created_at,
    });
    expect(renamed.last_modified_at).toBeGreaterThan(before.last_modified_at);
  });

  it("identifies a repo without an id by provider and name", async () => {
    const org = await app.org();
    await report(org, "a", { id: null, provider: null });
    await report(org, "a", { id: "", provider: null, url: "https://other.example.com/a" });
    await report(org, "a", { id: null, provider: "git" });
    await report(org, "a", { id: "1", provider: "git" });
    const { repos } = await list(org);
    expect(repos).toHaveLength(3);
    expect(repos[0]).toMatchObject({ repo_id: null, provider: null, vcs_instance: "other.example.com" });
  });

  it("writes nothing when nothing is new, and keeps what a later report leaves out", async () => {
    const org = await app.org();
    const full = {
      description: "shop",
      namespace_path: ["acme", "shop"],
      additional_info: { a: { b: [1] } },
    };
    await report(org, "web", full);
    const [before] = (await list(org)).repos;
    app.clock.advance(5);
    await report(org, "web", full);
    await report(org, "web");
    const [after] = (await list(org)).repos;
    expect({ ...after, latest_activity: null }).toEqual({ ...before, latest_activity: null });
    expect(after.latest_activity > before.latest_activity).toBe(true);
    await report(org, "web", { additional_info: {} });
    expect((await list(org)).repos[0]).toMatchObject({ ...full, additional_info: {} });
  });

  it("answers ids in the order asked, the same repo once, and the last word counts", async () => {
    const org = await app.org();
    const info = (name: string, id: string, description: string | null = null) => ({
      name,
      id,
      url: "u",
      description,
    });
    const capture = (infos: ReturnType<typeof info>[]) =>
      transaction(app.deps.db, (tx) => captureRepos(app.deps, tx, org.id, infos));
    const ids = await capture([info("b", "2"), info("a", "1", "one"), info("b2", "2"), info("a", "1")]);
    expect(ids[0]).toBe(ids[2]);
    expect(ids[1]).toBe(ids[3]);
    expect(new Set(ids).size).toBe(2);
    expect(await names(org)).toEqual(["a", "b2"]);
    expect((await list(org)).repos[0].description).toBe("one");
    expect(await capture([info("a", "1")])).toEqual([ids[1]]);
    expect(await capture([])).toEqual([]);
    const many = await Promise.all(
      Array.from({ length: 8 }, () => capture([info("z", "9"), info("y", "8")])),
    );
    expect(new Set(many.flat()).size).toBe(2);
  });
});

describe("fifty simultaneous reports that name one repo", () => {
  it("make one repo, which all of them belong to", async () => {
    const org = await app.org();
    const data = (name: string) => ({ name, repo_info: repoInfo("acme/web") });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        putTrail(org.member, `${org.name}/flow-${at % 5}`, data(`t${at}`)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
    const { repos, total_count } = await list(org);
    expect(total_count).toBe(1);
    const trails = await org.reader.get(`/trails/${org.name}?per_page=100`);
    const ids = trails.json.data.map(({ repo_ids }: { repo_ids: string[] }) => repo_ids);
    expect(ids).toEqual(Array.from({ length: 50 }, () => [repos[0].id]));
  });
});

describe("GET /repos/{org}", () => {
  it("shows a repo in full", async () => {
    const org = await app.org();
    await report(org, "acme/web", { namespace_path: ["acme"] });
    await tag(org, "acme/web", { team: "shop" });
    const url = `http://waybill.test/api/v2/repos/${org.name}`;
    const answer = await list(org);
    const [repo] = answer.repos;
    expect(answer).toEqual({
      page: 1,
      per_page: 15,
      total_pages: 1,
      total_count: 1,
      _links: { self: { href: url }, first: { href: `${url}?page=1` }, last: { href: `${url}?page=1` } },
      repos: [
        {
          id: expect.stringMatching(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/),
          name: "acme/web",
          url: "https://git.example.com/acme/web",
          provider: "gitlab",
          repo_id: "id-of-acme/web",
          description: null,
          vcs_instance: "git.example.com",
          namespace_path: ["acme"],
          additional_info: null,
          tags: { team: "shop" },
          created_at: expect.any(Number),
          last_modified_at: expect.any(Number),
          latest_activity: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
          _links: { self: { href: `${url}/${repo.id}?id=${repo.id}` } },
        },
      ],
    });
    expect(Date.parse(repo.latest_activity) / 1000).toBeCloseTo(repo.created_at, 0);
  });

  it("sorts by name by code point, both ways, and pages", async () => {
    const org = await app.org();
    for (const name of ["b", "a", "B", "ä", "a/b"]) await report(org, name);
    expect(await names(org)).toEqual(["B", "a", "a/b", "b", "ä"]);
    expect(await names(org, "?sort_direction=desc")).toEqual(["ä", "b", "a/b", "a", "B"]);
    expect(await list(org, "?per_page=2&page=3")).toMatchObject({ page: 3, total_pages: 3, total_count: 5 });
    expect(await names(org, "?per_page=2&page=2")).toEqual(["a/b", "b"]);
    expect(await list(org, "?page=99")).toMatchObject({
      page: 99,
      repos: [],
      total_count: 5,
      total_pages: 1,
    });
  });

  it("filters", async () => {
    const org = await app.org();
    await report(org, "acme/Web_1", {
      provider: "github",
      url: "https://github.com/acme/web",
      namespace_path: ["acme"],
    });
    await report(org, "acme/api", { namespace_path: ["acme", "shop"] });
    await report(org, "other/api", { namespace_path: ["other"] });
    await report(org, "bare", { id: null, provider: null, url: "x" });
    await report(org, "Ärzte/App", { namespace_path: ["Ärzte"] });
    await tag(org, "acme/api", { team: "shop", tier: "1" });
    await tag(org, "other/api", { team: "a:b" });
    for (const [query, found] of Object.entries({
      "name=acme/api": ["acme/api"],
      "name=api": [],
      "search=API": ["acme/api", "other/api"],
      "search=web_": ["acme/Web_1"],
      "search=%C3%A4RZTE": ["Ärzte/App"],
      "search=%C3%84rzte": ["Ärzte/App"],
      "search=e%25": [],
      "search=%5C": [],
      "provider=github": ["acme/Web_1"],
      "repo_id=id-of-acme/api": ["acme/api"],
      "repo_id=nope": [],
      "repo_id=id-of-acme/api&name=bare": ["acme/api"],
      "vcs_instance=github.com": ["acme/Web_1"],
      "vcs_instance=hub.com": [],
      "namespace=acme": ["acme/Web_1", "acme/api"],
      "namespace=acme/shop": ["acme/api"],
      "namespace=acme/sho": [],
      "namespace=/acme/": ["acme/Web_1", "acme/api"],
      "tag=team": ["acme/api", "other/api"],
      "tag=team:shop": ["acme/api"],
      "tag=team:a:b": ["other/api"],
      "tag=tier&tag=team:a:b": ["acme/api", "other/api"],
      "tag=": [],
      "tag=team&search=other": ["other/api"],
      "name=&search=bare&repo_id=": ["bare"],
    }))
      expect(await names(org, `?${query}`), query).toEqual(found);
  });

  it.each([
    ["per_page=0", "query.per_page"],
    ["per_page=51", "query.per_page"],
    ["page=1000001", "query.page"],
    ["provider=sourceforge", "query.provider"],
    ["sort_direction=up", "query.sort_direction"],
    ["tag=a&tag=%00", "query.tag[1]"],
    ["search=%00", "query.search"],
  ])("refuses %s", async (query, location) => {
    const org = await app.org();
    const answer = await org.reader.get(`/repos/${org.name}?${query}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([location]);
  });

  it("refuses a name together with a search", async () => {
    const org = await app.org();
    const answer = await org.reader.get(`/repos/${org.name}?name=a&search=b`);
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Parameters 'name' and 'search' cannot be combined" },
    ]);
  });

  it("keeps organizations apart, and strangers out", async () => {
    const [org, other] = [await app.org(), await app.org({ public: true })];
    await report(other, "secret");
    expect(await names(org)).toEqual([]);
    expect((await app.anonymous.get(`/repos/${other.name}`)).json.total_count).toBe(1);
    expect((await app.anonymous.get(`/repos/${org.name}`)).status).toBe(401);
    expect((await org.reader.get(`/repos/${org.name}/secret`)).status).toBe(404);
  });
});

describe("GET /repos/{org}/{repo_name}", () => {
  it("finds a repo by a name with slashes, by provider and by id", async () => {
    const org = await app.org();
    await report(org, "acme/web");
    const url = `/repos/${org.name}`;
    const answer = await org.reader.get(`${url}/acme/web`);
    expect(answer.json).toMatchObject({ name: "acme/web", provider: "gitlab", tags: {} });
    const { id } = answer.json;
    for (const path of [
      `acme%2Fweb`,
      `acme/web?provider=gitlab`,
      `${id}?id=${id}`,
      `x/y?id=${id}&provider=github`,
    ])
      expect((await org.reader.get(`${url}/${path}`)).json.id, path).toBe(id);
    expect(
      (await org.reader.get(answer.json._links.self.href.replace("http://waybill.test", "root:"))).json,
    ).toEqual(answer.json);
  });

  it.each([
    ["an unknown name", "nope", "nope"],
    ["the wrong provider", "acme/web?provider=github", "acme/web"],
    ["an unknown id", `acme/web?id=01234567-0123-0123-0123-01234567`, "acme/web"],
    ["what is no id", "some-id?id=some-id", "some-id"],
    ["the external id", "acme/web?id=id-of-acme/web", "acme/web"],
  ])("answers 404 for %s", async (_, path, name) => {
    const org = await app.org();
    await report(org, "acme/web");
    const answer = await org.reader.get(`/repos/${org.name}/${path}`);
    expect([answer.status, answer.json]).toEqual([404, { message: `Repo '${name}' not found` }]);
  });

  it("asks which one when several have the name, and takes the newest at a provider", async () => {
    const org = await app.org();
    const url = `/repos/${org.name}/web`;
    await report(org, "web", { id: "1", provider: "github" });
    await report(org, "web", { id: "2", provider: "github" });
    const same = await org.reader.get(url);
    expect(same.status).toBe(400);
    expect(same.json.message).toMatch(
      /^Multiple repos named 'web' exist \(github\)\. Specify the 'provider'/,
    );
    expect((await org.reader.get(`${url}?provider=github`)).json.repo_id).toBe("2");
    await report(org, "web", { id: "3", provider: "gitlab" });
    await report(org, "web", { id: "4", provider: null });
    expect((await org.reader.get(url)).json.message).toContain("(github, gitlab, none)");
    expect((await org.reader.get(`${url}?provider=gitlab`)).json.repo_id).toBe("3");
    const { repos } = await list(org, "?repo_id=1");
    expect((await org.reader.get(`${url}?id=${repos[0].id}`)).json.repo_id).toBe("1");
    expect((await org.reader.get(`${url}?provider=nope`)).status).toBe(400);
  });
});

describe("GET /repos/{org}/filter-options", () => {
  it("lists providers, hosts and the next level of namespaces, each under the other filters", async () => {
    const org = await app.org();
    await report(org, "a", {
      provider: "github",
      url: "https://github.com/a",
      namespace_path: ["acme", "shop"],
    });
    await report(org, "b", { namespace_path: ["acme", "bank", "core"] });
    await report(org, "c", { namespace_path: ["other"] });
    await report(org, "d", { provider: null, url: "x" });
    await tag(org, "c", { team: "x" });
    const options = async (query = "") =>
      (await org.reader.get(`/repos/${org.name}/filter-options${query}`)).json;
    const self = { self: { href: `http://waybill.test/api/v2/repos/${org.name}/filter-options` } };
    expect(await options()).toEqual({
      providers: ["github", "gitlab"],
      vcs_instances: ["git.example.com", "github.com"],
      namespace_values: ["acme", "other"],
      _links: self,
    });
    expect(await options("?provider=github")).toMatchObject({
      providers: ["github", "gitlab"],
      vcs_instances: ["github.com"],
      namespace_values: ["acme"],
    });
    expect(await options("?namespace=acme")).toMatchObject({
      providers: ["github", "gitlab"],
      namespace_values: ["bank", "shop"],
    });
    expect(await options("?namespace=acme/bank&vcs_instance=git.example.com")).toMatchObject({
      providers: ["gitlab"],
      vcs_instances: ["git.example.com"],
      namespace_values: ["core"],
    });
    expect(await options("?tag=team:x")).toMatchObject({
      providers: ["gitlab"],
      namespace_values: ["other"],
    });
    expect(await options("?tag=")).toMatchObject({ providers: [], vcs_instances: [], namespace_values: [] });
  });
});
