import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf } from "../support/artifacts.ts";
import { commitInfo, reported, type Shown } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

function search(query: string): Promise<Answer> {
  return org.reader.get(`/attestations/${org.name}${query}`);
}

async function refusal(path: string): Promise<Record<string, string>> {
  const { status, json } = await org.reader.get(`/attestations/${org.name}${path}`);
  expect([status, json.message]).toEqual([400, "Input payload validation failed"]);
  return json.errors;
}

describe("a flow's attestations", () => {
  function list(query: string, flow = "ci"): Promise<Answer> {
    return org.reader.get(`/attestations/${org.name}/${flow}${query}`);
  }

  it("are on numbered pages, newest first, the same objects that a search finds", async () => {
    for (const name of ["a", "b", "c"]) await reported(org, name);
    await reported(org, "elsewhere", {}, { flow: "cd" });
    const found = (await search("?flow=ci")).json.data;
    expect((await list("")).json).toEqual({
      data: found,
      pagination: { total: 3, page: 1, per_page: 20, page_count: 1 },
    });
    expect((await list("?page=2&per_page=2")).json).toEqual({
      data: found.slice(2),
      pagination: { total: 3, page: 2, per_page: 2, page_count: 2 },
    });
    expect((await list("?page=1000000&per_page=100")).json.data).toEqual([]);
  });

  it("can be limited to a span, the bounds included", async () => {
    for (const name of ["a", "b", "c"]) await reported(org, name);
    const [, b] = (await list("")).json.data;
    const { json } = await list(`?from_timestamp=${b.created_at}&to_timestamp=${b.created_at}`);
    expect(json.data).toEqual([b]);
    expect(json.pagination.total).toBe(1);
  });

  it("need a flow that exists", async () => {
    const { status, json } = await list("", "unknown");
    expect(status).toBe(404);
    expect(json.message).toContain("unknown");
  });

  it.each(["page=0", "per_page=101", "per_page=0", "from_timestamp=x"])("refuse %s", async (query) => {
    expect(Object.keys(await refusal(`/ci?${query}`))).toEqual([`query.${query.split("=")[0]}`]);
  });
});

describe("attestations of commits", () => {
  const [one, two, three] = ["1", "2", "3"].map(commitOf) as [string, string, string];

  function list(query: string): Promise<Answer> {
    return org.reader.get(`/attestations/${org.name}/list_attestations_for_criteria?${query}`);
  }

  async function namesBySha(query: string): Promise<Record<string, string[]>> {
    const { status, json } = await list(query);
    expect(status).toBe(200);
    return Object.fromEntries(
      Object.entries(json as Record<string, Shown[]>).map(([sha, shown]) => [
        sha,
        shown.map((item) => item.attestation_name),
      ]),
    );
  }

  beforeEach(async () => {
    await reported(org, "unit", { git_commit_info: commitInfo(one) });
    await reported(org, "tests", { junit_results: [], git_commit_info: commitInfo(one) }, { kind: "junit" });
    await reported(org, "unit", { git_commit_info: commitInfo(two) }, { flow: "cd" });
    await reported(org, "unit");
  });

  it("are listed by commit, oldest first, a commit without any as an empty list", async () => {
    expect(
      await namesBySha(`commit_list=${one}&commit_list=${two}&commit_list=${three}&commit_list=${one}`),
    ).toEqual({
      [one]: ["unit", "tests"],
      [two]: ["unit"],
      [three]: [],
    });
    const [found] = (await search("?flow=cd")).json.data;
    expect((await list(`commit_list=${two}`)).json).toEqual({ [two]: [found] });
  });

  it("can be limited to a flow, a name and a type; the id is ignored", async () => {
    const commits = `commit_list=${one}&commit_list=${two}`;
    expect(await namesBySha(`${commits}&flow_name=cd`)).toEqual({ [one]: [], [two]: ["unit"] });
    expect(await namesBySha(`${commits}&flow_name=unknown`)).toEqual({ [one]: [], [two]: [] });
    expect(await namesBySha(`${commits}&attestation_name=tests`)).toEqual({ [one]: ["tests"], [two]: [] });
    expect(await namesBySha(`${commits}&attestation_type=generic`)).toEqual({
      [one]: ["unit"],
      [two]: ["unit"],
    });
    expect(await namesBySha(`commit_list=${two}&attestation_id=anything`)).toEqual({ [two]: ["unit"] });
  });

  it("need commits", async () => {
    const { status, json } = await list("flow_name=ci");
    expect([status, json]).toEqual([400, { message: "commit_list is required" }]);
    expect(await refusal("/list_attestations_for_criteria?commit_list=abc")).toEqual({
      "query.commit_list[0]": "String should match pattern '^[a-f0-9]{40}$' [input: abc]",
    });
  });
});

describe("the system's own types", () => {
  it("are listed with the schema of their data, for anybody with a key", async () => {
    const user = await app.user();
    const { status, json } = await user.client.get("/attestations/system-attestation-types");
    expect(status).toBe(200);
    expect(json).toMatchObject([
      {
        name: "decision",
        versions: [
          {
            version: 1,
            type_schema: {
              type: "object",
              properties: { is_compliant: { type: "boolean" } },
              required: ["is_compliant"],
            },
          },
        ],
      },
    ]);
    expect((await app.anonymous.get("/attestations/system-attestation-types")).status).toBe(401);
  });
});

describe("who may search", () => {
  it.each(["", "/ci", `/list_attestations_for_criteria?commit_list=${commitOf("1")}`])(
    "%s: every role, and anybody in a public organization",
    async (path) => {
      const [closed, open] = [org, await app.org({ public: true })];
      for (const each of [open, closed]) await reported(each, "unit");
      for (const client of [closed.admin, closed.member, closed.snapshotter, closed.reader])
        expect((await client.get(`/attestations/${closed.name}${path}`)).status).toBe(200);
      expect((await app.anonymous.get(`/attestations/${open.name}${path}`)).status).toBe(200);
      expect((await app.anonymous.get(`/attestations/${closed.name}${path}`)).status).toBe(401);
      expect((await (await app.user()).client.get(`/attestations/${closed.name}${path}`)).status).toBe(403);
    },
  );
});
