import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { wireId } from "../../src/lib/ids.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

async function flows(...names: string[]): Promise<void> {
  for (const name of names) await putFlow(org.member, org.name, { name });
}

async function names(query = ""): Promise<string[]> {
  const { json } = await org.reader.get(`/flows/${org.name}${query}`);
  const list = (Array.isArray(json) ? json : json.data) as { name: string }[];
  return list.map(({ name }) => name);
}

function setTags(flow: string, tags: Record<string, string>): Promise<unknown> {
  return app.deps.db.pool.query("update flows set tags = $1 where org_id = $2 and name = $3", [
    JSON.stringify(tags),
    org.id,
    flow,
  ]);
}

describe("GET /flows/{org}", () => {
  it("is an empty array in an empty organization", async () => {
    const answer = await org.reader.get(`/flows/${org.name}`);
    expect([answer.status, answer.json]).toEqual([200, []]);
  });

  it("is an array of all flows without per_page, whatever the page", async () => {
    await flows("b", "a", "C");
    for (const query of ["", "?page=7"]) {
      const { json } = await org.reader.get(`/flows/${org.name}${query}`);
      expect(json.map((flow: { name: string }) => flow.name)).toEqual(["C", "a", "b"]);
    }
    const { json } = await org.reader.get(`/flows/${org.name}`);
    expect(json[0]).toMatchObject({
      org: org.name,
      tags: {},
      template: "version: 1\n",
      repo_url: "",
      latest_activity_at: null,
      latest_state: null,
    });
  });

  it("is one page with per_page", async () => {
    await flows("a", "b", "c", "d", "e");
    const page = async (number: number) =>
      (await org.reader.get(`/flows/${org.name}?page=${number}&per_page=2`)).json;
    expect((await page(1)).pagination).toEqual({ total: 5, page: 1, per_page: 2, page_count: 3 });
    const all = [await page(1), await page(2), await page(3)].flatMap(({ data }) => data);
    expect(all.map(({ name }) => name)).toEqual(["a", "b", "c", "d", "e"]);
    expect(await page(99)).toEqual({
      data: [],
      pagination: { total: 5, page: 99, per_page: 2, page_count: 3 },
    });
    expect((await page(1_000_000)).data).toEqual([]);
  });

  it.each(["0", "101", "x", "-1", "1.5"])("refuses per_page=%s", async (value) => {
    const answer = await org.reader.get(`/flows/${org.name}?per_page=${value}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual(["query.per_page"]);
  });

  it.each([
    ["?search_by_name=web", ["my-web", "web"]],
    ["?search_by_name=WEB", ["WEB"]],
    ["?search_by_name=WEB&case_sensitive=false", ["WEB", "my-web", "web"]],
    ["?search_by_name=.", ["a.b_c~d"]],
    ["?search_by_name=_", ["a.b_c~d"]],
    ["?search_by_name=~", ["a.b_c~d"]],
    ["?search_by_name=%25", []],
    ["?search_by_name=a%5Cb", []],
    ["?case_sensitive=false", ["WEB", "a.b_c~d", "my-web", "web"]],
    ["?search_by_name=web&per_page=1&page=2", ["web"]],
  ])("finds names with %s", async (query, found) => {
    await flows("web", "WEB", "my-web", "a.b_c~d");
    expect(await names(query)).toEqual(found);
  });

  it("refuses text that cannot be stored", async () => {
    for (const name of ["search_by_name", "tag", "space_id"])
      expect((await org.reader.get(`/flows/${org.name}?${name}=a%00b`)).status).toBe(400);
  });

  it.each([
    ["?tag=team", ["a", "b"]],
    ["?tag=team:shop", ["a"]],
    ["?tag=team:shop&tag=tier:1", ["a", "c"]],
    ["?tag=team&tag=tier", ["a", "b", "c"]],
    ["?tag=url:https://x", ["c"]],
    ["?tag=", []],
    ["?tag=nope", []],
    ["?tag=team:nope", []],
    ["?tag=team&search_by_name=b", ["b"]],
  ])("filters by %s", async (query, found) => {
    await flows("a", "b", "c", "d");
    await setTags("a", { team: "shop" });
    await setTags("b", { team: "core" });
    await setTags("c", { tier: "1", url: "https://x" });
    expect(await names(query)).toEqual(found);
    expect((await org.reader.get(`/flows/${org.name}?search_by_name=a`)).json[0].tags).toEqual({
      team: "shop",
    });
  });

  it("filters by space, the spaces below it included", async () => {
    const [top, below, other] = [app.deps.ids.next(), app.deps.ids.next(), app.deps.ids.next()] as const;
    for (const [id, parent] of [
      [top, null],
      [below, top],
      [other, null],
    ])
      await app.deps.db.pool.query(
        "insert into spaces (org_id, id, parent_id, name, created_at, last_modified_at) values ($1, $2, $3, $2::uuid::text, now(), now())",
        [org.id, id, parent],
      );
    await flows("in-top", "in-below", "in-other", "in-root");
    for (const [name, id] of [
      ["in-top", top],
      ["in-below", below],
      ["in-other", other],
    ] as const)
      await org.member.patch(`/flows/${org.name}/${name}`, { space_id: wireId(id) });
    expect(await names(`?space_id=${wireId(top)}`)).toEqual(["in-below", "in-top"]);
    expect(await names(`?space_id=${wireId(below)}`)).toEqual(["in-below"]);
    expect(await names(`?space_id=${wireId(below)}&space_id=${wireId(other)}`)).toEqual([
      "in-below",
      "in-other",
    ]);
    expect(await names(`?space_id=${wireId(app.deps.ids.next())}`)).toEqual([]);
    expect(await names("?space_id=nonsense")).toEqual([]);
  });

  it("sorts by name and by latest activity, flows without any last", async () => {
    await flows("a", "b", "c", "d");
    await putTrail(org.member, `${org.name}/b`, { name: "t1" });
    await putTrail(org.member, `${org.name}/d`, { name: "t2" });
    await putTrail(org.member, `${org.name}/b`, { name: "t3" });
    expect(await names("?sort=name&sort_direction=desc")).toEqual(["d", "c", "b", "a"]);
    expect(await names("?sort=latest_activity")).toEqual(["d", "b", "a", "c"]);
    expect(await names("?sort=latest_activity&sort_direction=desc")).toEqual(["b", "d", "a", "c"]);
    expect(await names("?sort=latest_activity&sort_direction=desc&per_page=1&page=2")).toEqual(["d"]);
  });

  it("shows when a flow's newest trail was last reported to", async () => {
    await flows("a");
    await putTrail(org.member, `${org.name}/a`, { name: "t1" });
    await putTrail(org.member, `${org.name}/a`, { name: "t2" });
    await putTrail(org.member, `${org.name}/a`, { name: "t1", description: "later" });
    const trail = await org.reader.get(`/trails/${org.name}/a/t1`);
    const { json } = await org.reader.get(`/flows/${org.name}`);
    expect(json[0].latest_activity_at).toBe(trail.json.last_modified_at);
  });

  it.each([
    ["?sort=x", "query.sort", "Input should be 'name' or 'latest_activity' [input: x]"],
    ["?sort_direction=", "query.sort_direction", "Input should be 'asc' or 'desc' [input: ]"],
    [
      "?case_sensitive=maybe",
      "query.case_sensitive",
      "Input should be a valid boolean, unable to interpret input [input: maybe]",
    ],
  ])("refuses %s", async (query, place, text) => {
    const answer = await org.reader.get(`/flows/${org.name}${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual({ [place]: text });
  });

  it("shows the repo of the latest artifact", async () => {
    const shown = async () => [
      (await org.reader.get(`/flows/${org.name}`)).json[0].repo_url,
      (await org.reader.get(`/flows/${org.name}/a`)).json.repo_url,
    ];
    const report = async (more: object) =>
      org.member.post(`/artifacts/${org.name}/a`, artifactBody({ trail_name: "t", ...more }));
    const repo = (url: string) => ({ repo_info: { name: "shop", url } });
    await report({});
    expect(await shown()).toEqual(["", ""]);
    for (const url of ["https://git.x.test/old", "https://git.x.test/new"]) {
      await report({ repo_url: url, ...repo("https://git.x.test/shop") });
      expect(await shown()).toEqual([url, url]);
    }
    await report(repo("https://git.x.test/shop"));
    expect(await shown()).toEqual(["https://git.x.test/shop", "https://git.x.test/shop"]);
    // The repo is elsewhere now, as a report to another flow says.
    await org.member.post(
      `/artifacts/${org.name}/b`,
      artifactBody({ trail_name: "t", ...repo("https://git.x.test/moved") }),
    );
    expect(await shown()).toEqual(["https://git.x.test/moved", "https://git.x.test/moved"]);
    await report({ repo_url: "" });
    expect(await shown()).toEqual(["", ""]);
  });
});
