import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** A control with every kind of entry: created, edited, archived, edited, brought back. */
async function withHistory(): Promise<TestOrg> {
  const org = await app.org();
  await createControl(org, "c", { name: "One", links: { a: "https://a" } });
  await org.admin.put(`/controls/${org.name}/c`, { name: "Two", description: "second" });
  await org.admin.post(`/controls/${org.name}/c/archive`, null);
  await org.admin.put(`/controls/${org.name}/c`, { links: {} });
  await org.admin.post(`/controls/${org.name}/c/unarchive`, null);
  return org;
}

const history = [
  {
    version: 1,
    status: "Created",
    name: "One",
    description: null,
    links: { a: "https://a" },
    archived: false,
  },
  {
    version: 2,
    status: "Edited",
    name: "Two",
    description: "second",
    links: { a: "https://a" },
    archived: false,
  },
  {
    version: 3,
    status: "Archived",
    name: "Two",
    description: "second",
    links: { a: "https://a" },
    archived: true,
  },
  { version: 4, status: "Edited", name: "Two", description: "second", links: {}, archived: true },
  { version: 5, status: "Unarchived", name: "Two", description: "second", links: {}, archived: false },
];

async function numbers(org: TestOrg, query: string): Promise<number[]> {
  const { json } = await org.reader.get(`/controls/${org.name}/c/versions${query}`);
  return json.versions.map(({ version }: { version: number }) => version);
}

describe("GET /controls/{org}/{identifier}/versions", () => {
  it("lists every change, newest first", async () => {
    const org = await withHistory();
    const { json } = await org.reader.get(`/controls/${org.name}/c/versions`);
    const self = { href: `http://waybill.test/api/v2/controls/${org.name}/c/versions` };
    expect(json).toMatchObject({ page: 1, per_page: 15, total_pages: 1, total_count: 5 });
    expect(json._links.self).toEqual(self);
    expect(json.versions).toMatchObject(history.toReversed());
    const { json: control } = await org.reader.get(`/controls/${org.name}/c`);
    expect(control.version).toBe(5);
    for (const entry of json.versions) {
      expect(entry.identifier).toBe("c");
      expect(entry.created_by).toBe(control.created_by);
    }
    const times = json.versions.map((entry: { created_at: number }) => entry.created_at);
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
    expect(times.at(-1)).toBe(control.created_at);
  });

  it("says who changed it and when", async () => {
    const org = await app.org();
    const ann = await app.user({ display_name: "Ann Lee" });
    await org.admin.put(`/members/${org.name}/${ann.name}`, { role: "admin" });
    const { json: created } = await createControl(org, "c");
    app.clock.advance(60);
    await ann.client.put(`/controls/${org.name}/c`, { name: "N" });
    const [edited, first] = (await org.reader.get(`/controls/${org.name}/c/versions`)).json.versions;
    expect(edited.created_by).toBe("Ann Lee");
    expect(edited.created_at).toBeGreaterThanOrEqual(created.created_at + 60);
    expect(first).toMatchObject({ created_by: created.created_by, created_at: created.created_at });
    expect((await org.reader.get(`/controls/${org.name}/c`)).json).toMatchObject({
      created_by: created.created_by,
      created_at: created.created_at,
    });
  });

  it("pages in both directions", async () => {
    const org = await withHistory();
    expect(await numbers(org, "?per_page=2")).toEqual([5, 4]);
    expect(await numbers(org, "?per_page=2&page=2")).toEqual([3, 2]);
    expect(await numbers(org, "?per_page=2&page=3")).toEqual([1]);
    expect(await numbers(org, "?per_page=2&page=4")).toEqual([]);
    expect(await numbers(org, "?sort_direction=asc")).toEqual([1, 2, 3, 4, 5]);
    expect(await numbers(org, "?sort_direction=asc&per_page=3&page=2")).toEqual([4, 5]);
    expect(await numbers(org, "?page=1000000&per_page=100")).toEqual([]);
    const { json } = await org.reader.get(`/controls/${org.name}/c/versions?per_page=2&page=9`);
    expect(json).toMatchObject({ page: 9, per_page: 2, total_pages: 3, total_count: 5, versions: [] });
  });

  it.each(["per_page=0", "per_page=101", "page=0", "sort_direction=up"])("refuses %s", async (query) => {
    const org = await withHistory();
    expect((await org.reader.get(`/controls/${org.name}/c/versions?${query}`)).status).toBe(400);
  });

  it("has no entry for tags", async () => {
    const org = await app.org();
    await createControl(org, "c");
    await org.admin.patch(`/tags/${org.name}/control/c`, { set_tags: { a: "b" } });
    expect(await numbers(org, "")).toEqual([1]);
    expect((await org.reader.get(`/controls/${org.name}/c`)).json.version).toBe(1);
  });
});

describe("GET /controls/{org}/{identifier}/versions/{version_number}", () => {
  it("shows the control as it was", async () => {
    const org = await withHistory();
    const { json } = await org.reader.get(`/controls/${org.name}/c/versions?sort_direction=asc`);
    for (const entry of json.versions) {
      const answer = await org.reader.get(`/controls/${org.name}/c/versions/${entry.version}`);
      expect([answer.status, answer.json]).toEqual([200, entry]);
    }
    expect(json.versions).toMatchObject(history);
  });

  it.each(["0", "6", "-1", "x", "1.0", "01", "99999999999999999999", "%20"])(
    "answers 404 for %s",
    async (version) => {
      const org = await withHistory();
      const answer = await org.reader.get(`/controls/${org.name}/c/versions/${version}`);
      const shown = decodeURIComponent(version);
      expect([answer.status, answer.json]).toEqual([
        404,
        { message: `Version ${shown} of control 'c' does not exist in org '${org.name}'` },
      ]);
    },
  );
});

describe("the history", () => {
  it.each([
    "update control_versions set name = 'x' where org_id = $1",
    "delete from control_versions where org_id = $1",
  ])("refuses: %s", async (statement) => {
    const org = await withHistory();
    await expect(app.deps.db.pool.query(statement, [org.id])).rejects.toThrow(
      "table control_versions is insert-only",
    );
    expect(await numbers(org, "")).toHaveLength(5);
  });
});
