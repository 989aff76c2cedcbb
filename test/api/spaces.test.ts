import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment, listedNames } from "../support/environments.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function create(org: TestOrg, name: string, parent_id?: string | null): Promise<string> {
  const answer = await org.admin.post(`/spaces/${org.name}`, {
    name,
    ...(parent_id === undefined ? {} : { parent_id }),
  });
  expect([answer.status, answer.json.message]).toEqual([201, undefined]);
  return answer.json.id;
}

const noSpace = "00000000-0000-7000-8000-00000000";
const unknown = (id: string, org: TestOrg): unknown[] => [
  404,
  { message: `Space '${id}' does not exist in organization '${org.name}'` },
];

describe("spaces", () => {
  it("are created and listed flat, by name", async () => {
    const org = await app.org();
    expect((await org.reader.get(`/spaces/${org.name}`)).json).toEqual([]);
    const top = await create(org, "Top");
    const below = await create(org, "Alpha team ✓", top);
    await create(org, "Top", top);
    const list = (await org.reader.get(`/spaces/${org.name}`)).json;
    expect(
      list.map(({ name, parent_id }: { name: string; parent_id: string | null }) => [name, parent_id]),
    ).toEqual([
      ["Alpha team ✓", top],
      ["Top", null],
      ["Top", top],
    ]);
    expect(list[0].id).toBe(below);
    expect(below).toMatch(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/);
    const first = list[1];
    expect(first.created_at).toBe(first.last_modified_at);
    expect(await auditedResources(org, app)).toHaveLength(3);
  });

  it("have names of their own among siblings", async () => {
    const org = await app.org();
    const top = await create(org, "A");
    const other = await create(org, "B");
    for (const answer of [
      await org.admin.post(`/spaces/${org.name}`, { name: "A", parent_id: null }),
      await org.admin.patch(`/spaces/${org.name}/${other}`, { name: "A" }),
    ])
      expect([answer.status, answer.json]).toEqual([
        400,
        { message: "A space named 'A' already exists in the same place" },
      ]);
    await create(org, "A", top);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => org.admin.post(`/spaces/${org.name}`, { name: "C" })),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      "201",
      ...Array.from({ length: 9 }, () => "400"),
    ]);
  });

  it.each([
    [{}, "name", "Field required [input: None]"],
    [{ name: "" }, "name", String.raw`String should match pattern '^\S(?:.*\S)?$' [input: ]`],
    [{ name: " a" }, "name", String.raw`String should match pattern '^\S(?:.*\S)?$' [input:  a]`],
    [
      { name: "a".repeat(129) },
      "name",
      `String should have at most 128 characters [input: ${"a".repeat(129)}]`,
    ],
    [{ name: 5 }, "name", "Input should be a valid string [input: 5]"],
    [{ name: "a", parent_id: 5 }, "parent_id", "Input should be a valid string [input: 5]"],
    [{ name: "a", x: 1 }, "x", "Extra inputs are not permitted [input: 1]"],
  ])("refuse %j", async (body, location, text) => {
    const org = await app.org();
    const answer = await org.admin.post(`/spaces/${org.name}`, body);
    expect([answer.status, answer.json.errors]).toEqual([400, { [location]: text }]);
  });

  it("are unknown by wrong ids and in other organizations", async () => {
    const org = await app.org();
    const foreign = await create(await app.org(), "F");
    const own = await create(org, "own");
    for (const id of [noSpace, "nonsense", foreign]) {
      for (const answer of [
        await org.admin.patch(`/spaces/${org.name}/${id}`, { name: "x" }),
        await org.admin.delete(`/spaces/${org.name}/${id}`),
      ])
        expect([answer.status, answer.json]).toEqual(unknown(id, org));
      for (const answer of [
        await org.admin.post(`/spaces/${org.name}`, { name: "x", parent_id: id }),
        await org.admin.patch(`/spaces/${org.name}/${own}`, { parent_id: id }),
      ])
        expect([answer.status, answer.json.errors]).toEqual([
          400,
          { parent_id: `Space does not exist [input: ${id}]` },
        ]);
    }
  });

  it("are written by admins and read by everybody in the organization", async () => {
    const org = await app.org();
    const id = await create(org, "A");
    for (const answer of [
      await org.member.post(`/spaces/${org.name}`, { name: "B" }),
      await org.member.patch(`/spaces/${org.name}/${id}`, { name: "B" }),
      await org.member.delete(`/spaces/${org.name}/${id}`),
    ])
      expect(answer.status).toBe(403);
    expect((await org.reader.get(`/spaces/${org.name}`)).json).toHaveLength(1);
    expect((await app.anonymous.get(`/spaces/${org.name}`)).status).toBe(401);
  });
});

describe("PATCH /spaces/{org}/{space_id}", () => {
  it("renames and moves, and changes nothing when nothing is given", async () => {
    const org = await app.org();
    const a = await create(org, "a");
    const b = await create(org, "b");
    const before = (await org.admin.patch(`/spaces/${org.name}/${b}`, {})).json;
    app.clock.advance(5);
    const moved = await org.admin.patch(`/spaces/${org.name}/${b}`, { name: "bb", parent_id: a });
    expect([moved.status, moved.json]).toEqual([
      200,
      { ...before, name: "bb", parent_id: a, last_modified_at: expect.any(Number) },
    ]);
    expect(moved.json.last_modified_at).toBeGreaterThan(before.last_modified_at + 4);
    const kept = await org.admin.patch(`/spaces/${org.name}/${b}`, { name: "bb" });
    expect(kept.json).toEqual(moved.json);
    const up = await org.admin.patch(`/spaces/${org.name}/${b}`, { parent_id: null });
    expect(up.json.parent_id).toBeNull();
    expect(await auditedResources(org, app)).toHaveLength(4);
  });

  it("makes no cycles", async () => {
    const org = await app.org();
    const a = await create(org, "a");
    const b = await create(org, "b", a);
    const c = await create(org, "c", b);
    for (const parent_id of [a, b, c]) {
      const answer = await org.admin.patch(`/spaces/${org.name}/${a}`, { parent_id });
      expect([answer.status, answer.json]).toEqual([
        400,
        { message: "A space cannot be moved below itself" },
      ]);
    }
    expect((await org.admin.patch(`/spaces/${org.name}/${c}`, { parent_id: a })).status).toBe(200);
  });

  it("makes no cycles when spaces are moved into each other at once", async () => {
    const org = await app.org();
    for (let round = 0; round < 5; round += 1) {
      const ids = [
        await create(org, `x${round}`),
        await create(org, `y${round}`),
        await create(org, `z${round}`),
      ];
      const moves = ids.map((id, index) =>
        org.admin.patch(`/spaces/${org.name}/${id}`, { parent_id: ids[(index + 1) % 3] }),
      );
      const statuses = (await Promise.all(moves)).map(({ status }) => String(status)).toSorted();
      expect(statuses).toEqual(["200", "200", "400"]);
    }
  });
});

describe("DELETE /spaces/{org}/{space_id}", () => {
  it("deletes only what is empty", async () => {
    const org = await app.org();
    const top = await create(org, "top");
    const low = await create(org, "low", top);
    const path = (id: string) => `/spaces/${org.name}/${id}`;
    const refused = [400, { message: "Space is not empty" }];
    const withSpace = await org.admin.delete(path(top));
    expect([withSpace.status, withSpace.json]).toEqual(refused);
    await createEnvironment(org, "e");
    await org.member.patch(`/environments/${org.name}/e`, { space_id: low });
    const withEnvironment = await org.admin.delete(path(low));
    expect([withEnvironment.status, withEnvironment.json]).toEqual(refused);
    await org.member.patch(`/environments/${org.name}/e`, { space_id: null });
    await app.deps.db.pool.query(
      `insert into flows (org_id, id, name, template, template_id, space_id, created_at, created_by_name)
       values ($1, gen_random_uuid(), 'f', '', gen_random_uuid(), $2, now(), 'x')`,
      [org.id, `${low}0000`],
    );
    const withFlow = await org.admin.delete(path(low));
    expect([withFlow.status, withFlow.json]).toEqual(refused);
    await app.deps.db.pool.query(
      "update flows set archived_at = now(), original_name = 'f', name = 'f-archived-at-1' where org_id = $1",
      [org.id],
    );
    expect((await org.admin.delete(path(low))).text).toBe('"OK"');
    const { rows } = await app.deps.db.pool.query("select space_id from flows where org_id = $1", [org.id]);
    expect(rows).toEqual([{ space_id: null }]);
    expect((await org.admin.delete(path(top))).status).toBe(200);
    const again = await org.admin.delete(path(top));
    expect([again.status, again.json]).toEqual(unknown(top, org));
  });

  it("moves archived environments to the root", async () => {
    const org = await app.org();
    const id = await create(org, "s");
    await createEnvironment(org, "e");
    await org.member.patch(`/environments/${org.name}/e`, { space_id: id });
    await org.member.put(`/environments/${org.name}/e/archive`);
    expect(await listedNames(org.reader, org, `?archived=true&space_id=${id}`)).toHaveLength(1);
    expect((await org.admin.delete(`/spaces/${org.name}/${id}`)).status).toBe(200);
    expect(await listedNames(org.reader, org, "?archived=true")).toHaveLength(1);
    expect(await listedNames(org.reader, org, `?archived=true&space_id=${id}`)).toEqual([]);
  });

  it("races with an environment moving in: one of them loses, clearly", async () => {
    const org = await app.org();
    await createEnvironment(org, "e");
    for (let round = 0; round < 8; round += 1) {
      const id = await create(org, `s${round}`);
      const [move, removal] = await Promise.all([
        org.member.patch(`/environments/${org.name}/e`, { space_id: id }),
        org.admin.delete(`/spaces/${org.name}/${id}`),
      ]);
      expect([
        [200, 400],
        [400, 200],
      ]).toContainEqual([move.status, removal.status]);
    }
  });
});
