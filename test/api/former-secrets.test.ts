import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { boolean, integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { sha256 } from "../../src/lib/hash.ts";
import { parseWireId } from "../../src/lib/ids.ts";
import { type KeyOwner, rotateKey } from "../../src/modules/kernel/access/key-service.ts";
import { openSession } from "../../src/modules/kernel/access/session-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { fromSite, signIn, type TestBrowser, trySignIn } from "../support/sessions.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

const hour = 3600;

interface AccountKey {
  id: string;
  key: string;
  owner: KeyOwner;
  rotate: (grace_period_hours: number) => Promise<{ key: string; grace_period_expires_at: number }>;
}

async function accountKey(): Promise<AccountKey> {
  const name = uniqueName("robot");
  await org.admin.post(`/service-accounts/${org.name}`, { name, privilege: "admin" });
  const keys = `/service-accounts/${org.name}/${name}/api-keys`;
  const { id, key } = (await org.admin.post(keys, { description: "x" })).json;
  const { rows } = await app.deps.db.pool.query(
    "select org_id, service_account_id from api_keys where id = $1",
    [parseWireId(id)],
  );
  return {
    id,
    key,
    owner: rows[0],
    rotate: async (grace_period_hours) =>
      (await org.admin.post(`${keys}/${id}/rotate`, { grace_period_hours })).json,
  };
}

const endOf = async (browser: TestBrowser): Promise<number> =>
  (await browser.get("/user")).json.session.expires_at;

const statusOf = async (browser: TestBrowser): Promise<number> => (await browser.get("/user")).status;

describe("a session begun with a former secret during its grace", () => {
  it("ends with that secret, and not one begun with the new one", async () => {
    const account = await accountKey();
    const { key: fresh, grace_period_expires_at } = await account.rotate(1);
    const [former, later] = [await signIn(app, account.key), await signIn(app, fresh)];
    expect(former.answer.json.session.expires_at).toBeCloseTo(grace_period_expires_at, 3);
    const { session } = later.answer.json;
    expect(session.expires_at).toBeCloseTo(session.created_at + 30 * 24 * hour, 3);
    expect([await statusOf(former), await statusOf(later)]).toEqual([200, 200]);
    app.clock.advance(hour + 1);
    expect((await app.as(account.key).get("/user")).status).toBe(401);
    expect([await statusOf(former), await statusOf(later)]).toEqual([401, 200]);
  });

  it("ends earlier where another rotation ends the secret earlier, and never later", async () => {
    const account = await accountKey();
    const first = await account.rotate(5);
    const former = await signIn(app, account.key);
    const second = await account.rotate(2);
    expect(await endOf(former)).toBeCloseTo(second.grace_period_expires_at, 3);
    await account.rotate(720);
    expect(await endOf(former)).toBeCloseTo(second.grace_period_expires_at, 3);
    const again = await signIn(app, account.key);
    expect(await endOf(again)).toBeCloseTo(second.grace_period_expires_at, 3);
    expect(second.grace_period_expires_at).toBeLessThan(first.grace_period_expires_at);
  });

  it("is listed until then, and not afterwards", async () => {
    const account = await accountKey();
    const { key: fresh } = await account.rotate(1);
    await signIn(app, account.key);
    const list = async (): Promise<unknown[]> => (await app.as(fresh).get("/user/sessions")).json.data;
    expect(await list()).toHaveLength(1);
    app.clock.advance(hour + 1);
    expect(await list()).toEqual([]);
  });
});

describe("a session begun while its key is given another secret", () => {
  it("ends with the secret, also when the rotation is done between finding the key and beginning the session", async () => {
    const account = await accountKey();
    const { answering, end } = await transaction(app.deps.db, async (tx) => {
      const { pid } = await tx.one(query({ pid: integer })`select pg_backend_pid() as pid`);
      const rotated = await rotateKey(app.deps, tx, {
        owner: account.owner,
        by: undefined,
        key_id: account.id,
        grace_period_hours: 1,
      });
      const answer = trySignIn(app, { api_key: account.key });
      await vi.waitFor(async () => {
        const { waits } = await app.deps.db.one(query({ waits: boolean })`
          select exists (select from pg_stat_activity where ${pid} = any(pg_blocking_pids(pid))) as waits`);
        expect(waits).toBe(true);
      }, 10_000);
      // In an object: what is returned is waited for.
      return { answering: { answer }, end: rotated.grace_period_expires_at };
    });
    const answer = await answering.answer;
    expect(answer.status).toBe(201);
    expect(answer.json.session.expires_at).toBeCloseTo(end, 3);
  });

  it.each([
    ["a secret that the key no longer has", sha256("forgotten")],
    ["no secret", undefined],
  ])("has ended already with %s", async (_what, secret_hash) => {
    const account = await accountKey();
    const browser = { user_agent: "", address: "127.0.0.1" };
    const api_key_id = parseWireId(account.id)!;
    const begin = (hash: Buffer | undefined): Promise<{ token: string }> =>
      transaction(app.deps.db, (tx) =>
        openSession(app.deps, tx, { owner: account.owner, api_key_id, secret_hash: hash, browser }),
      );
    const status = async ({ token }: { token: string }): Promise<number> => {
      const headers = { ...fromSite, cookie: `waybill-session=${token}` };
      return (await app.anonymous.get("/user", { headers })).status;
    };
    expect(await status(await begin(sha256(account.key)))).toBe(200);
    expect(await status(await begin(secret_hash))).toBe(401);
  });
});
