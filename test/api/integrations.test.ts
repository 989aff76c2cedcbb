import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer, Client } from "../support/client.ts";
import { analysis, deliver, switchOn } from "../support/quality-server.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const off = {
  name: "quality",
  state: "off",
  webhook_url: null,
  flow_name_base: null,
  flow_name_prefix: null,
  flow_name_suffix: null,
  created_at: null,
  created_by: null,
  last_modified_at: null,
  secret_forgotten: false,
};

function notSwitchedOn(org: TestOrg) {
  return { message: `Integration 'quality' is not switched on for organization '${org.name}'` };
}

async function auditedActions(org: TestOrg): Promise<unknown[]> {
  const { rows } = await app.deps.db.pool.query(
    "select action, actor_kind, resource_type, resource from audit_log where org_id = $1 order by seq",
    [org.id],
  );
  return rows;
}

describe("GET /integrations/{org}", () => {
  it("lists the integration while it is off", async () => {
    const org = await app.org();
    const answer = await org.member.get(`/integrations/${org.name}`);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual([off]);
  });

  it("lists settings and URL while it is on, never the secret", async () => {
    const org = await app.org();
    const made = await org.admin.put(`/integrations/${org.name}/quality`, { flow_name_prefix: "p-" });
    const answer = await org.member.get(`/integrations/${org.name}`);
    const { secret, ...shown } = made.json;
    expect(answer.json).toEqual([shown]);
    expect(answer.text).not.toContain(secret);
  });
});

describe("PUT /integrations/{org}/quality", () => {
  it("switches on and shows URL and secret", async () => {
    const org = await app.org();
    const before = app.clock.now();
    const answer = await org.member.put(`/integrations/${org.name}/quality`, {
      flow_name_base: "name",
      flow_name_prefix: "p-",
      flow_name_suffix: "-s",
    });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      name: "quality",
      state: "on",
      flow_name_base: "name",
      flow_name_prefix: "p-",
      flow_name_suffix: "-s",
    });
    expect(answer.json.webhook_url).toMatch(
      /^http:\/\/waybill\.test\/api\/v2\/webhooks\/quality\/[\w-]{32,}$/,
    );
    expect(answer.json.secret).toMatch(/^[\w-]{32,200}$/);
    expect(answer.json.created_at).toBeGreaterThanOrEqual(before);
  });

  it("has defaults", async () => {
    const org = await app.org();
    const answer = await org.member.put(`/integrations/${org.name}/quality`, { unknown: "ignored" });
    expect(answer.json).toMatchObject({ flow_name_base: "key", flow_name_prefix: "", flow_name_suffix: "" });
  });

  it("changes settings, keeps URL and secret, and shows no secret", async () => {
    const org = await app.org();
    const webhook = await switchOn(org);
    const settings = { flow_name_base: "name", flow_name_prefix: "q-", flow_name_suffix: "-z" };
    const answer = await org.admin.put(`/integrations/${org.name}/quality`, settings);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ webhook_url: webhook.url, ...settings });
    expect(answer.json).not.toHaveProperty("secret");
    expect((await deliver(app.anonymous, webhook, analysis())).status).toBe(200);
  });

  it("makes one integration when several switch it on at once", async () => {
    const org = await app.org();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => org.member.put(`/integrations/${org.name}/quality`, {})),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
    expect(new Set(answers.map(({ json }) => json.webhook_url)).size).toBe(1);
  });

  it.each([
    [{ flow_name_base: "id" }, "flow_name_base", "Input should be 'key' or 'name' [input: id]"],
    [{ flow_name_prefix: 5 }, "flow_name_prefix", "Input should be a valid string [input: 5]"],
    [
      { flow_name_suffix: "x".repeat(51) },
      "flow_name_suffix",
      `String should have at most 50 characters [input: ${"x".repeat(51)}]`,
    ],
  ])("refuses %j", async (body, field, text) => {
    const org = await app.org();
    const answer = await org.member.put(`/integrations/${org.name}/quality`, body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({
      message: "Input payload validation failed",
      errors: { [field]: text },
    });
  });

  it("gives every organization a hook and a secret of its own", async () => {
    const [one, other] = [await app.org(), await app.org()];
    const [a, b] = [await switchOn(one), await switchOn(other)];
    expect(a.url).not.toBe(b.url);
    expect(a.secret).not.toBe(b.secret);
    expect((await deliver(app.anonymous, { url: a.url, secret: b.secret }, analysis())).status).toBe(401);
  });

  it("keeps the secret sealed and out of the log", async () => {
    const org = await app.org();
    const { secret } = await switchOn(org);
    const { rows } = await app.deps.db.pool.query(
      "select secret from quality_integrations where org_id = $1",
      [org.id],
    );
    expect(rows[0].secret.toString("latin1")).not.toContain(secret);
    expect(app.logged()).not.toContain(secret);
  });
});

describe("POST /integrations/{org}/quality/rotate-secret", () => {
  it("replaces the secret at once and keeps the URL", async () => {
    const org = await app.org();
    const old = await switchOn(org);
    const answer = await org.member.post(`/integrations/${org.name}/quality/rotate-secret`);
    expect(answer.status).toBe(200);
    expect(answer.json.webhook_url).toBe(old.url);
    expect(answer.json.secret).toMatch(/^[\w-]{32,200}$/);
    expect(answer.json.secret).not.toBe(old.secret);
    expect((await deliver(app.anonymous, old, analysis())).status).toBe(401);
    const fresh = { url: old.url, secret: answer.json.secret };
    expect((await deliver(app.anonymous, fresh, analysis())).status).toBe(200);
  });

  it("needs the integration to be on", async () => {
    const org = await app.org();
    const answer = await org.member.post(`/integrations/${org.name}/quality/rotate-secret`);
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual(notSwitchedOn(org));
  });
});

describe("DELETE /integrations/{org}/quality", () => {
  it("switches off: the URL is gone, deliveries stay", async () => {
    const org = await app.org();
    const webhook = await switchOn(org);
    await deliver(app.anonymous, webhook, analysis());
    const answer = await org.member.delete(`/integrations/${org.name}/quality`);
    expect(answer.status).toBe(200);
    expect(answer.json).toBe("OK");
    const late = await deliver(app.anonymous, webhook, analysis());
    expect(late.status).toBe(404);
    expect(late.json).toEqual({ message: "Webhook not found" });
    expect((await org.member.get(`/integrations/${org.name}`)).json).toEqual([off]);
    const deliveries = await org.member.get(`/integrations/${org.name}/quality/deliveries`);
    expect(deliveries.json.total_count).toBe(1);
  });

  it("is not found the second time", async () => {
    const org = await app.org();
    await switchOn(org);
    await org.member.delete(`/integrations/${org.name}/quality`);
    const again = await org.member.delete(`/integrations/${org.name}/quality`);
    expect(again.status).toBe(404);
    expect(again.json).toEqual(notSwitchedOn(org));
  });

  it("is followed by another URL and secret when switched on again", async () => {
    const org = await app.org();
    const old = await switchOn(org);
    await org.member.delete(`/integrations/${org.name}/quality`);
    const fresh = await switchOn(org);
    expect(fresh.url).not.toBe(old.url);
    expect(fresh.secret).not.toBe(old.secret);
  });
});

describe("who may", () => {
  const calls: [string, (client: Client, org: string) => Promise<Answer>][] = [
    ["list", (client, org) => client.get(`/integrations/${org}`)],
    ["switch on", (client, org) => client.put(`/integrations/${org}/quality`, {})],
    ["rotate", (client, org) => client.post(`/integrations/${org}/quality/rotate-secret`)],
    ["see deliveries", (client, org) => client.get(`/integrations/${org}/quality/deliveries`)],
    ["see a delivery", (client, org) => client.get(`/integrations/${org}/quality/deliveries/x`)],
    ["replay", (client, org) => client.post(`/integrations/${org}/quality/deliveries/x/replay`)],
    ["switch off", (client, org) => client.delete(`/integrations/${org}/quality`)],
  ];

  it.each(calls)("%s: admins and members only", async (_name, call) => {
    for (const kind of [false, true]) {
      const org = await app.org({ public: kind });
      for (const client of [org.admin, org.member])
        expect([200, 201, 404]).toContain((await call(client, org.name)).status);
      for (const client of [org.snapshotter, org.reader])
        expect((await call(client, org.name)).status).toBe(403);
      expect((await call((await app.user()).client, org.name)).status).toBe(403);
      expect((await call(app.anonymous, org.name)).status).toBe(401);
    }
  });
});

describe("audit", () => {
  it("has a row for each change, and none for what changed nothing", async () => {
    const org = await app.org();
    const path = `/integrations/${org.name}/quality`;
    await org.member.put(path, {});
    const changed = await org.member.put(path, { flow_name_base: "name" });
    app.clock.advance(1);
    expect((await org.member.put(path, { flow_name_base: "name" })).json).toEqual(changed.json);
    await org.member.post(`${path}/rotate-secret`);
    await org.member.delete(path);
    await org.member.delete(path);
    const row = (action: string) => ({
      action,
      actor_kind: "user",
      resource_type: "integration",
      resource: "quality",
    });
    expect(await auditedActions(org)).toEqual([
      row("put_quality_integration"),
      row("put_quality_integration"),
      row("rotate_quality_integration_secret"),
      row("delete_quality_integration"),
    ]);
  });
});
