import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { wireId } from "../../src/lib/ids.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

async function audited(): Promise<{ action: string; resource: string; actor_name: string }[]> {
  return app.deps.db.all(query({ action: text, resource: text, actor_name: text })`
    select action, resource, actor_name from audit_log where org_id = ${org.id} order by seq`);
}

function missing(flow: string): { message: string } {
  return { message: `Flow named '${flow}' does not exist for organization '${org.name}'` };
}

describe("PUT /flows/{org}/{flow}/rename", () => {
  const rename = (flow: string, new_name: unknown) =>
    org.member.put(`/flows/${org.name}/${flow}/rename`, { new_name });

  it("renames, and keeps the old name leading to the flow until another takes it", async () => {
    await putFlow(org.member, org.name, { name: "a", description: "first" });
    expect((await rename("a", "b")).json).toBe("OK");
    expect((await rename("a", "c")).status).toBe(200);
    for (const name of ["a", "b", "c"])
      expect((await org.reader.get(`/flows/${org.name}/${name}`)).json).toMatchObject({
        name: "c",
        description: "first",
      });
    expect((await putFlow(org.member, org.name, { name: "a", description: "second" })).status).toBe(201);
    expect((await org.reader.get(`/flows/${org.name}/a`)).json.description).toBe("second");
    expect((await org.reader.get(`/flows/${org.name}/b`)).json.description).toBe("first");
    expect((await org.reader.get(`/flows/${org.name}`)).json).toHaveLength(2);
  });

  it("can go back to a former name, and to a former name of another flow", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    await rename("a", "b");
    expect((await rename("b", "a")).status).toBe(200);
    expect((await org.reader.get(`/flows/${org.name}/b`)).json.name).toBe("a");
    await putFlow(org.member, org.name, { name: "x", description: "x" });
    expect((await rename("x", "b")).status).toBe(200);
    expect((await org.reader.get(`/flows/${org.name}/b`)).json.description).toBe("x");
  });

  it("changes and records nothing when the name is the same", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    expect((await rename("a", "a")).status).toBe(200);
    expect(await audited()).toHaveLength(1);
  });

  it("looks at the new name before it looks for the flow", async () => {
    const answer = await rename("nope", "new illegal name");
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      message: "Input payload validation failed",
      errors: {
        new_name: "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$' [input: new illegal name]",
      },
    });
    expect((await rename("nope", undefined)).json.errors).toEqual({
      new_name: "Field required [input: None]",
    });
  });

  it("answers an unknown flow with 404 and a taken name with 400", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    await putFlow(org.member, org.name, { name: "b" });
    const unknown = await rename("nope", "c");
    expect([unknown.status, unknown.json]).toEqual([404, missing("nope")]);
    const taken = await rename("a", "b");
    expect([taken.status, taken.json]).toEqual([
      400,
      { message: `Flow named 'b' already exists for organization '${org.name}'` },
    ]);
  });

  it("gives a name to one of many who want it", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `f${index}`);
    await Promise.all(names.map((name) => putFlow(org.member, org.name, { name })));
    const answers = await Promise.all(names.map((name) => rename(name, "wanted")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(11);
  });

  it("is denied to readers and snapshotters", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    for (const client of [org.reader, org.snapshotter])
      expect((await client.put(`/flows/${org.name}/a/rename`, { new_name: "b" })).status).toBe(403);
  });
});

describe("PUT /flows/{org}/{flow}/archive", () => {
  it.each([{ payload: "null", headers: { "content-type": "application/json" } }, {}])(
    "archives with the body %j, frees the name and is 404 the second time",
    async (options) => {
      await putFlow(org.member, org.name, { name: "a", description: "first" });
      const archive = () => org.member.request("PUT", `/flows/${org.name}/a/archive`, options);
      const answer = await archive();
      expect([answer.status, answer.json]).toEqual([200, "OK"]);
      const again = await archive();
      expect([again.status, again.json]).toEqual([404, missing("a")]);
      expect((await org.reader.get(`/flows/${org.name}/a`)).status).toBe(404);
      expect((await org.reader.get(`/flows/${org.name}`)).json).toEqual([]);
      expect((await putFlow(org.member, org.name, { name: "a", description: "second" })).status).toBe(201);
      expect((await org.reader.get(`/flows/${org.name}/a`)).json.description).toBe("second");
    },
  );

  async function archivedNames(): Promise<string[]> {
    const rows = await app.deps.db.all(query({ name: text })`
      select name from flows where org_id = ${org.id} and archived_at is not null order by name`);
    return rows.map(({ name }) => name);
  }

  it("keeps the flow readable under its archived name, and only readable", async () => {
    await putFlow(org.member, org.name, { name: "a" }, sampleTemplate);
    await putTrail(org.member, `${org.name}/a`, { name: "t" });
    await org.member.put(`/flows/${org.name}/a/archive`);
    const [name] = await archivedNames();
    expect(name).toMatch(/^a-archived-at-\d{10}$/);
    expect((await org.reader.get(`/flows/${org.name}/${name}`)).json.template).toBe(sampleTemplate);
    expect((await org.reader.get(`/trails/${org.name}/${name}/t`)).status).toBe(200);
    expect((await putFlow(org.member, org.name, { name })).status).toBe(400);
    expect((await putTrail(org.member, `${org.name}/${name}`, { name: "t" })).status).toBe(400);
    expect((await org.member.put(`/flows/${org.name}/${name}/archive`)).status).toBe(404);
    expect((await org.member.put(`/flows/${org.name}/${name}/rename`, { new_name: "x" })).status).toBe(404);
    expect((await org.member.patch(`/flows/${org.name}/${name}`, { space_id: null })).status).toBe(404);
  });

  it("archives flows of one name within one second under different names", async () => {
    for (let round = 0; round < 4; round += 1) {
      expect((await putFlow(org.member, org.name, { name: "a" })).status).toBe(201);
      expect((await org.member.put(`/flows/${org.name}/a/archive`)).status).toBe(200);
    }
    expect(new Set(await archivedNames()).size).toBe(4);
  });

  it("archives by a former name, and forgets the former names", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    await org.member.put(`/flows/${org.name}/a/rename`, { new_name: "b" });
    expect((await org.member.put(`/flows/${org.name}/a/archive`)).status).toBe(200);
    for (const name of ["a", "b"])
      expect((await org.reader.get(`/flows/${org.name}/${name}`)).status).toBe(404);
    expect((await archivedNames())[0]).toMatch(/^b-archived-at-/);
  });

  it("answers an unknown flow with 404 and others' roles with 403", async () => {
    const unknown = await org.member.put(`/flows/${org.name}/nope/archive`);
    expect([unknown.status, unknown.json]).toEqual([404, missing("nope")]);
    for (const client of [org.reader, org.snapshotter])
      expect((await client.put(`/flows/${org.name}/nope/archive`)).status).toBe(403);
  });

  it("archives once for many simultaneous requests", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => org.member.put(`/flows/${org.name}/a/archive`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });
});

describe("PATCH /flows/{org}/{flow}", () => {
  async function space(parent_id: string | null = null): Promise<string> {
    const id = app.deps.ids.next();
    await app.deps.db.pool.query(
      "insert into spaces (org_id, id, parent_id, name, created_at, last_modified_at) values ($1, $2, $3, 's', now(), now())",
      [org.id, id, parent_id],
    );
    return id;
  }

  it("moves a flow into a space and back to the root", async () => {
    const id = wireId(await space());
    await putFlow(org.member, org.name, { name: "a" });
    for (const space_id of [id, id, null]) {
      const answer = await org.member.patch(`/flows/${org.name}/a`, { space_id });
      expect([answer.status, answer.json]).toEqual([200, "OK"]);
      expect((await org.reader.get(`/flows/${org.name}/a`)).json.space_id).toBe(space_id);
    }
    expect(await audited()).toHaveLength(3);
  });

  it("refuses spaces that are not there, also of another organization", async () => {
    await putFlow(org.member, org.name, { name: "a" });
    const foreign = await space();
    const other = await app.org();
    await putFlow(other.member, other.name, { name: "a" });
    for (const space_id of [wireId(foreign), wireId(app.deps.ids.next()), "x", "", "\u0001"]) {
      const answer = await other.member.patch(`/flows/${other.name}/a`, { space_id });
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual({ space_id: `Space does not exist [input: ${space_id}]` });
    }
    expect((await org.member.patch(`/flows/${org.name}/a`, {})).json.errors).toEqual({
      space_id: "Field required [input: None]",
    });
  });

  it("answers an unknown flow with 404 and others' roles with 403", async () => {
    const unknown = await org.member.patch(`/flows/${org.name}/nope`, { space_id: null });
    expect([unknown.status, unknown.json]).toEqual([404, missing("nope")]);
    for (const client of [org.reader, org.snapshotter])
      expect((await client.patch(`/flows/${org.name}/nope`, { space_id: null })).status).toBe(403);
  });
});
