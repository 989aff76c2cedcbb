import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { bytes } from "../../src/db/row.ts";
import { query, sql } from "../../src/db/sql.ts";
import { openSecrets } from "../../src/modules/notices/actions/targets.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { ActionFixtures } from "../support/actions.ts";

let app: TestApp;
let fixtures: ActionFixtures;
beforeAll(async () => {
  app = await startTestApp();
  fixtures = new ActionFixtures(app);
});
afterAll(() => app.close());

const address = "https://hooks.example.com/t0ken";

/** What a Terraform provider sends. */
function action(change: Record<string, unknown> = {}) {
  return {
    name: "alert",
    type: "env",
    environments: ["prod"],
    triggers: ["ON_NON_COMPLIANT_ENV"],
    targets: [{ type: "WEBHOOK", webhook: address }],
    ...change,
  };
}

async function orgWithEnvironments(): Promise<TestOrg & { path: string }> {
  const { org } = await fixtures.org();
  return { ...org, path: `/organizations/${org.name}/environments_notifications` };
}

async function secretsOf(org: TestOrg, number: number) {
  const { target_secrets } = await app.deps.db.one(query({ target_secrets: bytes })`
    select target_secrets from actions where org_id = ${org.id} and number = ${number}`);
  return openSecrets(app.deps.secrets, target_secrets);
}

async function audited(org: TestOrg): Promise<string[]> {
  return (await fixtures.audited(org)).map((row) => `${row.action} ${row.resource_type} ${row.resource}`);
}

describe("environments_notifications", () => {
  it("starts empty and lives through create, scan by name, update, delete", async () => {
    const org = await orgWithEnvironments();
    expect((await org.member.get(org.path)).json).toEqual([]);
    const created = await org.member.put(org.path, action());
    expect([created.status, created.json]).toEqual([201, "OK"]);

    const [found] = (await org.member.get(org.path)).json;
    expect(found).toEqual({
      name: "alert",
      type: "env",
      number: 1,
      environments: ["prod"],
      triggers: ["ON_NON_COMPLIANT_ENV"],
      targets: [
        {
          type: "WEBHOOK",
          webhook: "",
          payload_version: "1.0",
          last_success_at: null,
          last_failure_at: null,
        },
      ],
      created_by: expect.stringMatching(/./),
      is_created_from_slack_app: false,
      is_failing: false,
      addresses_forgotten: false,
      last_success_timestamp: null,
      last_failure_timestamp: null,
      created_at: expect.any(Number),
      last_modified_at: found.created_at,
    });
    expect((await org.reader.get(`${org.path}/1`)).json).toEqual(found);

    app.clock.advance(60);
    const change = {
      environments: ["stage", "prod"],
      triggers: ["ON_SCALED_ARTIFACT", "ON_COMPLIANT_ENV"],
      targets: [{ type: "WEBHOOK", webhook: "https://hooks.example.com/new" }],
    };
    const updated = await org.admin.put(`${org.path}/1`, action(change));
    expect([updated.status, updated.json]).toEqual([200, "OK"]);
    const after = (await org.reader.get(`${org.path}/1`)).json;
    expect(after).toEqual({
      ...found,
      environments: change.environments,
      triggers: change.triggers,
      last_modified_at: after.last_modified_at,
    });
    expect(after.last_modified_at).toBeGreaterThan(found.last_modified_at + 50);
    expect(await secretsOf(org, 1)).toEqual(["https://hooks.example.com/new"]);

    const deleted = await org.member.delete(`${org.path}/1`);
    expect([deleted.status, deleted.json]).toEqual([200, "OK"]);
    expect((await org.member.get(org.path)).json).toEqual([]);
    expect(await audited(org)).toEqual([
      "put_environment_notifications action 1",
      "update_environment_notification action 1",
      "delete_environment_notification action 1",
    ]);
  });

  it("shares its records with /actions but for flow actions", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(`/actions/${org.name}/flows`, {
      ...action({ type: "flow", triggers: ["ON_STARTED_TRAIL"] }),
      environments: undefined,
      flows: ["web"],
    });
    expect((await org.member.put(org.path, action())).status).toBe(201);
    expect((await org.member.put(`/actions/${org.name}/environments`, action())).status).toBe(200);
    const list = (await org.member.get(org.path)).json;
    expect(list.map(({ number }: { number: number }) => number)).toEqual([2]);
    expect((await org.member.get(`/actions/${org.name}`)).json).toHaveLength(2);
    const missing = { message: `Action '1' does not exist in organization '${org.name}'` };
    for (const answer of [
      await org.member.get(`${org.path}/1`),
      await org.member.put(`${org.path}/1`, action()),
      await org.member.delete(`${org.path}/1`),
    ])
      expect([answer.status, answer.json]).toEqual([404, missing]);
    expect((await org.member.get(`/actions/${org.name}/1`)).status).toBe(200);
  });

  it("puts the newest of a name first, so that a scan by name finds what was just made", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    expect((await org.member.put(org.path, action({ environments: ["stage"] }))).status).toBe(201);
    const list = (await org.member.get(org.path)).json;
    expect(list.find(({ name }: { name: string }) => name === "alert")).toMatchObject({
      number: 2,
      environments: ["stage"],
    });
  });

  it.each(["2", "0", "-1", "abc", "2147483648"])("finds no number %s", async (number) => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    const missing = { message: `Action '${number}' does not exist in organization '${org.name}'` };
    for (const answer of [
      await org.member.get(`${org.path}/${number}`),
      await org.member.put(`${org.path}/${number}`, action()),
      await org.member.delete(`${org.path}/${number}`),
    ])
      expect([answer.status, answer.json]).toEqual([404, missing]);
  });

  it("changes nothing when an update is repeated", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    const before = (await org.reader.get(`${org.path}/1`)).json;
    app.clock.advance(5);
    expect((await org.admin.put(`${org.path}/1`, action())).status).toBe(200);
    expect((await org.reader.get(`${org.path}/1`)).json).toEqual(before);
    expect(await audited(org)).toHaveLength(1);
  });

  it("can be renamed by number, also to a name that is taken", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    await org.member.put(org.path, action({ name: "other" }));
    expect((await org.member.put(`${org.path}/2`, action())).status).toBe(200);
    const list = (await org.reader.get(org.path)).json;
    expect(list.map(({ name, number }: { name: string; number: number }) => [name, number])).toEqual([
      ["alert", 2],
      ["alert", 1],
    ]);
  });

  it("keeps an address whose place says nothing new, and only that", async () => {
    const org = await orgWithEnvironments();
    const mail = { type: "EMAIL", emails: ["a@example.com"] };
    await org.member.put(org.path, action({ targets: [{ type: "WEBHOOK", webhook: address }, mail] }));
    const read = (await org.member.get(`${org.path}/1`)).json;
    const edited = action({ triggers: ["ON_COMPLIANT_ENV"], targets: read.targets });
    expect((await org.member.put(`${org.path}/1`, edited)).status).toBe(200);
    expect(await secretsOf(org, 1)).toEqual([address, null]);
    expect((await org.member.get(`${org.path}/1`)).json.triggers).toEqual(["ON_COMPLIANT_ENV"]);
    for (const targets of [
      [{ type: "SLACK", webhook: "" }],
      [mail, { type: "WEBHOOK", webhook: "" }],
      [read.targets[0], mail, { type: "WEBHOOK", webhook: "" }],
    ]) {
      const answer = await org.member.put(`${org.path}/1`, action({ targets }));
      expect(answer.status).toBe(400);
      expect(Object.values(answer.json.errors)).toEqual([
        "Input should be a valid URL starting with http:// or https:// [input: ]",
      ]);
    }
    expect((await org.member.put(org.path, action({ name: "new", targets: [read.targets[0]] }))).status).toBe(
      400,
    );
  });

  it("asks for the address when the stored one cannot be opened", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    await app.deps.db.run(sql`update actions set target_secrets = 'garbage' where org_id = ${org.id}`);
    const kept = [{ type: "WEBHOOK", webhook: "" }];
    expect((await org.member.put(`${org.path}/1`, action({ targets: kept }))).status).toBe(400);
    expect((await org.member.put(`${org.path}/1`, action())).status).toBe(200);
    expect(await secretsOf(org, 1)).toEqual([address]);
  });

  it("validates updates like creations", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    for (const [change, message] of [
      [{ environments: ["nope"] }, `Environment named 'nope' does not exist for organization '${org.name}'`],
      [{ environments: [] }, "Input payload validation failed"],
      [{ triggers: ["ON_RELEASE"] }, "Input payload validation failed"],
      [{ targets: [{ type: "WEBHOOK", webhook: "http://10.0.0.1/x" }] }, "Input payload validation failed"],
      [{ name: "a b" }, "Input payload validation failed"],
      [{ number: 1 }, "Input payload validation failed"],
    ] as const) {
      const answer = await org.member.put(`${org.path}/1`, action(change));
      expect([answer.status, answer.json.message]).toEqual([400, message]);
    }
    expect(await audited(org)).toHaveLength(1);
  });

  it("survives updates, creations and deletions of the same action at once", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        if (index === 20) return org.member.delete(`${org.path}/1`);
        return index % 3 === 0
          ? org.member.put(org.path, action({ environments: ["stage", "prod"] }))
          : org.member.put(
              `${org.path}/1`,
              action({ environments: index % 2 === 0 ? ["prod", "stage"] : ["stage"] }),
            );
      }),
    );
    for (const { status } of answers) expect([200, 201, 404]).toContain(status);
    const list = (await org.reader.get(org.path)).json;
    expect(list.map(({ environments }: { environments: string[] }) => environments)).toEqual([
      ["stage", "prod"],
    ]);
  });

  it("lets every role read and members write", async () => {
    const org = await orgWithEnvironments();
    await org.member.put(org.path, action());
    for (const client of [org.reader, org.snapshotter]) {
      expect((await client.get(org.path)).status).toBe(200);
      expect((await client.get(`${org.path}/1`)).status).toBe(200);
      expect((await client.put(org.path, action())).status).toBe(403);
      expect((await client.put(`${org.path}/1`, action())).status).toBe(403);
      expect((await client.delete(`${org.path}/1`)).status).toBe(403);
    }
    expect((await app.anonymous.get(org.path)).status).toBe(401);
  });
});
