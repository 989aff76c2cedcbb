import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { wireId } from "../../src/lib/ids.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const patch = (org: TestOrg, target: string, body: unknown) =>
  org.member.patch(`/tags/${org.name}/${target}`, body);

async function tagsOf(org: TestOrg, name: string): Promise<Record<string, string>> {
  return (await org.reader.get(`/environments/${org.name}/${name}`)).json.tags;
}

async function withEnvironment(name = "e"): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, name);
  return org;
}

async function insertFlow(org: TestOrg, name: string, former?: string): Promise<void> {
  const id = app.deps.ids.next();
  await app.deps.db.pool.query(
    `insert into flows (org_id, id, name, template, template_id, created_at, created_by_name)
     values ($1, $2, $3, '', $2, now(), 'x')`,
    [org.id, id, name],
  );
  if (former !== undefined)
    await app.deps.db.pool.query(
      "insert into flow_former_names (org_id, name, flow_id) values ($1, $2, $3)",
      [org.id, former, id],
    );
}

async function insertRepo(org: TestOrg): Promise<string> {
  const id = app.deps.ids.next();
  await app.deps.db.pool.query(
    `insert into repos (org_id, id, name, url, created_at, last_modified_at)
     values ($1, $2, 'acme/web', 'https://x', now(), now())`,
    [org.id, id],
  );
  return wireId(id);
}

async function storedTags(org: TestOrg, table: "flows" | "repos"): Promise<unknown> {
  const { rows } = await app.deps.db.pool.query(`select tags from ${table} where org_id = $1`, [org.id]);
  return rows.map(({ tags }) => tags);
}

describe("PATCH /tags/{org}/{resource_type}/{resource_id}", () => {
  it("sets, overwrites and removes; repeating it changes nothing", async () => {
    const org = await withEnvironment();
    const first = await patch(org, "env/e", {
      set_tags: { team: "core", "managed-by": "tf" },
      remove_tags: [],
    });
    expect([first.status, first.text]).toEqual([200, '"OK"']);
    expect(await tagsOf(org, "e")).toEqual({ team: "core", "managed-by": "tf" });
    const change = { set_tags: { team: "web" }, remove_tags: ["managed-by", "absent"] };
    for (let round = 0; round < 3; round += 1) expect((await patch(org, "env/e", change)).status).toBe(200);
    expect(await tagsOf(org, "e")).toEqual({ team: "web" });
    await patch(org, "env/e", { set_tags: { both: "set" }, remove_tags: ["both"] });
    expect(await tagsOf(org, "e")).toEqual({ team: "web", both: "set" });
    await patch(org, "env/e", { set_tags: { "a.b~c_d": "", "9": "ünï ✓ 'q' \"\\" } });
    expect(await tagsOf(org, "e")).toMatchObject({ "a.b~c_d": "", "9": "ünï ✓ 'q' \"\\" });
    const audited = (await auditedResources(org, app)).filter((entry) => entry.startsWith("patch_tags"));
    expect(audited).toEqual(Array.from({ length: 4 }, () => "patch_tags environment e"));
  });

  it.each([
    {},
    { set_tags: {}, remove_tags: [] },
    { set_tags: null, remove_tags: null },
    { remove_tags: "" },
    { set_tags: {}, remove_tags: "" },
  ])("accepts the empty change %j", async (body) => {
    const org = await withEnvironment();
    expect((await patch(org, "env/e", body)).status).toBe(200);
    expect(await tagsOf(org, "e")).toEqual({});
  });

  it.each([
    [{ set_tags: "" }, "set_tags", "Input should be a valid dictionary [input: ]"],
    [{ set_tags: [] }, "set_tags", "Input should be a valid dictionary [input: []]"],
    [{ set_tags: { a: 1 } }, "set_tags.a", "Input should be a valid string [input: 1]"],
    [{ set_tags: { a: null } }, "set_tags.a", "Input should be a valid string [input: None]"],
    [
      { set_tags: { "bad key": "x" } },
      "set_tags.bad key",
      String.raw`String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\-_\.~]*$' [input: bad key]`,
    ],
    [
      { set_tags: { "a:b": "x" } },
      "set_tags.a:b",
      String.raw`String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\-_\.~]*$' [input: a:b]`,
    ],
    [{ remove_tags: "x" }, "remove_tags", "Input should be a valid list [input: x]"],
    [{ remove_tags: [1] }, "remove_tags[0]", "Input should be a valid string [input: 1]"],
    [{ tags: {} }, "tags", "Extra inputs are not permitted [input: {}]"],
  ])("refuses %j", async (body, location, text) => {
    const org = await withEnvironment();
    const answer = await patch(org, "env/e", body);
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Input payload validation failed", errors: { [location]: text } },
    ]);
  });

  it("limits keys, values and their number", async () => {
    const org = await withEnvironment();
    expect((await patch(org, "env/e", { set_tags: { ["k".repeat(129)]: "" } })).status).toBe(400);
    expect((await patch(org, "env/e", { set_tags: { k: "v".repeat(1025) } })).status).toBe(400);
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));
    expect((await patch(org, "env/e", { set_tags: many(100) })).status).toBe(200);
    const over = await patch(org, "env/e", { set_tags: { more: "x" } });
    expect([over.status, over.json]).toEqual([400, { message: "A resource can have at most 100 tags" }]);
    expect(Object.keys(await tagsOf(org, "e"))).toHaveLength(100);
    expect((await patch(org, "env/e", { set_tags: { more: "x" }, remove_tags: ["k0"] })).status).toBe(200);
    expect(
      (await patch(org, "env/e", { set_tags: { ["k".repeat(128)]: "v".repeat(1024) }, remove_tags: ["k1"] }))
        .status,
    ).toBe(200);
  });

  it("loses no tag when many are set at once", async () => {
    const org = await withEnvironment();
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    const answers = await Promise.all(keys.map((key) => patch(org, "env/e", { set_tags: { [key]: "v" } })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(Object.keys(await tagsOf(org, "e")).toSorted()).toEqual(keys.toSorted());
  });

  it.each(["policy", "ENV", "constructor"])("refuses the resource type %s", async (kind) => {
    const org = await withEnvironment();
    const answer = await patch(org, `${kind}/e`, { set_tags: { a: "b" } });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(`'${kind}'`);
  });

  it("is for members", async () => {
    const org = await withEnvironment();
    expect((await org.snapshotter.patch(`/tags/${org.name}/env/e`, {})).status).toBe(403);
  });
});

describe("tags of environments", () => {
  it.each(["env", "environment", "environments"])("are reached as %s", async (kind) => {
    const org = await withEnvironment();
    expect((await patch(org, `${kind}/e`, { set_tags: { a: kind } })).status).toBe(200);
    expect(await tagsOf(org, "e")).toEqual({ a: kind });
  });

  it("follow renames and survive updates", async () => {
    const org = await withEnvironment();
    await org.member.put(`/environments/${org.name}/e/rename`, { new_name: "f" });
    expect((await patch(org, "env/e", { set_tags: { a: "b" } })).status).toBe(200);
    await createEnvironment(org, "f", { description: "new" });
    await org.member.patch(`/environments/${org.name}/f`, { description: "newer" });
    expect(await tagsOf(org, "f")).toEqual({ a: "b" });
  });

  it("count as a modification", async () => {
    const org = await withEnvironment();
    const modified = async () => (await org.reader.get(`/environments/${org.name}/e`)).json.last_modified_at;
    const before = await modified();
    app.clock.advance(5);
    await patch(org, "env/e", {});
    expect(await modified()).toBe(before);
    await patch(org, "env/e", { set_tags: { a: "b" } });
    expect(await modified()).toBeGreaterThan(before + 4);
  });

  it("are 404 as reads are", async () => {
    const org = await withEnvironment();
    const none = await patch(org, "env/nope", { set_tags: { a: "b" } });
    expect([none.status, none.json]).toEqual([
      404,
      { message: `Environment named 'nope' does not exist for organization '${org.name}'` },
    ]);
    await org.member.put(`/environments/${org.name}/e/archive`);
    const archived = await patch(org, "env/e", { set_tags: { a: "b" } });
    expect([archived.status, archived.json]).toEqual([
      404,
      { message: `Environment named 'e' has been archived for organization '${org.name}'` },
    ]);
    const [{ name }] = (await org.reader.get(`/environments/${org.name}?archived=true`)).json;
    expect((await patch(org, `env/${name}`, { set_tags: { a: "b" } })).status).toBe(200);
    expect(await tagsOf(org, name)).toEqual({ a: "b" });
  });
});

describe("tags of what was renamed", () => {
  it("are recorded under the name it has now", async () => {
    const org = await withEnvironment("old");
    await org.member.put(`/environments/${org.name}/old/rename`, { new_name: "new" });
    expect((await patch(org, "env/old", { set_tags: { a: "b" } })).status).toBe(200);
    expect((await auditedResources(org, app)).at(-1)).toBe("patch_tags environment new");
  });
});

describe("tags of other resources", () => {
  it.each(["flow", "flows"])("%s: by present and former name", async (kind) => {
    const org = await app.org();
    await insertFlow(org, "web-ci", "old-ci");
    expect((await patch(org, `${kind}/web-ci`, { set_tags: { a: "b" } })).status).toBe(200);
    expect((await patch(org, `${kind}/old-ci`, { set_tags: { c: "d" } })).status).toBe(200);
    expect(await storedTags(org, "flows")).toEqual([{ a: "b", c: "d" }]);
    expect(await auditedResources(org, app)).toEqual(["patch_tags flow web-ci", "patch_tags flow web-ci"]);
    const none = await patch(org, `${kind}/nope`, { set_tags: { a: "b" } });
    expect([none.status, none.json]).toEqual([
      404,
      { message: `Flow named 'nope' does not exist for organization '${org.name}'` },
    ]);
  });

  it.each(["repo", "repos"])("%s: by internal id", async (kind) => {
    const org = await app.org();
    const id = await insertRepo(org);
    expect((await patch(org, `${kind}/${id}`, { set_tags: { a: "b" } })).text).toBe('"OK"');
    expect(await storedTags(org, "repos")).toEqual([{ a: "b" }]);
    const other = await app.org();
    for (const unknown of ["acme", "00000000-0000-7000-8000-00000000"]) {
      const none = await patch(org, `${kind}/${unknown}`, { set_tags: { a: "b" } });
      expect([none.status, none.json]).toEqual([
        404,
        { message: `"Repo '${unknown}' does not exist in organization '${org.name}'"` },
      ]);
    }
    expect((await patch(other, `${kind}/${id}`, { set_tags: { a: "b" } })).status).toBe(404);
  });

  it.each(["control", "controls"])("%s: by identifier", async (kind) => {
    const org = await app.org();
    await createControl(org, "CTL-1");
    expect((await patch(org, `${kind}/CTL-1`, { set_tags: { a: "b" } })).text).toBe('"OK"');
    expect((await org.reader.get(`/controls/${org.name}/CTL-1`)).json.tags).toEqual({ a: "b" });
    const none = await patch(org, `${kind}/no-such-control`, { set_tags: { a: "b" } });
    expect([none.status, none.json]).toEqual([
      404,
      { message: `"Control 'no-such-control' does not exist in organization '${org.name}'"` },
    ]);
  });
});
