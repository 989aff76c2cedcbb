import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { ActionFixtures, envAction, flowAction, putEnv, webhook } from "../support/actions.ts";

let app: TestApp;
let fixtures: ActionFixtures;
beforeAll(async () => {
  app = await startTestApp();
  fixtures = new ActionFixtures(app);
});
afterAll(() => app.close());

describe("PUT /actions/{org}/environments", () => {
  it("creates an action that is shown in full at once", async () => {
    const { org } = await fixtures.org();
    const before = app.clock.now();
    const answer = await putEnv(org, { environments: ["stage", "prod"] });
    expect([answer.status, answer.json]).toEqual([201, "OK"]);
    const shown = await org.reader.get(`/actions/${org.name}/1`);
    expect(shown.json).toEqual({
      name: "alert/prod",
      type: "env",
      number: 1,
      environments: ["stage", "prod"],
      flows: null,
      triggers: ["ON_NON_COMPLIANT_ENV", "ON_COMPLIANT_ENV"],
      targets: [
        {
          type: "WEBHOOK",
          webhook: "",
          payload_version: "1.0",
          last_success_at: null,
          last_failure_at: null,
        },
      ],
      created_by: expect.stringMatching(/^user-/),
      is_created_from_slack_app: false,
      is_failing: false,
      addresses_forgotten: false,
      last_success_timestamp: null,
      last_failure_timestamp: null,
      created_at: expect.any(Number),
      last_modified_at: shown.json.created_at,
    });
    expect(shown.json.created_at).toBeGreaterThanOrEqual(before - 0.001);
    expect((await org.reader.get(`/actions/${org.name}`)).json).toEqual([shown.json]);
    expect(await fixtures.audited(org)).toEqual([
      { action: "create_or_update_env_action", resource_type: "action", resource: "1" },
    ]);
  });

  it("changes nothing when repeated", async () => {
    const { org } = await fixtures.org();
    await putEnv(org);
    const first = await org.reader.get(`/actions/${org.name}`);
    app.clock.advance(10);
    const again = await putEnv(org);
    expect([again.status, again.json]).toEqual([200, "OK"]);
    const { type: _type, ...untyped } = envAction();
    expect((await org.member.put(`/actions/${org.name}/environments`, untyped)).status).toBe(200);
    expect((await org.reader.get(`/actions/${org.name}`)).json).toEqual(first.json);
    expect(await fixtures.audited(org)).toHaveLength(1);
  });

  it.each([
    ["environments", { environments: ["stage"] }],
    ["order of environments", { environments: ["stage", "prod"] }],
    ["triggers", { triggers: ["ON_NON_COMPLIANT_ENV"] }],
    ["order of triggers", { triggers: ["ON_COMPLIANT_ENV", "ON_NON_COMPLIANT_ENV"] }],
    ["address", { targets: [{ ...webhook, webhook: "https://hooks.example.com/other" }] }],
    ["kind of target", { targets: [{ ...webhook, type: "SLACK" }] }],
    ["number of targets", { targets: [webhook, webhook] }],
  ])("makes a new action under the same name for other %s, listed first", async (_, change) => {
    const { org } = await fixtures.org();
    await putEnv(org, { environments: ["prod"] });
    expect((await putEnv(org, change)).status).toBe(201);
    const list = (await org.reader.get(`/actions/${org.name}`)).json;
    expect(list.map((action: { number: number }) => action.number)).toEqual([2, 1]);
    expect((await putEnv(org, change)).status).toBe(200);
    // The older definition again: the newest of the name is another one.
    expect((await putEnv(org)).status).toBe(201);
  });

  it("makes one action of 50 identical requests at once", async () => {
    const { org } = await fixtures.org();
    const answers = await Promise.all(Array.from({ length: 50 }, () => putEnv(org)));
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([...Array.from({ length: 49 }, () => 200), 201]);
    expect((await org.reader.get(`/actions/${org.name}`)).json).toHaveLength(1);
    expect(await fixtures.audited(org)).toHaveLength(1);
  });

  it("gives different actions made at once different numbers", async () => {
    const { org } = await fixtures.org();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => putEnv(org, { name: `a${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    const list = (await org.reader.get(`/actions/${org.name}`)).json;
    expect(list.map((action: { number: number }) => action.number)).toEqual(
      Array.from({ length: 20 }, (_, index) => 20 - index),
    );
  });

  it("never uses a number again", async () => {
    const { org } = await fixtures.org();
    await putEnv(org);
    await org.member.delete(`/actions/${org.name}/1`);
    await putEnv(org);
    expect((await org.reader.get(`/actions/${org.name}`)).json[0].number).toBe(2);
  });

  it("takes all kinds of targets and ignores delivery times sent back", async () => {
    const { org } = await fixtures.org();
    const context = { channel_id: "C1", channel_name: "alerts", team_id: "T1" };
    const times = { last_success_at: null, last_failure_at: null };
    const answer = await putEnv(org, {
      targets: [
        {
          type: "EMAIL",
          emails: ["b@example.com", "a+tag@sub.example.com"],
          last_success_at: 5,
          last_failure_at: null,
        },
        { type: "SLACK", webhook: "https://hooks.slack.com/services/T/B/x", context },
        { type: "SLACK", webhook: "https://hooks.slack.com/services/T/B/y" },
        { ...webhook, payload_version: "1.0", last_failure_at: 7.5 },
      ],
    });
    expect(answer.status).toBe(201);
    expect((await org.reader.get(`/actions/${org.name}/1`)).json.targets).toEqual([
      { type: "EMAIL", emails: ["b@example.com", "a+tag@sub.example.com"], ...times },
      { type: "SLACK", webhook: "", context, ...times },
      { type: "SLACK", webhook: "", context: null, ...times },
      { type: "WEBHOOK", webhook: "", payload_version: "1.0", ...times },
    ]);
  });

  it("accepts every trigger and a thousand environments in one request", async () => {
    const { org } = await fixtures.org();
    const names = Array.from({ length: 1000 }, (_, index) => `env-${(index * 7) % 1000}`);
    await app.deps.db.run(sql`
      insert into environments (org_id, id, name, type, created_at, last_modified_at)
      select ${org.id}, gen_random_uuid(), name, 'K8S', now(), now() from unnest(${names}::text[]) as name`);
    const triggers = [
      "ON_STARTED_ARTIFACT",
      "ON_EXITED_ARTIFACT",
      "ON_SCALED_ARTIFACT",
      "ON_ALLOWED_ARTIFACT",
      "ON_NON_COMPLIANT_ENV",
      "ON_COMPLIANT_ENV",
    ];
    expect((await putEnv(org, { environments: names, triggers })).status).toBe(201);
    const shown = (await org.reader.get(`/actions/${org.name}/1`)).json;
    expect(shown.environments).toEqual(names);
    expect(shown.triggers).toEqual(triggers);
    const tooMany = await putEnv(org, { environments: [...names, "prod"] });
    expect(tooMany.json.errors.environments).toMatch(/^List should have at most 1000 items \[input: /);
  });
});

describe("PUT /actions/{org}/flows", () => {
  it("creates a flow action, with every trigger", async () => {
    const { org } = await fixtures.org();
    const triggers = [
      "ON_STARTED_TRAIL",
      "ON_ATTESTED_PROVENANCE",
      "ON_ATTESTATION",
      "ON_APPROVAL",
      "ON_RELEASE",
    ];
    const path = `/actions/${org.name}/flows`;
    expect((await org.admin.put(path, flowAction({ triggers }))).status).toBe(201);
    expect((await org.admin.put(path, flowAction({ triggers }))).status).toBe(200);
    await fixtures.rename("flows", org, "web", "shop");
    expect((await org.admin.put(path, flowAction({ triggers }))).status).toBe(200);
    const [shown] = (await org.reader.get(`/actions/${org.name}`)).json;
    expect(shown).toMatchObject({ number: 1, type: "flow", flows: ["shop"], environments: null, triggers });
    expect(await fixtures.audited(org)).toEqual([
      { action: "create_or_update_flow_action", resource_type: "action", resource: "1" },
      { action: "rename_flow", resource_type: "flow", resource: "web" },
    ]);
  });

  it("refuses an unknown flow", async () => {
    const { org } = await fixtures.org();
    const answer = await org.member.put(`/actions/${org.name}/flows`, flowAction({ flows: ["nope"] }));
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: `Flow named 'nope' does not exist for organization '${org.name}'` },
    ]);
  });

  it("keeps an environment action of the same name apart", async () => {
    const { org } = await fixtures.org();
    await putEnv(org, { name: "same" });
    expect((await org.member.put(`/actions/${org.name}/flows`, flowAction({ name: "same" }))).status).toBe(
      201,
    );
    expect((await putEnv(org, { name: "same" })).status).toBe(200);
  });
});

describe("GET and DELETE /actions/{org}/{action_number}", () => {
  it.each(["2", "0", "-1", "1.5", "01", "abc", "99999999999999999999", "environments"])(
    "finds no action %s",
    async (number) => {
      const { org } = await fixtures.org();
      await putEnv(org);
      for (const method of ["GET", "DELETE"]) {
        const answer = await org.member.request(method, `/actions/${org.name}/${number}`);
        expect([answer.status, answer.json]).toEqual([
          404,
          { message: `Action '${number}' does not exist in organization '${org.name}'` },
        ]);
      }
    },
  );

  it("deletes actions of both types, once", async () => {
    const { org } = await fixtures.org();
    await putEnv(org);
    await org.member.put(`/actions/${org.name}/flows`, flowAction());
    for (const number of ["1", "2"]) {
      const answer = await org.member.request("DELETE", `/actions/${org.name}/${number}`, {
        payload: "null",
        headers: { "content-type": "application/json; charset=utf-8" },
      });
      expect([answer.status, answer.json]).toEqual([200, "OK"]);
      expect((await org.member.delete(`/actions/${org.name}/${number}`)).status).toBe(404);
      expect((await org.member.get(`/actions/${org.name}/${number}`)).status).toBe(404);
    }
    expect((await org.reader.get(`/actions/${org.name}`)).json).toEqual([]);
    expect((await fixtures.audited(org)).slice(2)).toEqual([
      { action: "delete_action", resource_type: "action", resource: "1" },
      { action: "delete_action", resource_type: "action", resource: "2" },
    ]);
  });

  it("deletes exactly once when asked many times at once", async () => {
    const { org } = await fixtures.org();
    await putEnv(org);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => org.member.delete(`/actions/${org.name}/1`)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });

  it("knows another organization's numbers nothing", async () => {
    const { org } = await fixtures.org();
    await putEnv(org);
    const { org: other } = await fixtures.org();
    expect((await other.admin.delete(`/actions/${other.name}/1`)).status).toBe(404);
    expect((await other.admin.get(`/actions/${org.name}/1`)).status).toBe(403);
    expect((await other.admin.delete(`/actions/${org.name}/1`)).status).toBe(403);
    expect((await org.reader.get(`/actions/${org.name}/1`)).status).toBe(200);
  });
});

describe("roles", () => {
  it("lets every role read, and members and admins write", async () => {
    const { org } = await fixtures.org();
    const denied = { message: "You don't have permission to access this resource" };
    await putEnv(org);
    for (const client of [org.reader, org.snapshotter]) {
      expect((await client.get(`/actions/${org.name}`)).status).toBe(200);
      expect((await client.get(`/actions/${org.name}/1`)).status).toBe(200);
      for (const answer of [
        await client.put(`/actions/${org.name}/environments`, envAction({ name: "x" })),
        await client.put(`/actions/${org.name}/flows`, flowAction()),
        await client.delete(`/actions/${org.name}/1`),
      ])
        expect([answer.status, answer.json]).toEqual([403, denied]);
    }
    expect((await org.admin.put(`/actions/${org.name}/environments`, envAction({ name: "x" }))).status).toBe(
      201,
    );
    expect((await org.admin.delete(`/actions/${org.name}/1`)).status).toBe(200);
  });

  it("shows strangers of a public organization no e-mail address", async () => {
    const { org } = await fixtures.org({ public: true });
    await putEnv(org, { targets: [{ type: "EMAIL", emails: ["a@example.com"] }] });
    const stranger = await app.user();
    for (const client of [app.anonymous, stranger.client]) {
      const list = await client.get(`/actions/${org.name}`);
      expect(list.json[0].targets[0].emails).toEqual([]);
      expect((await client.get(`/actions/${org.name}/1`)).text).not.toContain("a@example.com");
      expect((await client.delete(`/actions/${org.name}/1`)).status).toBeGreaterThanOrEqual(401);
    }
    expect((await org.reader.get(`/actions/${org.name}`)).json[0].targets[0].emails).toEqual([
      "a@example.com",
    ]);
    expect((await app.anonymous.get(`/actions/${(await app.org()).name}`)).status).toBe(401);
  });
});
