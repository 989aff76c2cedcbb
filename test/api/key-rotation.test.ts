import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";

import { importKey } from "../../src/cli/admin-keys.ts";
import { connect } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createDatabase, dropDatabase, withDatabase } from "../support/databases.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unknownKey = [404, { message: "API key not found" }];
const hour = 3600;

interface Setting {
  org: TestOrg;
  /** Path of the account's keys. */
  keys: string;
}

async function setting(): Promise<Setting> {
  const org = await app.org();
  await org.admin.post(`/service-accounts/${org.name}`, { name: "bot", privilege: "member" });
  return { org, keys: `/service-accounts/${org.name}/bot/api-keys` };
}

async function made({ org, keys }: Setting, more: object = {}) {
  return (await org.admin.post(keys, { description: "x", ...more })).json;
}

async function rotated({ org, keys }: Setting, id: string, body: object = {}) {
  const answer = await org.admin.post(`${keys}/${id}/rotate`, body);
  expect(answer.status).toBe(201);
  return answer.json;
}

/** Which of these secrets work now. */
async function working({ org }: Setting, secrets: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (const [name, secret] of Object.entries(secrets)) {
    const { status } = await app.as(secret).get(`/organizations/${org.name}`);
    expect([200, 401]).toContain(status);
    if (status === 200) found.push(name);
  }
  return found;
}

describe("POST …/api-keys/{key_id}/rotate", () => {
  it("recorded answer 11: keeps the id and changes the secret; both work for a day", async () => {
    const here = await setting();
    const { org, keys } = here;
    const old = await made(here);
    app.clock.advance(60);
    const before = app.clock.now();
    const fresh = await rotated(here, old.id);
    const { key, ...kept } = old;
    expect(fresh).toEqual({ ...kept, key: fresh.key, grace_period_expires_at: expect.any(Number) });
    expect(fresh.key).not.toBe(key);
    expect(fresh.grace_period_expires_at).toBeCloseTo(before + 24 * hour, 0);

    const shown = (await org.admin.get(`${keys}/${old.id}`)).json;
    expect(shown).toEqual({
      ...kept,
      last_used_at: 0,
      rotated_at: expect.any(Number),
      grace_period_expires_at: fresh.grace_period_expires_at,
    });
    expect(shown.grace_period_expires_at - shown.rotated_at).toBeCloseTo(24 * hour, 3);
    expect((await org.admin.get(keys)).json).toEqual([shown]);

    const secrets = { old: old.key, fresh: fresh.key };
    expect(await working(here, secrets)).toEqual(["old", "fresh"]);
    app.clock.advance(24 * hour - 60);
    expect(await working(here, secrets)).toEqual(["old", "fresh"]);
    app.clock.advance(120);
    expect(await working(here, secrets)).toEqual(["fresh"]);
    expect((await org.admin.get(keys)).json).toEqual([shown]);
  });

  it("ends the first successor after the grace of the second rotation", async () => {
    const here = await setting();
    const { id, key: first } = await made(here);
    const second = (await rotated(here, id, { grace_period_hours: 720 })).key;
    app.clock.advance(hour);
    const answer = await rotated(here, id, { grace_period_hours: 2 });
    const secrets = { first, second, third: answer.key };
    expect(answer.grace_period_expires_at).toBeCloseTo(app.clock.now() + 2 * hour, -1);
    expect((await here.org.admin.get(`${here.keys}/${id}`)).json).toMatchObject({
      grace_period_expires_at: answer.grace_period_expires_at,
    });
    expect(await working(here, secrets)).toEqual(["first", "second", "third"]);
    app.clock.advance(2 * hour + 60);
    expect(await working(here, secrets)).toEqual(["third"]);
  });

  it("never prolongs the grace of a secret by a later rotation", async () => {
    const here = await setting();
    const { id, key: first } = await made(here);
    const second = (await rotated(here, id, { grace_period_hours: 1 })).key;
    app.clock.advance(60);
    const third = (await rotated(here, id, { grace_period_hours: 720 })).key;
    const secrets = { first, second, third };
    expect(await working(here, secrets)).toEqual(["first", "second", "third"]);
    app.clock.advance(hour);
    expect(await working(here, secrets)).toEqual(["second", "third"]);
    app.clock.advance(720 * hour);
    expect(await working(here, secrets)).toEqual(["third"]);
    await rotated(here, id);
    const { rows } = await app.deps.db.pool.query("select count(*)::int as n from api_key_former_secrets f");
    const before = rows[0].n;
    app.clock.advance(25 * hour);
    await rotated(here, id);
    const after = await app.deps.db.pool.query("select count(*)::int as n from api_key_former_secrets f");
    expect(after.rows[0].n).toBe(before);
  });

  it("keeps the secret in use when the answer to a rotation was lost and it is sent again", async () => {
    const here = await setting();
    const { id, key } = await made(here);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotated(here, id)));
    const secrets = Object.fromEntries(answers.map((answer, index) => [`${index}`, answer.key]));
    expect(new Set(Object.values(secrets)).size).toBe(5);
    expect(await working(here, { key, ...secrets })).toHaveLength(6);
    app.clock.advance(24 * hour + 60);
    expect(await working(here, { key, ...secrets })).toHaveLength(1);
  });

  it("ends all secrets at once when the key is revoked, or its account removed", async () => {
    const here = await setting();
    const [one, two] = [await made(here), await made(here)];
    const secrets = {
      one: one.key,
      fresh: (await rotated(here, one.id, { grace_period_hours: 720 })).key,
      two: two.key,
      fresher: (await rotated(here, two.id, { grace_period_hours: 720 })).key,
    };
    expect((await here.org.admin.delete(`${here.keys}/${one.id}`)).json).toBe("revoked");
    expect(await working(here, secrets)).toEqual(["two", "fresher"]);
    const again = await here.org.admin.delete(`${here.keys}/${one.id}`);
    expect([again.status, again.json]).toEqual(unknownKey);
    await here.org.admin.delete(`/service-accounts/${here.org.name}/bot`);
    expect(await working(here, secrets)).toEqual([]);
  });

  it("keeps the end of the key unless another is given, and no former secret outlives it", async () => {
    const here = await setting();
    const expires_at = Math.floor(app.clock.now()) + hour;
    const kept = await made(here, { expires_at });
    expect(await rotated(here, kept.id)).toMatchObject({ expires_at, grace_period_expires_at: expires_at });

    const longer = await made(here, { expires_at });
    const later = expires_at + 30 * 24 * hour;
    expect(await rotated(here, longer.id, { expires_at: later })).toMatchObject({
      expires_at: later,
      grace_period_expires_at: expires_at,
    });
    const endless = await made(here, { expires_at });
    expect(await rotated(here, endless.id, { expires_at: 0 })).toMatchObject({ expires_at: 0 });

    const shorter = await made(here);
    const fresh = await rotated(here, shorter.id, { expires_at });
    expect(fresh).toMatchObject({ expires_at, grace_period_expires_at: expires_at });
    app.clock.advance(hour + 1);
    expect(await working(here, { shorter: shorter.key, fresh: fresh.key })).toEqual([]);
    const gone = await here.org.admin.post(`${here.keys}/${shorter.id}/rotate`, {});
    expect([gone.status, gone.json]).toEqual(unknownKey);
  });

  it("counts the use of a former secret as use of the key, and records each rotation once", async () => {
    const here = await setting();
    const { id, key } = await made(here);
    await rotated(here, id);
    expect(await working(here, { key })).toEqual(["key"]);
    await vi.waitFor(() => {
      const line = app
        .logged()
        .split("\n")
        .findLast((text) => text.includes('"operation":"get_organization"'));
      expect(JSON.parse(line!)).toMatchObject({ api_key_id: id });
    });
    const log = await here.org.admin.get(`/audit-log/${here.org.name}?action=rotate_service_account_api_key`);
    expect(log.json.entries).toMatchObject([{ resource_type: "api_key", resource: `bot/${id}` }]);
  });

  it.each([
    [
      { grace_period_hours: 0 },
      "grace_period_hours",
      "Input should be greater than or equal to 1 [input: 0]",
    ],
    [
      { grace_period_hours: 721 },
      "grace_period_hours",
      "Input should be less than or equal to 720 [input: 721]",
    ],
    [{ grace_period_hours: null }, "grace_period_hours", "Input should be a valid integer [input: None]"],
    [{ expires_at: 1 }, "expires_at", "Input should be a time in the future [input: 1]"],
  ])("refuses %j and leaves the key as it was", async (body, location, reason) => {
    const here = await setting();
    const { id, key } = await made(here);
    const before = (await here.org.admin.get(here.keys)).json;
    const answer = await here.org.admin.post(`${here.keys}/${id}/rotate`, body);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual({ [location]: expect.stringContaining(reason) });
    expect((await here.org.admin.get(here.keys)).json).toEqual(before);
    expect(await working(here, { key })).toEqual(["key"]);
  });

  it("answers 404 for a revoked key", async () => {
    const here = await setting();
    const { id } = await made(here);
    await here.org.admin.delete(`${here.keys}/${id}`);
    const answer = await here.org.admin.post(`${here.keys}/${id}/rotate`, {});
    expect([answer.status, answer.json]).toEqual(unknownKey);
    expect((await here.org.admin.get(here.keys)).json).toEqual([]);
  });

  it("does not let the value of a former secret be imported as another key", async () => {
    const here = await setting();
    const { id, key } = await made(here);
    await rotated(here, id);
    const options = { user: (await app.user()).name, description: "x" };
    await expect(importKey(app.deps, key, options)).rejects.toThrow("A key with this value already exists");
  });
});

describe("keys that were replaced before rotation kept the id", () => {
  it("end with their grace period", async () => {
    const name = uniqueName("waybill_upgrade").replaceAll("-", "_");
    const folder = await mkdtemp(join(tmpdir(), "waybill-migrations-"));
    await createDatabase(inject("postgres"), name);
    const db = connect({ connection: withDatabase(inject("postgres"), name), max: 2 });
    try {
      const all = (await readdir("migrations")).toSorted();
      const next = all.findIndex((file) => file.startsWith("0036-"));
      for (const file of all.slice(0, next)) await cp(join("migrations", file), join(folder, file));
      await migrate(db.pool, folder);
      await db.pool.query(`
        with u as (insert into users (id, name, created_at) values (gen_random_uuid(), 'ann', now()) returning id)
        insert into api_keys (id, key_hash, user_id, description, created_at, created_by_name, expires_at,
          rotated_at, grace_period_expires_at)
        select gen_random_uuid(), decode(k.hash, 'hex'), u.id, k.description, now(), 'ann', k.expires_at::timestamptz,
          k.rotated_at::timestamptz, k.grace::timestamptz
        from u, (values
          ('01', 'untouched', null, null, null), ('02', 'ends', '2030-01-01', null, null),
          ('03', 'replaced', null, '2026-01-01', '2026-01-02'),
          ('04', 'replaced, ends', '2030-01-01', '2026-01-01', '2026-01-02')
        ) as k (hash, description, expires_at, rotated_at, grace)`);
      await migrate(db.pool, "migrations");
      const { rows } = await db.pool.query(
        "select description, expires_at::date::text as ends from api_keys order by key_hash",
      );
      expect(rows).toEqual([
        { description: "untouched", ends: null },
        { description: "ends", ends: "2030-01-01" },
        { description: "replaced", ends: "2026-01-02" },
        { description: "replaced, ends", ends: "2026-01-02" },
      ]);
    } finally {
      await db.close();
      await dropDatabase(inject("postgres"), name);
      await rm(folder, { recursive: true });
    }
  });
});
