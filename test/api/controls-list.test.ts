import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function listed(org: TestOrg, query = ""): Promise<string[]> {
  const answer = await org.reader.get(`/controls/${org.name}${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  expect(answer.json.total_count).toBe(answer.json.controls.length);
  return answer.json.controls.map(({ identifier }: { identifier: string }) => identifier);
}

async function tag(org: TestOrg, identifier: string, tags: Record<string, string>): Promise<void> {
  const answer = await org.member.patch(`/tags/${org.name}/control/${identifier}`, { set_tags: tags });
  expect(answer.status).toBe(200);
}

describe("GET /controls/{org}", () => {
  it("lists controls by name, in either direction", async () => {
    const org = await app.org();
    const { json: second } = await createControl(org, "list-control-2", { name: "Second control" });
    const { json: first } = await createControl(org, "list-control-1", { name: "First control" });
    const up = await org.reader.get(`/controls/${org.name}?page=1&per_page=15`);
    const self = `http://waybill.test/api/v2/controls/${org.name}?page=1&per_page=15`;
    expect(up.json).toEqual({
      controls: [first, second],
      page: 1,
      per_page: 15,
      total_pages: 1,
      total_count: 2,
      _links: { self: { href: self }, first: { href: self }, last: { href: self } },
    });
    expect(await listed(org, "?sort_direction=desc")).toEqual(["list-control-2", "list-control-1"]);
  });

  it("orders names by code point and equal names by identifier", async () => {
    const org = await app.org();
    for (const [identifier, name] of Object.entries({ d: "b", c: "é", b: "same", a: "same", e: "B" }))
      await createControl(org, identifier, { name });
    expect(await listed(org)).toEqual(["e", "d", "a", "b", "c"]);
    expect(await listed(org, "?sort_direction=desc")).toEqual(["c", "b", "a", "d", "e"]);
  });

  it("is empty for an empty organization and shows nothing of another one", async () => {
    const org = await app.org();
    await createControl(await app.org(), "foreign");
    const { json } = await org.reader.get(`/controls/${org.name}`);
    expect(json).toMatchObject({ controls: [], page: 1, per_page: 15, total_pages: 0, total_count: 0 });
  });

  it("pages without gaps or repeats, and past the end is empty", async () => {
    const org = await app.org();
    for (let index = 0; index < 7; index += 1) await createControl(org, `c${index}`, { name: "same" });
    const base = `http://waybill.test/api/v2/controls/${org.name}`;
    const seen: string[] = [];
    for (const page of [1, 2, 3]) {
      const { json } = await org.reader.get(`/controls/${org.name}?page=${page}&per_page=3`);
      expect(json).toMatchObject({ page, per_page: 3, total_pages: 3, total_count: 7 });
      seen.push(...json.controls.map(({ identifier }: { identifier: string }) => identifier));
      if (page === 2)
        expect(json._links).toMatchObject({
          prev: { href: `${base}?page=1&per_page=3` },
          next: { href: `${base}?page=3&per_page=3` },
        });
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, index) => `c${index}`));
    const beyond = await org.reader.get(`/controls/${org.name}?page=99&per_page=15`);
    expect(beyond.json).toMatchObject({
      controls: [],
      page: 99,
      per_page: 15,
      total_pages: 1,
      total_count: 7,
    });
  });

  it.each([
    ["page=0", "query.page", "Input should be greater than or equal to 1 [input: 0]"],
    ["per_page=0", "query.per_page", "Input should be greater than or equal to 1 [input: 0]"],
    ["per_page=101", "query.per_page", "Input should be less than or equal to 100 [input: 101]"],
    ["sort_direction=up", "query.sort_direction", "Input should be 'asc' or 'desc' [input: up]"],
    [
      "archived=maybe",
      "query.archived",
      "Input should be a valid boolean, unable to interpret input [input: maybe]",
    ],
  ])("refuses %s", async (query, location, text) => {
    const org = await app.org();
    const answer = await org.reader.get(`/controls/${org.name}?${query}`);
    expect([answer.status, answer.json.errors]).toEqual([400, { [location]: text }]);
  });

  it("finds part of a name or an identifier, in any case", async () => {
    const org = await app.org();
    await createControl(org, "SEC-1", { name: "Ärger vermeiden" });
    await createControl(org, "rev.2", { name: "100% review" });
    await createControl(org, "x_3", { name: "Security scan" });
    expect(await listed(org, "?search=sec")).toEqual(["x_3", "SEC-1"]);
    expect(await listed(org, "?search=ÄRGER")).toEqual(["SEC-1"]);
    expect(await listed(org, "?search=REV")).toEqual(["rev.2"]);
    expect(await listed(org, "?search=%25")).toEqual(["rev.2"]);
    expect(await listed(org, "?search=_")).toEqual(["x_3"]);
    expect(await listed(org, "?search=.")).toEqual(["rev.2"]);
    expect(await listed(org, "?search=nothing")).toEqual([]);
    expect(await listed(org, "?search=")).toHaveLength(3);
  });

  it("lists archived controls only when they are asked for", async () => {
    const org = await app.org();
    for (const identifier of ["a", "b", "c"]) await createControl(org, identifier);
    await org.admin.post(`/controls/${org.name}/b/archive`, null);
    expect(await listed(org)).toEqual(["a", "c"]);
    expect(await listed(org, "?archived=false")).toEqual(["a", "c"]);
    expect(await listed(org, "?archived=true")).toEqual(["b"]);
    await org.admin.post(`/controls/${org.name}/b/unarchive`, null);
    expect(await listed(org)).toEqual(["a", "b", "c"]);
    expect(await listed(org, "?archived=true")).toEqual([]);
  });

  it("filters by tags, any of several", async () => {
    const org = await app.org();
    for (const identifier of ["a", "b", "c", "d"]) await createControl(org, identifier);
    await tag(org, "a", { phase: "release", url: "https://x:1" });
    await tag(org, "b", { phase: "build" });
    await tag(org, "c", { team: "" });
    expect(await listed(org, "?tag=phase")).toEqual(["a", "b"]);
    expect(await listed(org, "?tag=phase:build")).toEqual(["b"]);
    expect(await listed(org, "?tag=phase:release&tag=team")).toEqual(["a", "c"]);
    expect(await listed(org, "?tag=phase:release&tag=phase:build")).toEqual(["a", "b"]);
    expect(await listed(org, "?tag=url:https://x:1")).toEqual(["a"]);
    expect(await listed(org, "?tag=team:")).toEqual(["c"]);
    expect(await listed(org, "?tag=release")).toEqual([]);
    expect(await listed(org, "?tag=")).toEqual([]);
    expect(await listed(org, "?tag=phase&search=B")).toEqual(["b"]);
    await org.admin.post(`/controls/${org.name}/a/archive`, null);
    expect(await listed(org, "?tag=phase")).toEqual(["b"]);
    expect(await listed(org, "?tag=phase&archived=true")).toEqual(["a"]);
  });
});
