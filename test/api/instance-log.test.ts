import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import { instanceActions, instanceLogId } from "../../src/domain/instance-log.ts";
import {
  appendInstanceEntry,
  recorded,
  recordInstanceEntry,
} from "../../src/modules/kernel/audit/service.ts";
import { listGaps } from "../../src/modules/maintenance/backups/restore-store.ts";
import { commandActor } from "../../src/cli/command-deps.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";

let app: TestApp;
let org: TestOrg;
let root: TestUser;

const actor = commandActor("backup");
const entry = { actor, action: "backup", resource_type: "backup", resource: "one.tar" } as const;
const read = async (query = "") => (await root.client.get(`/instance/audit-log${query}`)).json;

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  root = await app.user({ instance_admin: true });
});
afterAll(() => app.close());

describe("GET /instance/audit-log", () => {
  it("is empty at first, and for administrators of the installation", async () => {
    expect(await read()).toMatchObject({ total_count: 0, entries: [] });
    expect((await org.admin.get("/instance/audit-log")).status).toBe(403);
  });

  it("has what was recorded, numbered from one, newest first, with its details", async () => {
    await recordInstanceEntry(app.deps, entry);
    const details = { bytes: 12, settings: ["WAYBILL_HOST"], ok: true, missing: null };
    await recordInstanceEntry(app.deps, {
      ...entry,
      action: "settings_changed",
      actor: { ...actor, kind: "user", id: root.id, name: root.name, address: "2001:db8::7" },
      details,
    });
    const log = await read();
    expect(log).toMatchObject({ page: 1, total_count: 2 });
    expect(log.entries).toMatchObject([
      { seq: 2, action: "settings_changed", actor: root.name, address: "2001:db8::7", details },
      { seq: 1, action: "backup", actor_kind: "system", address: null, details: null },
    ]);
    expect((await read("?action=backup")).entries).toMatchObject([{ seq: 1, resource: "one.tar" }]);
  });

  it("is in no list of organizations, and no address has it", async () => {
    const { rows } = await app.deps.db.pool.query("select from organizations where id = $1", [instanceLogId]);
    expect(rows).toEqual([]);
    for (const name of [instanceLogId, instanceLogId.slice(0, 32), "instance"])
      expect((await root.client.get(`/audit-log/${name}`)).status).toBe(403);
  });

  it("stays without gaps when many write at once, some of them in vain", async () => {
    const before = (await read()).total_count as number;
    const write = async (index: number): Promise<void> => {
      const done = recorded(app.deps, { org, actor }, async (tx, record) => {
        record("flow", `f${index}`);
        appendInstanceEntry(app.deps, tx, { ...entry, resource: `${index}.tar` });
        if (index % 3 === 0) throw new Error("in vain");
      });
      await done.catch((error: unknown) => {
        if ((error as Error).message !== "in vain") throw error;
      });
    };
    await Promise.all(Array.from({ length: 12 }, (_, index) => write(index)));
    const { entries, total_count } = await read("?sort_direction=asc&per_page=100");
    expect(total_count).toBe(before + 8);
    expect(entries.map(({ seq }: { seq: number }) => seq)).toEqual(
      Array.from({ length: before + 8 }, (_, index) => index + 1),
    );
    expect(await listGaps(app.deps.db)).toEqual([]);
  });

  it("takes every action there is", async () => {
    await transaction(app.deps.db, async (tx) => {
      for (const action of instanceActions) appendInstanceEntry(app.deps, tx, { ...entry, action });
    });
    const { entries } = await read(`?per_page=${instanceActions.length}`);
    expect(entries.map(({ action }: { action: string }) => action)).toEqual(instanceActions.toReversed());
  });

  it("is among what backups are checked for", async () => {
    await app.deps.db.pool.query("update org_counters set audit_seq = audit_seq + 1 where org_id = $1", [
      instanceLogId,
    ]);
    expect(await listGaps(app.deps.db)).toMatchObject([{ org_id: instanceLogId }]);
    await app.deps.db.pool.query("update org_counters set audit_seq = audit_seq - 1 where org_id = $1", [
      instanceLogId,
    ]);
  });
});

describe("the address of an entry", () => {
  it("is that of who sent the request, and can be emptied, but not changed", async () => {
    await org.admin.post(`/service-accounts/${org.name}`, { name: "robot" });
    const { entries } = (await org.admin.get(`/audit-log/${org.name}?resource=robot`)).json;
    expect(entries).toMatchObject([{ address: "127.0.0.1", details: null }]);
    const change = (what: string) =>
      app.deps.db.pool.query(`update audit_log set ${what} where org_id = $1 and address is not null`, [
        org.id,
      ]);
    for (const what of [
      "address = '::1'",
      "address = null, resource = 'x'",
      "details = '{}'",
      "seq = seq + 100",
    ])
      await expect(change(what)).rejects.toThrow(/insert-only/);
    expect((await change("address = null")).rowCount).toBe(1);
    await expect(app.deps.db.pool.query("delete from audit_log")).rejects.toThrow(/insert-only/);
  });
});
