import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { type Command, render } from "../../src/db/sql.ts";
import { environmentSorts, environmentStates, sortDirections } from "../../src/domain/environments.ts";
import type { EnvironmentQuery } from "../../src/modules/runtime/environments/list-sql.ts";
import { allEnvironments, pageOfEnvironments } from "../../src/modules/runtime/environments/list-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createEnvironment, listedNames } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const sorts = "'name', 'last_modified_at', 'last_changed_at', 'last_reported_at' or 'state'";

async function refused(org: TestOrg, query: string): Promise<Record<string, string>> {
  const answer = await org.reader.get(`/environments/${org.name}${query}`);
  expect([answer.status, answer.json.message]).toEqual([400, "Input payload validation failed"]);
  return answer.json.errors;
}

describe("the two forms", () => {
  it("is a bare array without page and per_page, and empty for an empty organization", async () => {
    const org = await app.org();
    expect((await org.reader.get(`/environments/${org.name}`)).json).toEqual([]);
    const filtered = await org.reader.get(`/environments/${org.name}?sort=name&archived=false&unknown=1`);
    expect(filtered.json).toEqual([]);
  });

  it("is an object with either, 15 a page from the first", async () => {
    const org = await app.org();
    for (let index = 0; index < 17; index += 1)
      await createEnvironment(org, `e${String(index).padStart(2, "0")}`);
    const byPage = (await org.reader.get(`/environments/${org.name}?page=1`)).json;
    expect(byPage).toMatchObject({ page: 1, per_page: 15, total_pages: 2, total_count: 17 });
    expect(byPage.environments).toHaveLength(15);
    expect(Object.keys(byPage)).toEqual([
      "_links",
      "page",
      "per_page",
      "total_pages",
      "total_count",
      "environments",
    ]);
    const bySize = (await org.reader.get(`/environments/${org.name}?per_page=2`)).json;
    expect(bySize).toMatchObject({ page: 1, per_page: 2, total_pages: 9, total_count: 17 });
    expect(await listedNames(org.reader, org)).toHaveLength(17);

    const base = `http://waybill.test/api/v2/environments/${org.name}`;
    const links = (await org.reader.get(`/environments/${org.name}?name=e&page=2&per_page=5`)).json._links;
    expect(links).toEqual({
      self: { href: `${base}?name=e&page=2&per_page=5` },
      first: { href: `${base}?name=e&page=1&per_page=5` },
      last: { href: `${base}?name=e&page=4&per_page=5` },
      prev: { href: `${base}?name=e&page=1&per_page=5` },
      next: { href: `${base}?name=e&page=3&per_page=5` },
    });
  });

  it("is empty past the end and still counts", async () => {
    const org = await app.org();
    await createEnvironment(org, "only");
    const answer = await org.reader.get(`/environments/${org.name}?page=1000000&per_page=50`);
    expect(answer.json).toMatchObject({ page: 1000000, total_pages: 1, total_count: 1, environments: [] });
    const empty = await app.org();
    expect((await empty.reader.get(`/environments/${empty.name}?page=1`)).json).toMatchObject({
      total_pages: 0,
      total_count: 0,
      environments: [],
    });
  });
});

describe("values that are refused", () => {
  it.each([
    ["page=0", "query.page", "Input should be greater than or equal to 1 [input: 0]"],
    ["page=1000001", "query.page", "Input should be less than or equal to 1000000 [input: 1000001]"],
    [
      "page=",
      "query.page",
      "Input should be a valid integer, unable to parse string as an integer [input: ]",
    ],
    [
      "page=x",
      "query.page",
      "Input should be a valid integer, unable to parse string as an integer [input: x]",
    ],
    [
      "page=1.5",
      "query.page",
      "Input should be a valid integer, unable to parse string as an integer [input: 1.5]",
    ],
    ["per_page=0", "query.per_page", "Input should be greater than or equal to 1 [input: 0]"],
    ["per_page=51", "query.per_page", "Input should be less than or equal to 50 [input: 51]"],
    [
      "per_page=",
      "query.per_page",
      "Input should be a valid integer, unable to parse string as an integer [input: ]",
    ],
    ["sort=", "query.sort", `Input should be ${sorts} [input: ]`],
    ["sort=x", "query.sort", `Input should be ${sorts} [input: x]`],
    ["sort_direction=", "query.sort_direction", "Input should be 'asc' or 'desc' [input: ]"],
    ["sort_direction=ASC", "query.sort_direction", "Input should be 'asc' or 'desc' [input: ASC]"],
    [
      "type=",
      "query.type[0]",
      "Input should be 'K8S', 'ECS', 'S3', 'lambda', 'server', 'docker', 'azure-apps', 'cloud-run' or 'logical' [input: ]",
    ],
    [
      "type=K8S&type=k8s",
      "query.type[1]",
      "Input should be 'K8S', 'ECS', 'S3', 'lambda', 'server', 'docker', 'azure-apps', 'cloud-run' or 'logical' [input: k8s]",
    ],
    ["archived=", "query.archived", "Input should be a valid boolean, unable to interpret input [input: ]"],
    [
      "archived=maybe",
      "query.archived",
      "Input should be a valid boolean, unable to interpret input [input: maybe]",
    ],
    ["name=%00", "query.name", "Text must not contain NUL or unpaired surrogates [input: \0]"],
    ["tag=a%00", "query.tag[0]", "Text must not contain NUL or unpaired surrogates [input: a\0]"],
    ["space_id=%00", "query.space_id[0]", "Text must not contain NUL or unpaired surrogates [input: \0]"],
  ])("%s", async (query, location, text) => {
    const org = await app.org();
    expect(await refused(org, `?${query}`)).toEqual({ [location]: text });
  });

  it("reports every wrong value at once", async () => {
    const org = await app.org();
    expect(Object.keys(await refused(org, "?page=0&sort=&type=")).toSorted()).toEqual([
      "query.page",
      "query.sort",
      "query.type[0]",
    ]);
  });

  it("accepts the ends of the ranges", async () => {
    const org = await app.org();
    for (const query of ["page=1&per_page=1", "page=1000000&per_page=50", "archived=TRUE", "archived=0"])
      expect((await org.reader.get(`/environments/${org.name}?${query}`)).status).toBe(200);
  });
});

describe("filters", () => {
  it("name: any part, any case, wildcards mean themselves", async () => {
    const org = await app.org();
    for (const name of ["Prod-EU_1", "prod-eu-1", "stage.eu", "x"]) await createEnvironment(org, name);
    const found = (text: string) => listedNames(org.reader, org, `?name=${encodeURIComponent(text)}`);
    expect(await found("PROD")).toEqual(["Prod-EU_1", "prod-eu-1"]);
    expect(await found("u_1")).toEqual(["Prod-EU_1"]);
    expect(await found("_")).toEqual(["Prod-EU_1"]);
    expect(await found(".")).toEqual(["stage.eu"]);
    for (const nothing of ["%", "%%%", "prod%", "\\", "p_od", "\\\\\\", "'", "é", " "])
      expect(await found(nothing)).toEqual([]);
    expect(await found("")).toHaveLength(4);
    expect(await found("n".repeat(3000))).toEqual([]);
  });

  it("type: any of several", async () => {
    const org = await app.org();
    for (const [name, type] of [
      ["a", "K8S"],
      ["b", "ECS"],
      ["c", "logical"],
      ["d", "K8S"],
    ] as const)
      await createEnvironment(org, name, { type });
    expect(await listedNames(org.reader, org, "?type=K8S")).toEqual(["a", "d"]);
    expect(await listedNames(org.reader, org, "?type=logical&type=K8S&type=K8S&per_page=50")).toEqual([
      "a",
      "c",
      "d",
    ]);
    const page = await org.reader.get(`/environments/${org.name}?type=logical&type=K8S&type=K8S&page=1`);
    expect(page.json.total_count).toBe(3);
    expect(await listedNames(org.reader, org, "?type=S3")).toEqual([]);
  });

  it("tag: a key, or a key with a value; any of several", async () => {
    const org = await app.org();
    for (const [name, tags] of [
      ["a", { team: "core", "managed-by": "tf" }],
      ["b", { team: "web" }],
      ["c", { url: "http://x:80" }],
      ["d", {}],
    ] as const) {
      await createEnvironment(org, name);
      await org.member.patch(`/tags/${org.name}/env/${name}`, { set_tags: tags });
    }
    const found = (...tags: string[]) =>
      listedNames(org.reader, org, `?${tags.map((tag) => `tag=${encodeURIComponent(tag)}`).join("&")}`);
    expect(await found("team")).toEqual(["a", "b"]);
    expect(await found("team:core")).toEqual(["a"]);
    expect(await found("team:core", "url:http://x:80")).toEqual(["a", "c"]);
    expect(await found("managed-by", "team:web")).toEqual(["a", "b"]);
    for (const nothing of ["", ":", "team:", "core", "Team", "team:CORE", ":core"])
      expect(await found(nothing)).toEqual([]);
    expect(await found("", "team:web")).toEqual(["b"]);
    const empty = await org.reader.get(`/environments/${org.name}?tag=&page=1`);
    expect(empty.json).toMatchObject({ total_count: 0, environments: [] });
  });

  it("space_id: the space and all below it; any of several; an unknown one is empty", async () => {
    const org = await app.org();
    const make = async (name: string, parent_id: string | null): Promise<string> =>
      (await org.admin.post(`/spaces/${org.name}`, { name, parent_id })).json.id;
    const top = await make("top", null);
    const middle = await make("middle", top);
    const low = await make("low", middle);
    const other = await make("other", null);
    for (const [name, space_id] of [
      ["e-top", top],
      ["e-low", low],
      ["e-other", other],
      ["e-root", null],
    ] as const) {
      await createEnvironment(org, name);
      await org.member.patch(`/environments/${org.name}/${name}`, { space_id });
    }
    const found = (...ids: string[]) =>
      listedNames(org.reader, org, `?${ids.map((id) => `space_id=${id}`).join("&")}`);
    expect(await found(top)).toEqual(["e-low", "e-top"]);
    expect(await found(middle)).toEqual(["e-low"]);
    expect(await found(low, other)).toEqual(["e-low", "e-other"]);
    for (const nothing of ["", "x", "00000000-0000-7000-8000-00000000", low.toUpperCase()])
      expect(await found(nothing)).toEqual([]);
    expect(await found("x", other)).toEqual(["e-other"]);
    const elsewhere = await app.org();
    expect(await listedNames(elsewhere.reader, elsewhere, `?space_id=${top}`)).toEqual([]);
  });

  it("narrows with every further filter", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod-a", { type: "ECS" });
    await createEnvironment(org, "prod-b");
    await createEnvironment(org, "test-a");
    await org.member.patch(`/tags/${org.name}/env/prod-a`, { set_tags: { x: "1" } });
    await org.member.patch(`/tags/${org.name}/env/prod-b`, { set_tags: { x: "1" } });
    expect(await listedNames(org.reader, org, "?name=prod&tag=x&type=ECS")).toEqual(["prod-a"]);
    expect(await listedNames(org.reader, org, "?name=prod&tag=x&type=ECS&archived=true")).toEqual([]);
  });
});

describe("order", () => {
  it("compares names by code point", async () => {
    const org = await app.org();
    for (const name of ["b", "B", "a.b", "a-b", "a_b", "a1", "A"]) await createEnvironment(org, name);
    const expected = ["A", "B", "a-b", "a.b", "a1", "a_b", "b"];
    expect(await listedNames(org.reader, org)).toEqual(expected);
    expect(await listedNames(org.reader, org, "?sort_direction=desc")).toEqual(expected.toReversed());
  });

  it("by modification follows changes of settings", async () => {
    const org = await app.org();
    for (const name of ["a", "b", "c"]) await createEnvironment(org, name);
    await org.member.patch(`/environments/${org.name}/a`, { description: "touched" });
    expect(await listedNames(org.reader, org, "?sort=last_modified_at")).toEqual(["b", "c", "a"]);
    expect(await listedNames(org.reader, org, "?sort=last_modified_at&sort_direction=desc&page=1")).toEqual([
      "a",
      "c",
      "b",
    ]);
  });
});

describe("statements", () => {
  const every: EnvironmentQuery[] = environmentSorts.flatMap((sort) =>
    sortDirections.flatMap((direction) =>
      [undefined, ["K8S"]].flatMap((types) =>
        [undefined, "", "ab", "abc"].flatMap((name) =>
          [undefined, { keys: ["a"], pairs: [] }].flatMap((tags) =>
            [undefined, []].map((spaces) => ({
              archived: false,
              sort,
              direction,
              types,
              name,
              tags,
              spaces,
            })),
          ),
        ),
      ),
    ),
  );

  it("have one text for each name, whatever the values", () => {
    const org = { id: "00000000-0000-7000-8000-000000000000", name: "o" };
    const texts = new Map<string, string>();
    const stale = every.flatMap((query) =>
      [true, false].map((is) => ({ ...query, stale: { is, at: Number(is) } })),
    );
    const known = every.flatMap((query) => [
      { ...query, states: ["UNKNOWN", "COMPLIANT"] as const },
      { ...query, states: ["NON-COMPLIANT"] as const, policies: ["p"], stale: { is: false, at: 1 } },
      { ...query, summary: { at: 1 } },
      {
        ...query,
        states: environmentStates,
        policies: ["p", "q"],
        stale: { is: true, at: 1 },
        summary: { at: 2 },
      },
    ]);
    const statements = [...every, ...stale, ...known].flatMap((query): Command[] => [
      allEnvironments(org, query).ids,
      allEnvironments(org, query).slice([]),
      pageOfEnvironments(org, query, { limit: 3, offset: 0 }),
      pageOfEnvironments(org, query, { limit: 4, offset: 0 }),
      pageOfEnvironments(org, { ...query, archived: true }, { limit: 3, offset: 3 }),
      pageOfEnvironments(org, query, { limit: 50, offset: 50 }),
    ]);
    for (const { name = "", sql } of statements) {
      const { text } = render(sql);
      expect(texts.get(name) ?? text).toBe(text);
      expect(Buffer.byteLength(name)).toBeGreaterThan(0);
      expect(Buffer.byteLength(name)).toBeLessThan(64);
      texts.set(name, text);
    }
    expect(new Set(texts.values()).size).toBe(texts.size);
  });
});
