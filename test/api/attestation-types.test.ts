import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { countRows } from "../../src/db/count-rows.ts";
import { sql } from "../../src/db/sql.ts";
import { findAttestationType } from "../../src/modules/process/attestation-types/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import type { Answer, Client } from "../support/client.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

function post(data: unknown, schema?: unknown, client: Client = org.member): Promise<Answer> {
  return client.request("POST", `/custom-attestation-types/${org.name}`, { parts: partsOf(data, schema) });
}

function get(name: string, query = ""): Promise<Answer> {
  return org.reader.get(`/custom-attestation-types/${org.name}/${name}${query}`);
}

async function posted(data: Record<string, unknown>, schema?: unknown): Promise<string> {
  const name = uniqueName("type");
  const answer = await post({ name, ...data }, schema);
  expect(answer.text).toBe('"OK"');
  expect(answer.status).toBe(201);
  return name;
}

async function countVersions(name: string): Promise<number> {
  return (await get(name)).json.versions.length;
}

const withoutRules = { content_type: "default" };
const schema = { type: "object", properties: { line: { type: "number" } }, additionalProperties: true };

describe("POST /custom-attestation-types/{org}", () => {
  it("stores everything and shows it as it was given", async () => {
    const before = app.clock.now();
    const rules = ['.line >= 80 and (.tags | map(select(startswith("a"))) | length) == 1', ".ok"];
    const summary = [
      { name: "Lines", expression: ".line" },
      { name: "Branches", expression: '"\\(.branch)%"' },
    ];
    const name = await posted({ description: "line coverage", evaluator: jq(...rules), summary }, schema);
    const { status, json } = await get(name);
    expect(status).toBe(200);
    const created_by = json.created_by;
    expect(json).toEqual({
      name,
      org: org.name,
      description: "line coverage",
      archived: false,
      created_by: expect.any(String),
      created_at: expect.any(Number),
      last_modified_at: json.created_at,
      versions: [
        {
          version: 1,
          timestamp: json.created_at,
          created_by,
          type_schema: schema,
          evaluator: jq(...rules),
          summary,
        },
      ],
    });
    expect(json.created_at).toBeGreaterThanOrEqual(before);
  });

  it("takes a name alone, and shows neither description nor schema, rules and summary", async () => {
    const name = await posted({});
    const { json } = await get(name);
    expect(json).not.toHaveProperty("description");
    expect(json.versions).toEqual([
      expect.objectContaining({ version: 1, type_schema: null, evaluator: withoutRules, summary: null }),
    ]);
    expect(json.versions[0]).not.toHaveProperty("comment");
  });

  it.each([
    [{ description: null, evaluator: null, summary: null }],
    [{ description: "", evaluator: { content_type: "default" }, summary: [] }],
    [{ evaluator: {} }],
  ])("takes %j for nothing given", async (data) => {
    const name = await posted({});
    expect((await post({ name, ...data })).status).toBe(201);
    expect(await countVersions(name)).toBe(1);
    expect((await get(name)).json).not.toHaveProperty("description");
  });

  it("takes names with a period and rules without a content type", async () => {
    const name = `${uniqueName("type")}.v1~_x`;
    expect((await post({ name, evaluator: { rules: [".a"] } })).status).toBe(201);
    expect((await get(name)).json.versions[0].evaluator).toEqual(jq(".a"));
  });

  it("makes a version of each change and of nothing else", async () => {
    const full = {
      description: "d",
      evaluator: jq(".a", ".b"),
      summary: [
        { name: "A", expression: ".a" },
        { name: "B", expression: ".b" },
      ],
    };
    const name = await posted(full, schema);
    const reordered = `{ "additionalProperties": true,\n "properties": {"line": {"type": "number"}}, "type": "object" }`;
    const changes: [unknown, unknown, number][] = [
      [full, schema, 1],
      [full, reordered, 1],
      [{ ...full, description: "other" }, schema, 2],
      [full, schema, 3],
      [full, { ...schema, required: ["line"] }, 4],
      [full, { ...schema, required: ["line"] }, 4],
      [full, undefined, 5],
      [{ ...full, evaluator: jq(".b", ".a") }, undefined, 6],
      [{ ...full, evaluator: undefined }, undefined, 7],
      [{ ...full, evaluator: null }, undefined, 7],
      [{ ...full, evaluator: null, summary: full.summary.toReversed() }, undefined, 8],
      [{}, undefined, 9],
    ];
    for (const [data, file, versions] of changes) {
      expect((await post({ name, ...(data as object) }, file)).status).toBe(201);
      expect(await countVersions(name)).toBe(versions);
    }
    const { versions, ...type } = (await get(name)).json;
    expect(versions.map((version: { version: number }) => version.version)).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
    expect(versions[4]).toMatchObject({ version: 5, type_schema: null, evaluator: jq(".a", ".b") });
    expect(versions[2]).toMatchObject({ version: 7, evaluator: withoutRules });
    expect(type).not.toHaveProperty("description");
    expect(type.last_modified_at).toBe(versions[0].timestamp);
    expect(type.created_at).toBe(versions[8].timestamp);
  });

  it("makes one version of fifty equal requests at once", async () => {
    const name = uniqueName("type");
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => post({ name, evaluator: jq(".a") }, schema)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 201));
    expect(await countVersions(name)).toBe(1);
    expect(await auditRows(name)).toBe(1);
  });

  it("numbers different definitions that arrive at once without gaps", async () => {
    const name = uniqueName("type");
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => post({ name, description: `d${index}` })),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    const { versions } = (await get(name)).json;
    expect(versions.map((version: { version: number }) => version.version)).toEqual([
      10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
  });

  it("audits what changes something", async () => {
    const name = await posted({});
    expect(await auditRows(name)).toBe(1);
    await post({ name });
    expect(await auditRows(name)).toBe(1);
    await post({ name, description: "x" });
    expect(await auditRows(name)).toBe(2);
  });
});

function auditRows(name: string): Promise<number> {
  const entries = sql`audit_log
    where org_id = ${org.id} and resource_type = 'custom_attestation_type' and resource = ${name}`;
  return countRows(app.deps.db, entries);
}

describe("GET /custom-attestation-types/{org}/{name}", () => {
  it("shows one version without what concerns all of them", async () => {
    const name = await posted({ description: "first" }, schema);
    await post({ name });
    const first = await get(name, "?version=1");
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      name,
      org: org.name,
      description: "first",
      archived: false,
      versions: [
        {
          version: 1,
          timestamp: expect.any(Number),
          created_by: expect.any(String),
          type_schema: schema,
          evaluator: withoutRules,
          summary: null,
        },
      ],
    });
    const second = await get(name, "?version=2");
    expect(Object.keys(second.json).sort()).toEqual(["archived", "name", "org", "versions"]);
  });

  it("says which type or version there is not", async () => {
    const name = await posted({});
    for (const query of ["", "?version=1"]) {
      const unknown = await get("no-such-type", query);
      expect(unknown.status).toBe(404);
      expect(unknown.json.message).toBe(
        `Custom attestation type 'no-such-type' does not exist for org '${org.name}'`,
      );
    }
    for (const version of ["10", "0", "-1", "99999999999"]) {
      const answer = await get(name, `?version=${version}`);
      expect(answer.status).toBe(404);
      expect(answer.json.message).toBe(
        `version ${version} does not exist for custom attestation type '${name}'`,
      );
    }
    const answer = await get(name, "?version=x");
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual(["query.version"]);
  });
});

describe("GET /custom-attestation-types/{org}", () => {
  it("lists types, the newest first, without archived ones", async () => {
    const own = await app.org();
    const list = () => own.reader.get(`/custom-attestation-types/${own.name}`);
    expect((await list()).json).toEqual([]);
    for (const name of ["b", "a", "C"])
      await own.member.request("POST", `/custom-attestation-types/${own.name}`, { parts: partsOf({ name }) });
    await own.member.put(`/custom-attestation-types/${own.name}/b/archive`);
    const { status, json } = await list();
    expect(status).toBe(200);
    expect(json.map((type: { name: string; archived: boolean }) => [type.name, type.archived])).toEqual([
      ["C", false],
      ["a", false],
    ]);
    expect(json[0]).toEqual((await own.reader.get(`/custom-attestation-types/${own.name}/C`)).json);
  });
});

describe("PUT /custom-attestation-types/{org}/{name}/archive", () => {
  const archive = (name: string, client = org.member) =>
    client.request("PUT", `/custom-attestation-types/${org.name}/${name}/archive`, {
      payload: "null",
      headers: { "content-type": "application/json; charset=utf-8" },
    });

  it("archives once, and stays readable", async () => {
    const name = await posted({ description: "d" });
    const before = (await get(name)).json;
    for (let time = 0; time < 2; time += 1) {
      const answer = await archive(name);
      expect([answer.status, answer.json]).toEqual([200, "OK"]);
    }
    const after = (await get(name)).json;
    expect(after).toEqual({ ...before, archived: true, last_modified_at: after.last_modified_at });
    expect(after.last_modified_at).toBeGreaterThan(before.last_modified_at);
    expect(await auditRows(name)).toBe(2);
    expect((await get(name, "?version=1")).json.archived).toBe(true);
  });

  it("takes a request without a body", async () => {
    const name = await posted({});
    expect((await org.member.put(`/custom-attestation-types/${org.name}/${name}/archive`)).status).toBe(200);
  });

  it("says when there is no such type", async () => {
    const answer = await archive("no-such-type");
    expect(answer.status).toBe(404);
    expect(answer.json.message).toBe(
      `Custom attestation type 'no-such-type' does not exist for org '${org.name}'`,
    );
  });

  it("is undone by posting the name again, with a new version only for a change", async () => {
    const name = await posted({ description: "d" });
    await archive(name);
    await post({ name, description: "d" });
    expect((await get(name)).json).toMatchObject({ archived: false, versions: [{ version: 1 }] });
    expect(await auditRows(name)).toBe(3);
    await archive(name);
    await post({ name, description: "e" });
    expect((await get(name)).json).toMatchObject({
      archived: false,
      versions: [{ version: 2 }, { version: 1 }],
    });
  });
});

describe("roles", () => {
  it("let members and admins write, and everybody read", async () => {
    const name = uniqueName("type");
    for (const client of [org.snapshotter, org.reader]) {
      expect((await post({ name }, undefined, client)).status).toBe(403);
      const answer = await client.put(`/custom-attestation-types/${org.name}/${name}/archive`);
      expect(answer.status).toBe(403);
      expect(answer.json.message).toBe("You don't have permission to access this resource");
    }
    expect((await post({ name }, undefined, org.admin)).status).toBe(201);
    for (const client of [org.reader, org.snapshotter, org.member, org.admin])
      expect((await client.get(`/custom-attestation-types/${org.name}/${name}`)).status).toBe(200);
  });
});

describe("findAttestationType", () => {
  it("finds the latest version, or the one named", async () => {
    const name = await posted({ description: "one" });
    await post({ name, description: "two", evaluator: jq(".a") });
    const find = (text: string) => findAttestationType(app.deps.db, org.id, text);
    expect(await find(name)).toMatchObject({
      org_id: org.id,
      name,
      archived: false,
      version: 2,
      description: "two",
      evaluator: jq(".a"),
    });
    expect(await find(`${name}@v1`)).toMatchObject({ version: 1, description: "one", evaluator: null });
    for (const text of [`${name}@v3`, `${name}@1`, `${name}@v0`, `${name}@v`, `@v1`, "no-such", "a\0b", ""])
      expect(await find(text)).toBeUndefined();
    const other = await app.org();
    expect(await findAttestationType(app.deps.db, other.id, name)).toBeUndefined();
  });
});
