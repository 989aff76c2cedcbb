import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { sql } from "../../src/db/sql.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  app.clock.freeze();
});
afterAll(() => app.close());

const day = 86_400;

/** Makes an administrator's service account. @returns the path of its keys. */
async function account(of: TestOrg): Promise<string> {
  await of.admin.post(`/service-accounts/${of.name}`, { name: "bot", privilege: "admin" });
  return `/service-accounts/${of.name}/bot/api-keys`;
}

const rulesOf = ({ name }: TestOrg): string => `/organizations/${name}/security`;

describe("rules for keys that become stricter", () => {
  it("let no key work again that they had ended", async () => {
    const here = await app.org();
    const keys = await account(here);
    const path = `/organizations/${here.name}`;
    const rule = (service: number | null, personal: number | null = null, more = {}) =>
      here.admin.put(rulesOf(here), { max_key_age_days: { service, personal }, ...more });
    const old = (await here.admin.post(keys, { description: "old" })).json;
    const status = async (key = old.key as string): Promise<number> => (await app.as(key).get(path)).status;
    const deadline = async (): Promise<number> =>
      (await here.admin.get(keys)).json.find(({ id }: { id: string }) => id === old.id).deadline_at;
    await rule(60);
    app.clock.advance(61 * day);
    const ended = await deadline();
    expect([await status(), ended < app.clock.now()]).toEqual([401, true]);

    // By each rule, by several one after the other, and by laxer ones in between that it would not have kept either.
    for (const change of [
      () => rule(30),
      () => rule(20),
      () => rule(20, 10),
      () => rule(20, 10, { require_expiry: true }),
      () => rule(55),
      () => rule(54),
    ]) {
      expect((await change()).status).toBe(200);
      expect([await status(), await deadline()]).toEqual([401, ended]);
      app.clock.advance(day);
    }
    app.clock.advance(40 * day);
    await rule(53);
    expect(await status()).toBe(401);

    await rule(200);
    expect(await status(), "by a rule that it keeps").toBe(200);
    await rule(50);
    expect(await status(), "because it worked").toBe(200);
    app.clock.advance(31 * day);
    expect(await status()).toBe(401);
    await rule(49);
    const rotated = (await here.admin.post(`${keys}/${old.id}/rotate`, {})).json;
    expect(await status(rotated.key as string)).toBe(200);
  });

  it("for one kind of keys give no time to the other, nor to what ended meanwhile", async () => {
    const here = await app.org();
    const path = `/organizations/${here.name}`;
    /** Rules the installation, by somebody whose key is young. */
    const rule = async (personal: number, service: number | null = null): Promise<void> => {
      const { client } = await app.user({ instance_admin: true });
      const answer = await client.put("/instance/security", { max_key_age_days: { personal, service } });
      expect(answer.status).toBe(200);
    };
    const person = await app.user();
    const status = async (): Promise<number> => (await person.client.get("/user")).status;
    await rule(100);
    app.clock.advance(90 * day);
    await rule(100, 50);
    app.clock.advance(11 * day);
    expect(await status()).toBe(401);
    await rule(90, 40);
    expect(await status()).toBe(401);
    await rule(80);
    expect(await status()).toBe(401);
    await app.deps.db.run(
      sql`delete from security_rules where org_id = '00000000-0000-0000-0000-000000000000'`,
    );

    // Made after a rule that is still giving time to those before, and ended by it.
    await here.admin.put(rulesOf(here), { max_key_age_days: { personal: 5 } });
    const { key } = (await here.member.post("/user/api-keys", { description: "young" })).json;
    app.clock.advance(6 * day);
    expect((await app.as(key).get(path)).status).toBe(403);
    await here.admin.put(rulesOf(here), { max_key_age_days: { personal: 3 } });
    expect((await app.as(key).get(path)).status).toBe(403);
    expect((await here.member.get(path)).status).toBe(200);
  });
});
