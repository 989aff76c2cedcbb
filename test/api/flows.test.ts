import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { text, timestamp, uuid } from "../../src/db/row.ts";
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

describe("PUT /flows/{org}/template_file", () => {
  it("creates a flow, then updates it", async () => {
    const created = await putFlow(
      org.member,
      org.name,
      { name: "web-ci", description: "web" },
      sampleTemplate,
    );
    expect([created.status, created.json]).toEqual([201, "OK"]);
    const updated = await putFlow(
      org.member,
      org.name,
      { name: "web-ci", description: "[]" },
      "version: 1\n",
    );
    expect([updated.status, updated.json]).toEqual([200, "OK"]);
    const { json } = await org.reader.get(`/flows/${org.name}/web-ci`);
    expect(json).toMatchObject({ description: "[]", template: "version: 1\n", visibility: "private" });
    expect((await audited()).map(({ action, resource }) => [action, resource])).toEqual([
      ["create_flow_with_template", "web-ci"],
      ["create_flow_with_template", "web-ci"],
    ]);
  });

  it("changes and records nothing when repeated", async () => {
    for (const status of [201, 200, 200])
      expect((await putFlow(org.member, org.name, { name: "f" }, sampleTemplate)).status).toBe(status);
    expect(await audited()).toHaveLength(1);
  });

  it.each([
    sampleTemplate,
    "version: 1",
    "\ufeffversion: 1\r\n\r\n",
    "# yaml-language-server: $schema=x\nversion: 1\n\n\n",
    "trail:\n  attestations:\n  - {name: e, type: '*'}\n  # é𐀀",
  ])("gives the template %j back byte for byte", async (template) => {
    expect((await putFlow(org.member, org.name, { name: "f" }, template)).status).toBe(201);
    expect((await org.reader.get(`/flows/${org.name}/f`)).json.template).toBe(template);
  });

  it("gives a new flow without a file a template, and keeps the one a flow has", async () => {
    expect((await putFlow(org.member, org.name, { name: "f" })).status).toBe(201);
    expect((await org.reader.get(`/flows/${org.name}/f`)).json.template).toBe("version: 1\n");
    await putFlow(org.member, org.name, { name: "f" }, sampleTemplate);
    expect((await putFlow(org.member, org.name, { name: "f", description: "new" })).status).toBe(200);
    const { json } = await org.reader.get(`/flows/${org.name}/f`);
    expect(json).toMatchObject({ description: "new", template: sampleTemplate });
  });

  it("sets a new template id only with another template", async () => {
    const templateId = async (): Promise<string> => {
      const row = await app.deps.db.one(query({ template_id: uuid })`
        select template_id from flows where org_id = ${org.id}`);
      return row.template_id;
    };
    await putFlow(org.member, org.name, { name: "f" }, sampleTemplate);
    const first = await templateId();
    await putFlow(org.member, org.name, { name: "f", description: "x" }, sampleTemplate);
    expect(await templateId()).toBe(first);
    await putFlow(org.member, org.name, { name: "f" }, "version: 1");
    expect(await templateId()).not.toBe(first);
  });

  it.each([
    ["public", "public"],
    ["private", "private"],
    [null, "private"],
    [undefined, "private"],
  ])("takes the visibility %s", async (given, shown) => {
    await putFlow(org.member, org.name, { name: "f", visibility: given });
    expect((await org.reader.get(`/flows/${org.name}/f`)).json.visibility).toBe(shown);
  });

  it.each(["foo bar", "-x", "", "a/b", "é", "a".repeat(513)])("refuses the name %j", async (name) => {
    const answer = await putFlow(org.member, org.name, { name }, sampleTemplate);
    expect(answer.status).toBe(400);
    expect(answer.json.message).toBe("Input payload validation failed");
    expect(answer.json.errors.name).toContain(name.slice(0, 100));
  });

  it("words a bad name as clients expect", async () => {
    const answer = await putFlow(org.member, org.name, { name: "foo bar" });
    expect(answer.json.errors).toEqual({
      name: "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$' [input: foo bar]",
    });
  });

  it.each([
    [{ name: "f", description: undefined }, "description"],
    [{ name: "f", visibility: "secret" }, "visibility"],
    [{ name: 7 }, "name"],
    [{ name: undefined }, "name"],
  ])("refuses the fields %j", async (data, place) => {
    const answer = await putFlow(org.member, org.name, data);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([place]);
  });

  it("ignores keys it does not know", async () => {
    expect((await putFlow(org.member, org.name, { name: "f", other: 1 })).status).toBe(201);
  });

  it.each([
    ["trail: {attestations: [{name: a, type: not-supported}]}", "template_file.trail.attestations[0].type"],
    ["trail: {attestations: [{name: '', type: junit}]}", "template_file.trail.attestations[0].name"],
    ["trail: {artifacts: [{name: a b}]}", "template_file.trail.artifacts[0].name"],
    ["version: 2", "template_file.version"],
    ["other: 1", "template_file.other"],
    ["not a template", "template_file"],
    ["trail: [", "template_file"],
    ["a: &a [*a]", "template_file"],
    ["", "template_file"],
    [Buffer.from([0xff, 0xfe]), "template_file"],
    ["version: 1\n# \0", "template_file"],
  ])("refuses the template %j and names the place", async (template, place) => {
    await putFlow(org.member, org.name, { name: "old" }, sampleTemplate);
    for (const name of ["f", "old"]) {
      const answer = await putFlow(org.member, org.name, { name }, template);
      expect(answer.status).toBe(400);
      expect(answer.json.message).toBe("Input payload validation failed");
      expect(Object.keys(answer.json.errors)).toEqual([place]);
    }
    expect((await org.reader.get(`/flows/${org.name}/f`)).status).toBe(404);
    expect((await org.reader.get(`/flows/${org.name}/old`)).json.template).toBe(sampleTemplate);
  });

  it("shows what stands in place of a type", async () => {
    const answer = await putFlow(
      org.member,
      org.name,
      { name: "f" },
      "trail: {attestations: [{name: a, type: not-supported}]}",
    );
    expect(answer.text).toContain("[input: not-supported]");
  });

  it("refuses a template file that is too large", async () => {
    const answer = await putFlow(org.member, org.name, { name: "f" }, Buffer.alloc(10 * 1024 * 1024 + 1, 32));
    expect(answer.status).toBe(413);
    expect(answer.json).toEqual({ message: "File size exceeds 10MB limit" });
    const large = await putFlow(org.member, org.name, { name: "f" }, `#${"x".repeat(1024 * 1024)}`);
    expect(large.status).toBe(400);
  });

  it("is denied to readers and snapshotters", async () => {
    for (const client of [org.reader, org.snapshotter]) {
      const answer = await putFlow(client, org.name, { name: "f" });
      expect(answer.status).toBe(403);
      expect(answer.json).toEqual({ message: "You don't have permission to access this resource" });
    }
  });

  it("creates one flow for fifty simultaneous requests", async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        putFlow(org.member, org.name, { name: "f", description: String(index) }, sampleTemplate),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
    expect(await audited()).toHaveLength(50);
  });
});

describe("PUT /flows/{org}, the older form", () => {
  it("creates and updates a flow with a list of names", async () => {
    const flow = {
      name: "old",
      description: "d",
      visibility: "private",
      template: ["artifact", "unit-test"],
    };
    expect((await org.member.put(`/flows/${org.name}`, flow)).status).toBe(201);
    const { json } = await org.reader.get(`/flows/${org.name}/old`);
    expect(json).toMatchObject({ description: "d", template: "artifact unit-test" });
    const again = await org.member.put(`/flows/${org.name}`, { ...flow, template: ["artifact", "scan"] });
    expect([again.status, again.json]).toEqual([200, "OK"]);
    expect((await org.reader.get(`/flows/${org.name}/old`)).json.template).toBe("artifact scan");
  });

  it("makes trails expect one artifact with an attestation for each name", async () => {
    const flow = { name: "old", description: "d", template: ["artifact", "unit-test"] };
    await org.member.put(`/flows/${org.name}`, flow);
    await putTrail(org.member, `${org.name}/old`, { name: "t" });
    const { json } = await org.reader.get(`/trails/${org.name}/old/t`);
    expect(json.template.trail).toEqual({
      attestations: [],
      artifacts: [{ name: "artifact", attestations: [{ name: "unit-test", type: "*" }] }],
    });
  });

  it("gives or keeps a template when there is none", async () => {
    await org.member.put(`/flows/${org.name}`, { name: "a", description: "" });
    await org.member.put(`/flows/${org.name}`, { name: "b", description: "", template: [] });
    for (const name of ["a", "b"])
      expect((await org.reader.get(`/flows/${org.name}/${name}`)).json.template).toBe("version: 1\n");
    await putFlow(org.member, org.name, { name: "c" }, sampleTemplate);
    await org.member.put(`/flows/${org.name}`, { name: "c", description: "" });
    expect((await org.reader.get(`/flows/${org.name}/c`)).json.template).toBe(sampleTemplate);
  });

  it.each([
    [{ name: "foo bar", description: "" }, "name"],
    [{ name: "f" }, "description"],
    [{ name: "f", description: "", template: ["a:"] }, "template[0]"],
    [{ name: "f", description: "", template: "a" }, "template"],
  ])("refuses %j", async (flow, place) => {
    const answer = await org.member.put(`/flows/${org.name}`, flow);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([place]);
  });
});

describe("GET /flows/{org}/{flow}", () => {
  it("shows a flow in full", async () => {
    const before = app.clock.now();
    await putFlow(
      org.member,
      org.name,
      { name: "web", description: "d", visibility: "public" },
      sampleTemplate,
    );
    const { json, status } = await org.reader.get(`/flows/${org.name}/web`);
    expect(status).toBe(200);
    const { id, created_at, created_by_name } = await app.deps.db.one(query({
      id: uuid,
      created_at: timestamp,
      created_by_name: text,
    })`
      select id, created_at, created_by_name from flows where org_id = ${org.id}`);
    expect(json).toEqual({
      id: wireId(id),
      name: "web",
      description: "d",
      visibility: "public",
      org: org.name,
      template: sampleTemplate,
      repo_url: "",
      tags: {},
      space_id: null,
      created_at,
      created_by: created_by_name,
    });
    expect(created_at).toBeGreaterThanOrEqual(before - 0.001);
    expect((await audited())[0]?.actor_name).toBe(created_by_name);
  });

  it("says which flow is missing", async () => {
    const answer = await org.reader.get(`/flows/${org.name}/nope`);
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual(missing("nope"));
  });

  it("does not find flows of other organizations", async () => {
    const other = await app.org();
    await putFlow(other.member, other.name, { name: "web" });
    expect((await org.reader.get(`/flows/${org.name}/web`)).status).toBe(404);
    expect((await org.reader.get(`/flows/${other.name}/web`)).status).toBe(403);
  });

  it("is open to anybody in a public organization, writes are not", async () => {
    const open = await app.org({ public: true });
    await putFlow(open.member, open.name, { name: "web" });
    expect((await app.anonymous.get(`/flows/${open.name}/web`)).status).toBe(200);
    expect((await app.anonymous.get(`/flows/${open.name}`)).json).toHaveLength(1);
    expect((await putFlow(app.anonymous, open.name, { name: "web" })).status).toBe(401);
  });
});
