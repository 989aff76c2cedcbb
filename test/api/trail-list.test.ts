import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

async function begin(...paths: string[]): Promise<void> {
  for (const path of paths) {
    const [flow, name] = path.split("/") as [string, string];
    expect((await putTrail(org.member, `${org.name}/${flow}`, { name })).status).toBe(201);
  }
}

async function found(path: string): Promise<string[]> {
  const { json } = await org.reader.get(`/trails/${org.name}${path}`);
  const list = (Array.isArray(json) ? json : json.data) as { name: string }[];
  return list.map(({ name }) => name);
}

async function artifact(trail: string, fingerprint: string): Promise<void> {
  await app.deps.db.pool.query(
    `insert into artifacts (org_id, id, flow_id, trail_id, fingerprint, filename, template_reference_name, commit_url,
       build_url, created_at, created_by_name)
     select org_id, $3, flow_id, id, $4, 'f', 'f', '', '', now(), 'x' from trails where org_id = $1 and name = $2`,
    [org.id, trail, app.deps.ids.next(), fingerprint],
  );
}

describe("GET /trails/{org}/{flow}", () => {
  it("is an array without per_page, newest first", async () => {
    await putFlow(org.member, org.name, { name: "web" }, sampleTemplate);
    expect((await org.reader.get(`/trails/${org.name}/web`)).json).toEqual([]);
    await begin("web/a", "web/c", "web/b", "api/d");
    expect(await found("/web")).toEqual(["b", "c", "a"]);
    const { json } = await org.reader.get(`/trails/${org.name}/web`);
    expect(json[0].template.content).toBe(sampleTemplate);
    expect(json[0].flow).toEqual({ name: "web", tags: {} });
  });

  it("asks for all ids of what it reads only where a page goes on by them", async () => {
    await begin("web/a");
    const asksForIds = async (query: string): Promise<boolean> => {
      const path = `/trails/${org.name}/web${query}`;
      const texts = await statementsOf(app, async () => {
        expect((await org.reader.get(path)).status).toBe(200);
      });
      return texts.some((text) => text.includes("array(select id from page)"));
    };
    expect([await asksForIds("?per_page=5"), await asksForIds("")]).toEqual([true, false]);
  });

  it("is one page with per_page", async () => {
    await begin("web/a", "web/b", "web/c", "web/d", "web/e");
    const page = async (number: number) =>
      (await org.reader.get(`/trails/${org.name}/web?page=${number}&per_page=2`)).json;
    const pages = [await page(1), await page(2), await page(3)];
    expect(pages.flatMap(({ data }) => data.map(({ name }: { name: string }) => name))).toEqual([
      "e",
      "d",
      "c",
      "b",
      "a",
    ]);
    expect(pages[2].pagination).toEqual({ total: 5, page: 3, per_page: 2, page_count: 3 });
    expect(await page(4)).toMatchObject({ data: [], pagination: { page: 4 } });
  });

  it("says which flow is missing", async () => {
    for (const query of ["", "?per_page=5"]) {
      const answer = await org.reader.get(`/trails/${org.name}/nope${query}`);
      expect(answer.status).toBe(404);
      expect(answer.json).toEqual({
        message: `Flow named 'nope' does not exist for organization '${org.name}'`,
      });
    }
  });

  it.each(["per_page=0", "per_page=101", "page=0"])("refuses %s", async (query) => {
    expect((await org.reader.get(`/trails/${org.name}/web?${query}`)).status).toBe(400);
  });
});

describe("GET /trails/{org}", () => {
  it("is empty in an empty organization", async () => {
    const answer = await org.reader.get(`/trails/${org.name}`);
    expect(answer.json).toEqual({
      data: [],
      pagination: { total: 0, page: 1, per_page: 20, page_count: 0 },
    });
  });

  it("pages through the trails of all flows, newest first, twenty at a time", async () => {
    const names = Array.from({ length: 23 }, (_, index) => `t${index}`);
    await begin(...names.map((name, index) => `flow-${index % 3}/${name}`));
    const first = await org.reader.get(`/trails/${org.name}`);
    expect(first.json.pagination).toEqual({ total: 23, page: 1, per_page: 20, page_count: 2 });
    expect([...(await found("")), ...(await found("?page=2"))]).toEqual(names.toReversed());
    expect(await found("?page=99")).toEqual([]);
    expect(await found("?page=1000000&per_page=100")).toEqual([]);
  });

  it("filters by flow, tag of the flow and fingerprint", async () => {
    await begin("web/a", "web/b", "api/c", "empty/x");
    await putFlow(org.member, org.name, { name: "no-trails" });
    await app.deps.db.pool.query("update flows set tags = $1 where org_id = $2 and name = 'web'", [
      JSON.stringify({ team: "shop", url: "a=b" }),
      org.id,
    ]);
    await artifact("b", "abcde".padEnd(64, "0"));
    await artifact("b", "abcde".padEnd(64, "0"));
    await artifact("c", "abcdf".padEnd(64, "0"));
    const cases: [string, string[]][] = [
      ["?flow=web", ["b", "a"]],
      ["?flow=no-trails", []],
      ["?flow=nope", []],
      ["?flow_tag=team=shop", ["b", "a"]],
      ["?flow_tag=team", ["b", "a"]],
      ["?flow_tag=url=a=b", ["b", "a"]],
      ["?flow_tag=team=core", []],
      ["?flow_tag=nope=1", []],
      [`?fingerprint=${"abcde".padEnd(64, "0")}`, ["b"]],
      ["?fingerprint=abcde", ["b"]],
      ["?fingerprint=abcd", []],
      ["?fingerprint=xyz", []],
      [`?fingerprint=${"f".repeat(64)}`, []],
      ["?fingerprint=abcde&flow=api", []],
      ["?fingerprint=abcdf&flow=api", ["c"]],
      ["?flow=web&flow_tag=team=shop&per_page=1&page=2", ["a"]],
    ];
    for (const [query, names] of cases) expect(await found(query), query).toEqual(names);
    const { json } = await org.reader.get(`/trails/${org.name}?fingerprint=abcde`);
    expect(json.pagination.total).toBe(1);
  });

  it("finds a flow by its former name", async () => {
    await begin("web/a");
    await org.member.put(`/flows/${org.name}/web/rename`, { new_name: "shop" });
    expect(await found("?flow=web")).toEqual(["a"]);
    expect(await found("/web")).toEqual(["a"]);
  });

  it("shows trails of archived flows only when asked", async () => {
    await begin("web/a", "api/b");
    await artifact("a", "a".repeat(64));
    await org.member.put(`/flows/${org.name}/web/archive`);
    const { rows } = await app.deps.db.pool.query(
      "select name from flows where org_id = $1 and archived_at is not null",
      [org.id],
    );
    expect(await found("")).toEqual(["b"]);
    expect(await found("?flow=web")).toEqual([]);
    expect(await found(`?flow=${rows[0].name}`)).toEqual(["a"]);
    expect(await found("?fingerprint=aaaaa")).toEqual(["a"]);
  });

  it("refuses text that cannot be stored, and pages out of range", async () => {
    for (const query of [
      "flow=a%00",
      "flow_tag=a%00",
      "fingerprint=a%00",
      "per_page=0",
      "per_page=101",
      "page=0",
    ])
      expect((await org.reader.get(`/trails/${org.name}?${query}`)).status, query).toBe(400);
  });

  it("keeps organizations apart", async () => {
    await begin("web/a");
    const other = await app.org({ public: true });
    await putTrail(other.member, `${other.name}/web`, { name: "b" });
    expect(await found("?flow=web")).toEqual(["a"]);
    expect((await app.anonymous.get(`/trails/${other.name}`)).json.data).toHaveLength(1);
    expect((await other.reader.get(`/trails/${org.name}`)).status).toBe(403);
  });
});
