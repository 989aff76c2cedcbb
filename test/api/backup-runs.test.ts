import { randomUUID } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openDedicated } from "../../src/db/dedicated.ts";
import type { BackupRunKind } from "../../src/domain/backup-runs.ts";
import { runActor } from "../../src/cli/command-deps.ts";
import { recordRun } from "../../src/modules/maintenance/backups/runs-service.ts";
import { startTestApp, type TestApp, type TestUser } from "../support/app.ts";

let app: TestApp;
let root: TestUser;

beforeAll(async () => {
  app = await startTestApp(
    {
      WAYBILL_BACKUP_TO: "/mnt/backups",
      WAYBILL_BACKUP_AT: "5 1 * * *",
      WAYBILL_BACKUP_KEEP: "7d,4w",
      WAYBILL_BACKUP_DRILL_AT: "off",
    },
    { maintained: true },
  );
  root = await app.user({ instance_admin: true });
});
afterAll(() => app.close());

interface Listed {
  last_backup: { file: string } | null;
  last_restore_drill: object | null;
  runs: { id: string; kind: string; state: string; problem: string | null; file: string | null }[];
}

async function listed(): Promise<Listed> {
  const { status, json } = await root.client.get("/instance/backups");
  expect(status).toBe(200);
  return json as Listed;
}

const run = (kind: BackupRunKind = "backup", alone = false) => ({
  id: randomUUID(),
  kind,
  scheduled: false,
  alone,
  actor: runActor(kind, false),
});

async function figures(): Promise<string> {
  return app.deps.metrics.registry.metrics();
}

describe("what is known of backups", () => {
  it("begins with nothing, and with what comes next", async () => {
    const next = Math.floor(app.clock.now() / 86_400) * 86_400 + 3_900;
    expect(await listed()).toMatchObject({
      to: "/mnt/backups",
      keep: "7d,4w",
      backup: { cron: "5 1 * * *", next_at: next > app.clock.now() ? next : next + 86_400 },
      restore_drill: null,
      last_backup: null,
      last_restore_drill: null,
      runs: [],
    });
    expect(await figures()).not.toMatch(/^waybill_backup_last_success_timestamp_seconds \d/m);
  });

  it("is for those who run the installation", async () => {
    const somebody = await app.user();
    expect((await somebody.client.get("/instance/backups")).status).toBe(403);
    expect((await app.anonymous.get("/instance/backups")).status).toBe(401);
  });

  it("shows a run while somebody is at it, and how it ended", async () => {
    const begun = run();
    await recordRun(app.deps, begun, async (note) => {
      note({ file: "/mnt/backups/one.tar", bytes: 10, rows: 20, evidence_files: 3 });
      expect((await listed()).runs[0]).toMatchObject({ id: begun.id, state: "running", file: null });
    });
    const { runs, last_backup } = await listed();
    expect(runs[0]).toMatchObject({
      id: begun.id,
      state: "succeeded",
      file: "/mnt/backups/one.tar",
      bytes: 10,
      rows: 20,
      evidence_files: 3,
      problem: null,
    });
    expect(last_backup).toEqual(runs[0]);
    const text = await figures();
    expect(text).toMatch(/^waybill_backup_last_success_timestamp_seconds \d{10}/m);
    expect(text).toMatch(/^waybill_backup_bytes 10$/m);
    expect(text).toMatch(/^waybill_backup_duration_seconds \d/m);
    expect(text).not.toMatch(/^waybill_restore_drill_last_success_timestamp_seconds \d/m);
  });

  it("shows why a run failed, and goes on counting from the last that did not", async () => {
    const failing = recordRun(app.deps, run(), () => Promise.reject(new Error("no room")));
    await expect(failing).rejects.toThrow("no room");
    const { runs, last_backup } = await listed();
    expect(runs[0]).toMatchObject({ state: "failed", problem: "no room" });
    expect(last_backup).toMatchObject({ file: "/mnt/backups/one.tar" });
  });

  it("says so when whoever was at it is no more", async () => {
    const lost = run();
    let cut = (): void => {};
    const never = recordRun(app.deps, lost, () => new Promise(() => {}));
    never.catch(() => {});
    await expect.poll(async () => (await listed()).runs[0]).toMatchObject({ id: lost.id, state: "running" });
    const connection = await openDedicated(app.deps.db);
    cut = connection.cut;
    const { rows } = await app.deps.db.pool.query<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and objsubid = 1 and pid <> pg_backend_pid()
         and database = (select oid from pg_database where datname = current_database())`,
    );
    for (const { pid } of rows)
      await app.deps.db.pool.query("select pg_terminate_backend($1::integer)", [pid]);
    cut();
    await expect
      .poll(async () => (await listed()).runs.find(({ id }) => id === lost.id))
      .toMatchObject({ state: "interrupted" });
  });

  it("is in the log of the instance when it has ended", async () => {
    const { status, json } = await root.client.get("/instance/audit-log?action=backup");
    expect(status).toBe(200);
    const { entries } = json as { entries: { resource: string; actor: string; details: object }[] };
    expect(entries.map(({ resource, actor }) => [resource, actor])).toEqual([
      ["none", "waybill backup"],
      ["/mnt/backups/one.tar", "waybill backup"],
    ]);
    expect(entries[0]?.details).toMatchObject({ ok: false, problem: "no room" });
    expect(entries[1]?.details).toEqual({ ok: true, scheduled: false, bytes: 10, rows: 20, problem: null });
  });

  it("is alone where it has to be", async () => {
    let end = (): void => {};
    const first = recordRun(app.deps, run("restore_drill"), () => new Promise<void>((done) => (end = done)));
    await expect.poll(async () => (await listed()).runs[0]).toMatchObject({ state: "running" });
    await expect(recordRun(app.deps, run("restore_drill", true), async () => {})).rejects.toThrow(
      "Another drill is under way",
    );
    end();
    await first;
    await recordRun(app.deps, run("restore_drill", true), async () => {});
    expect(await figures()).toMatch(/^waybill_restore_drill_last_success_timestamp_seconds \d{10}/m);
  });
});
