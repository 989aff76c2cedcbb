import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { uuid } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { lockIdentities } from "../../src/modules/identity/organizations/service.ts";
import { createUserLike } from "../../src/modules/identity/users/naming-service.ts";
import { createUser } from "../../src/modules/identity/users/service.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { untilWaiting } from "../support/locks.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function serviceAccountOf(org: Awaited<ReturnType<TestApp["org"]>>) {
  await org.admin.post(`/service-accounts/${org.name}`, { name: "ci", privilege: "admin" });
  const key = await org.admin.post(`/service-accounts/${org.name}/ci/api-keys`, { description: "x" });
  return app.as(key.json.key);
}

describe("GET /user/default-org", () => {
  it("is empty for who never chose one", async () => {
    const { client } = await app.user();
    expect((await client.get("/user/default-org")).json).toEqual({ default_org_name: "" });
  });

  it("is a service account's own organization", async () => {
    const org = await app.org();
    const answer = await (await serviceAccountOf(org)).get("/user/default-org");
    expect(answer.json).toEqual({ default_org_name: org.name });
  });

  it("is empty again once the user is no member any more", async () => {
    const org = await app.org();
    const user = await app.user();
    await org.admin.put(`/members/${org.name}/${user.name}`, { role: "reader" });
    await user.client.put(`/user/${org.name}`);
    await org.admin.delete(`/members/${org.name}/${user.name}`);
    expect((await user.client.get("/user/default-org")).json).toEqual({ default_org_name: "" });
  });
});

describe("PUT /user/{org}", () => {
  it("sets it, with an empty body, the text null, and again", async () => {
    const user = await app.user();
    for (const options of [{}, { payload: "null", headers: { "content-type": "application/json" } }]) {
      const answer = await user.client.request("PUT", `/user/${user.name}`, options);
      expect([answer.status, answer.json]).toEqual([200, "OK"]);
    }
    expect((await user.client.get("/user/default-org")).json).toEqual({ default_org_name: user.name });
    const log = await user.client.get(`/audit-log/${user.name}?action=put_user_default_org`);
    expect(log.json.total_count).toBe(1);
  });

  it("denies an unknown, a foreign and a public foreign organization with the path", async () => {
    const user = await app.user();
    const names = ["no-such-org", (await app.org()).name, (await app.org({ public: true })).name];
    for (const name of names) {
      const answer = await user.client.put(`/user/${name}`);
      expect([answer.status, answer.json]).toEqual([
        403,
        { message: `Access denied to /api/v2/user/${name}` },
      ]);
    }
  });

  it("leaves a service account with its own organization", async () => {
    const org = await app.org();
    const account = await serviceAccountOf(org);
    expect((await account.put(`/user/${org.name}`)).status).toBe(200);
    const foreign = await account.put("/user/elsewhere");
    expect([foreign.status, foreign.json]).toEqual([
      403,
      { message: "Access denied to /api/v2/user/elsewhere" },
    ]);
  });
});

describe("/user/api-keys", () => {
  it("makes, lists and revokes the caller's own keys", async () => {
    const user = await app.user();
    const made = await user.client.post("/user/api-keys", { description: "laptop" });
    expect(made.status).toBe(201);
    expect(made.json.key).toMatch(/^[A-Za-z0-9_-]{43,}$/);
    const { key, ...shown } = made.json;
    const list = await user.client.get("/user/api-keys");
    expect(list.json).toContainEqual({ ...shown, last_used_at: 0 });
    expect(list.text).not.toContain(key);
    expect((await app.as(key).get("/user/api-keys")).status).toBe(200);

    const path = `/user/api-keys/${made.json.id}`;
    const revoked = await user.client.delete(path);
    expect([revoked.status, revoked.json]).toEqual([200, "revoked"]);
    const again = await user.client.delete(path);
    expect([again.status, again.json]).toEqual([404, { message: "API key not found" }]);
    expect((await app.as(key).get("/user/api-keys")).status).toBe(401);
  });

  it("records both in the personal organization", async () => {
    const user = await app.user();
    const { json } = await user.client.post("/user/api-keys", { description: "x" });
    await user.client.delete(`/user/api-keys/${json.id}`);
    const log = await user.client.get(`/audit-log/${user.name}?resource_type=api_key`);
    expect(
      log.json.entries.map((entry: { action: string; resource: string }) => [entry.action, entry.resource]),
    ).toEqual([
      ["delete_user_api_key", json.id],
      ["create_user_api_key", json.id],
    ]);
  });

  it("does not reach the keys of others, nor what is no id", async () => {
    const [one, other] = [await app.user(), await app.user()];
    const { json } = await one.client.post("/user/api-keys", { description: "x" });
    for (const id of [json.id, "x", "%00"]) {
      const answer = await other.client.delete(`/user/api-keys/${id}`);
      expect([400, 404]).toContain(answer.status);
    }
    expect((await app.as(json.key).get("/user/api-keys")).status).toBe(200);
  });

  it("refuses service accounts", async () => {
    const org = await app.org();
    const account = await serviceAccountOf(org);
    const answers = [
      await account.get("/user/api-keys"),
      await account.post("/user/api-keys", { description: "x" }),
      await account.delete("/user/api-keys/00000000-0000-0000-0000-00000000"),
    ];
    for (const answer of answers)
      expect([answer.status, answer.json]).toEqual([
        403,
        { message: "You don't have permission to access this resource" },
      ]);
  });
});

describe("creating a user", () => {
  const create = (input: { name: string; email?: string }) =>
    transaction(app.deps.db, (tx) => createUser(app.deps, tx, input));

  it("refuses a name in use and a mail address in use in any case", async () => {
    const name = uniqueName("ann");
    const email = `${name}@example.com`;
    await create({ name, email });
    await expect(create({ name })).rejects.toThrow(`The name '${name}' is already taken`);
    const upper = email.toUpperCase();
    await expect(create({ name: uniqueName("bob"), email: upper })).rejects.toThrow(
      `The mail address '${upper}' is already taken`,
    );
  });

  it("refuses a reserved name and leaves no user behind", async () => {
    await expect(create({ name: "metrics" })).rejects.toThrow("The name 'metrics' is reserved");
    const left = await app.deps.db.first(query({ id: uuid })`select id from users where name = 'metrics'`);
    expect(left).toBeUndefined();
  });

  it("refuses the name of a shared organization and leaves no user behind", async () => {
    const org = await app.org();
    await expect(create({ name: org.name })).rejects.toThrow(`The name '${org.name}' is already taken`);
    const left = await app.deps.db.first(query({ id: uuid })`select id from users where name = ${org.name}`);
    expect(left).toBeUndefined();
  });

  it("makes one of many asked for at once", async () => {
    const name = uniqueName("race");
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => create({ name })));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const result of results)
      if (result.status === "rejected") expect(String(result.reason)).toContain("is already taken");
  });

  it("takes its locks in the order of a first sign-in, so that two with one mail address do not deadlock", async () => {
    const [first, second] = [uniqueName("ann"), uniqueName("ann")];
    const email = `${first}@example.com`;
    const attempts = { signIn: 0, create: 0 };
    let creating: Promise<unknown> | undefined;
    const made = await transaction(app.deps.db, async (tx) => {
      attempts.signIn += 1;
      await lockIdentities(tx);
      creating ??= transaction(app.deps.db, (other) => {
        attempts.create += 1;
        return createUser(app.deps, other, { name: second, email });
      });
      creating.catch(() => {});
      await untilWaiting(app, creating);
      return createUserLike(app.deps, tx, { name: first, email });
    });
    expect(made.name).toBe(first);
    await expect(creating).rejects.toThrow(`The mail address '${email}' is already taken`);
    expect(attempts).toEqual({ signIn: 1, create: 1 });
  });
});
