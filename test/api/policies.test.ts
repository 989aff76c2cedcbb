import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createControl } from "../support/controls.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText, putPolicy, samplePolicy } from "../support/policies.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const failed = "Input payload validation failed";

function unknown(org: TestOrg, name: string): unknown[] {
  return [404, { message: `Policy '${name}' does not exist in organization '${org.name}'` }];
}

describe("PUT /policies/{org}", () => {
  it("creates a policy and answers it", async () => {
    const org = await app.org();
    const payload = { name: "base", description: "Everywhere", comment: "first", type: "env" };
    const { status, json } = await putPolicy(org.member, org.name, payload, samplePolicy);
    expect(status).toBe(201);
    const { created_at, created_by } = json;
    expect(Object.keys(json)).toEqual([
      "name",
      "description",
      "created_by",
      "created_at",
      "last_modified_at",
      "archived",
      "versions",
      "events",
      "consuming_envs",
    ]);
    expect(json).toEqual({
      name: "base",
      description: "Everywhere",
      created_by: expect.stringMatching(/^user-/),
      created_at: expect.closeTo(app.clock.now(), 0),
      last_modified_at: created_at,
      archived: false,
      versions: [
        { version: 1, comment: "first", timestamp: created_at, created_by, policy_yaml: samplePolicy },
      ],
      events: [{ type: "creation", timestamp: created_at, user: created_by, data: {} }],
      consuming_envs: [],
    });
    expect((await org.reader.get(`/policies/${org.name}/base`)).json).toEqual(json);
    expect(await auditedResources(org, app)).toEqual(["put_policy policy base"]);
  });

  it("appends a version for another text, with the comment as sent", async () => {
    const org = await app.org();
    const { json: created } = await putPolicy(
      org.member,
      org.name,
      { name: "p", comment: "c" },
      samplePolicy,
    );
    app.clock.advance(5);
    const next = `${samplePolicy}# more\r\n`;
    const { status, json } = await putPolicy(org.admin, org.name, { name: "p", description: "d" }, next);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      description: "d",
      created_at: created.created_at,
      created_by: created.created_by,
    });
    expect(json.last_modified_at).toBeGreaterThan(created.last_modified_at);
    expect(json.versions).toEqual([
      ...created.versions,
      expect.objectContaining({
        version: 2,
        comment: "",
        policy_yaml: next,
        timestamp: json.last_modified_at,
      }),
    ]);
    expect(json.versions[1].created_by).not.toBe(created.created_by);
    expect(json.events).toMatchObject([
      { type: "creation" },
      { type: "metadata_update", data: { description: "d" } },
      { type: "new_version", data: { version: 2 } },
    ]);
  });

  it("appends no version for the latest text, and one for an earlier one", async () => {
    const org = await app.org();
    await createPolicy(org, "p");
    const same = await putPolicy(org.member, org.name, { name: "p", comment: "again" }, samplePolicy);
    expect([same.status, same.json.versions.length, same.json.events.length]).toEqual([200, 1, 1]);
    expect(await auditedResources(org, app)).toHaveLength(1);
    await putPolicy(org.member, org.name, { name: "p" }, policyText("provenance: {required: false}"));
    const { json } = await putPolicy(org.member, org.name, { name: "p" }, samplePolicy);
    expect(json.versions.map(({ version }: { version: number }) => version)).toEqual([1, 2, 3]);
  });

  it("changes the description alone without a file", async () => {
    const org = await app.org();
    await createPolicy(org, "p");
    const { status, json } = await putPolicy(org.member, org.name, { name: "p", description: "new" });
    expect([status, json.description, json.versions.length]).toEqual([200, "new", 1]);
    expect(json.events.map(({ type }: { type: string }) => type)).toEqual(["creation", "metadata_update"]);
    const fresh = await putPolicy(org.member, org.name, { name: "q" });
    expect([fresh.status, fresh.json]).toEqual([
      400,
      { message: failed, errors: { policy_file: "Field required [input: None]" } },
    ]);
  });

  it("keeps the text byte for byte", async () => {
    const org = await app.org();
    const text = `\uFEFF# ümläut — 漢字 🎉\r\n_schema: "https://x.test/v1"   \n\n\n# end without newline`;
    const { json } = await putPolicy(org.member, org.name, { name: "p" }, text);
    expect(json.versions[0].policy_yaml).toBe(text);
  });

  it("creates once for simultaneous calls", async () => {
    const org = await app.org();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((n) =>
        putPolicy(
          org.member,
          org.name,
          { name: "p" },
          n < 4 ? samplePolicy : policyText(`# ${n}`, "attestations: []"),
        ),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const { json } = await org.reader.get(`/policies/${org.name}/p`);
    expect(json.versions.map(({ version }: { version: number }) => version)).toEqual(
      json.versions.map((_: unknown, index: number) => index + 1),
    );
  });

  it.each([
    [
      "a bad name",
      { name: "a b" },
      "name",
      "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\-_\\.~]*$' [input: a b]",
    ],
    ["no name", {}, "name", "Field required [input: None]"],
    ["another type", { name: "a", type: "flow" }, "type", "Input should be 'env' [input: flow]"],
    ["an unknown key", { name: "a", extra: 1 }, "extra", "Extra inputs are not permitted [input: 1]"],
    [
      "a long name",
      { name: "a".repeat(513) },
      "name",
      `String should have at most 512 characters [input: ${"a".repeat(200)}…]`,
    ],
  ])("refuses %s", async (_what, payload, place, text) => {
    const org = await app.org();
    const { status, json } = await putPolicy(org.member, org.name, payload, samplePolicy);
    expect([status, json]).toEqual([400, { message: failed, errors: { [place]: text } }]);
  });

  it("refuses JSON instead of multipart", async () => {
    const org = await app.org();
    const { status, json } = await org.member.put(`/policies/${org.name}`, { name: "p" });
    expect([status, json]).toEqual([
      400,
      { message: failed, errors: { payload: "Field required [input: None]" } },
    ]);
  });

  it("names the place of every mistake", async () => {
    const org = await app.org();
    const text = [
      "_schema: https://x.test/v2",
      "extra: 1",
      "artifacts:",
      "  provenance: {required: maybe, exceptions: [{if: '${{ flow.name = \"a\" }}'}]}",
      "  attestations:",
      "    - {type: pull-request}",
      "    - {type: '*'}",
      "    - {type: junit, for_control: C-1}",
      "    - {name: a}",
    ].join("\n");
    const { status, json } = await putPolicy(org.member, org.name, { name: "p" }, text);
    expect([status, json.message]).toEqual([400, failed]);
    const at = "policy_file.artifacts";
    expect(json.errors).toEqual({
      "policy_file.extra": "Extra inputs are not permitted [input: 1]",
      "policy_file._schema": expect.stringContaining("Version v2 is not supported"),
      [`${at}.provenance.required`]: "Input should be a valid boolean [input: maybe]",
      [`${at}.provenance.exceptions[0].if`]: expect.stringContaining(
        "Invalid expression at line 1, column 11: ",
      ),
      [`${at}.attestations[0].type`]: expect.stringContaining("'pull_request'"),
      [`${at}.attestations[1]`]: expect.stringContaining("must not both be '*'"),
      [`${at}.attestations[2].for_control`]: expect.stringContaining("only allowed with type 'decision'"),
      [`${at}.attestations[3].type`]: "Field required [input: None]",
    });
    expect((await org.reader.get(`/policies/${org.name}`)).json).toEqual([]);
  });

  it.each([
    ["a syntax error", "_schema: https://x.test/v1\nartifacts: [", /^Invalid YAML: .*\(line 2\)/],
    ["an empty file", "", /Input should be a valid dictionary|Expected a document/],
    ["bytes that are no text", Buffer.from([0x5f, 0xff, 0xfe]), /^Text is not valid UTF-8/],
    ["NUL", "_schema: 'https://x.test/v1'\0", /^Text must not contain NUL/],
    [
      "a long text",
      `_schema: https://x.test/v1\n${"# long\n".repeat(10_000)}`,
      /longer than 65536 characters/,
    ],
    ["aliases that explode", `a: &a [x]\n${"b: [*a]\n".repeat(2)}`, /given twice/],
  ])("refuses %s with its place", async (_what, content, message) => {
    const org = await app.org();
    const { status, json } = await putPolicy(org.member, org.name, { name: "p" }, content);
    expect([status, json.message]).toEqual([400, failed]);
    expect(json.errors).toEqual({ policy_file: expect.stringMatching(message) });
  });

  it("refuses texts in it that could not be stored", async () => {
    const org = await app.org();
    const text = policyText(
      "attestations:",
      '  - {type: junit, name: "a\\0b"}',
      '  - {type: junit, name: "\\uD800"}',
    );
    const { status, json } = await putPolicy(org.member, org.name, { name: "p" }, text);
    expect(status).toBe(400);
    expect(Object.keys(json.errors)).toEqual([
      "policy_file.artifacts.attestations[0].name",
      "policy_file.artifacts.attestations[1].name",
    ]);
  });

  it("refuses a file of more than 10 MB", async () => {
    const org = await app.org();
    const { status, json } = await putPolicy(
      org.member,
      org.name,
      { name: "p" },
      Buffer.alloc(10 * 1024 * 1024 + 1, 35),
    );
    expect([status, json]).toEqual([413, { message: "File size exceeds 10MB limit" }]);
  });

  it("asks for controls that exist, archived or not", async () => {
    const org = await app.org();
    await createControl(org, "C-1");
    await org.admin.post(`/controls/${org.name}/C-1/archive`);
    const text = (control: string): string =>
      policyText(
        "attestations:",
        `  - {type: decision, for_control: C-1}`,
        `  - {type: decision, for_control: ${control}}`,
      );
    const { status, json } = await putPolicy(org.member, org.name, { name: "p" }, text("C-2"));
    expect([status, json]).toEqual([
      400,
      {
        message: failed,
        errors: {
          "policy_file.artifacts.attestations[1].for_control": `Control 'C-2' does not exist in organization '${org.name}' [input: C-2]`,
        },
      },
    ]);
    expect((await putPolicy(org.member, org.name, { name: "p" }, text("C-1"))).status).toBe(201);
  });

  it("limits what all policies have together", async () => {
    const org = await app.org();
    await createPolicy(org, "p");
    await app.deps.db.run(sql`update policies set text_bytes = 67108860 where org_id = ${org.id}`);
    const { status, json } = await putPolicy(org.member, org.name, { name: "q" }, samplePolicy);
    expect([status, json.message]).toEqual([400, expect.stringContaining("67108864 bytes together")]);
    const more = await putPolicy(org.member, org.name, { name: "p" }, policyText("attestations: []"));
    expect(more.status).toBe(400);
  });

  it("is for members", async () => {
    const org = await app.org();
    expect((await putPolicy(org.snapshotter, org.name, { name: "p" }, samplePolicy)).status).toBe(403);
  });
});

describe("GET /policies/{org}", () => {
  it("lists all of them by name", async () => {
    const org = await app.org();
    expect((await org.reader.get(`/policies/${org.name}`)).json).toEqual([]);
    for (const name of ["b", "a", "B"]) await createPolicy(org, name);
    await createEnvironment(org, "prod");
    await attachPolicies(org, "prod", "a");
    const { status, json } = await org.reader.get(`/policies/${org.name}`);
    expect(status).toBe(200);
    expect(json.map(({ name }: { name: string }) => name)).toEqual(["B", "a", "b"]);
    expect(json[1]).toEqual((await org.reader.get(`/policies/${org.name}/a`)).json);
  });

  it("answers the same when a policy has too much text to be read at once", async () => {
    const org = await app.org();
    for (const name of ["a", "b"]) await createPolicy(org, name);
    await putPolicy(org.member, org.name, { name: "a" }, policyText("attestations: []"));
    const { json } = await org.reader.get(`/policies/${org.name}`);
    expect(json[0].versions).toHaveLength(2);
    await app.deps.db.run(
      sql`update policies set text_bytes = 600000 where org_id = ${org.id} and name = 'a'`,
    );
    expect((await org.reader.get(`/policies/${org.name}`)).json).toEqual(json);
  });
});

describe("GET /policies/{org}/{policy_name}", () => {
  it("names the environments it is attached to", async () => {
    const org = await app.org();
    await createPolicy(org, "p");
    for (const name of ["z", "a", "old", "other"]) await createEnvironment(org, name);
    for (const name of ["z", "a", "old"]) await attachPolicies(org, name, "p");
    await org.admin.put(`/environments/${org.name}/old/archive`);
    await org.admin.put(`/environments/${org.name}/z/rename`, { new_name: "b" });
    const { json } = await org.reader.get(`/policies/${org.name}/p`);
    expect(json.consuming_envs).toEqual(["a", "b"]);
  });

  it("answers 404 for an unknown one", async () => {
    const [org, other] = await Promise.all([app.org(), app.org()]);
    await createPolicy(other, "p");
    const answer = await org.reader.get(`/policies/${org.name}/p`);
    expect([answer.status, answer.json]).toEqual(unknown(org, "p"));
  });
});

describe("the history", () => {
  it.each(["policy_versions", "policy_events"])("%s is insert-only", async (table) => {
    const org = await app.org();
    await createPolicy(org, "p");
    for (const statement of [`delete from ${table}`, `update ${table} set created_by_name = 'x'`])
      await expect(app.deps.db.pool.query(`${statement} where org_id = $1`, [org.id])).rejects.toThrow(
        "insert-only",
      );
  });
});
