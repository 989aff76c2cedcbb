import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { createApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { quarantine, releaseQuarantine } from "../../src/db/restore-state.ts";
import { createLogger } from "../../src/lib/log.ts";
import { urlOf } from "../support/databases.ts";
import { happen, inProd } from "../support/notifications.ts";
import { type Notified, startNotified } from "../support/notified.ts";

let notified: Notified;
let folder: string;

beforeAll(async () => {
  notified = await startNotified();
  folder = await mkdtemp(join(tmpdir(), "waybill-quarantine-"));
});
afterAll(async () => {
  await notified.stop();
  await rm(folder, { recursive: true });
});

/** Longer than a server takes to begin its background work, and to look twice whether it is released. */
const quietMs = 6_000;
const soon = { timeout: 30_000, interval: 200 };

it(
  "a copy delivers nothing, does nothing by the clock and notices no silence before it is released, and all of it afterwards",
  { timeout: 90_000 },
  async () => {
    const { app, receiver, watched } = notified;
    const { pool } = app.deps.db;
    const org = await watched({ triggers: ["ON_COMPLIANT_ENV", "ON_SILENT_ENV"] });
    const facts = { snapshot: { index: 1, compliant: true } };
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV", facts));
    await pool.query(
      "update environments set last_reported_at = now() - interval '1 hour', silence_limit = 60 where org_id = $1 and name = 'prod'",
      [org.id],
    );
    await pool.query(
      "insert into silence_watch (looked_at, since) values (now() + interval '1 hour', now() - interval '1 day')",
    );
    await pool.query("select graphile_worker.add_job('notice_silence')");
    await quarantine(app.deps.db, "a backup");
    const copy = await createApp(
      readConfig({
        DATABASE_URL: urlOf(inject("postgres"), app.database),
        WAYBILL_SECRET_KEY: app.deps.config.secretKey ?? "",
        WAYBILL_ALLOW_PRIVATE_TARGETS: "1",
        WAYBILL_WEB: "0",
        WAYBILL_DATA_DIR: folder,
        PORT: "0",
      }),
      { log: createLogger("silent"), clock: app.clock },
    );
    const known = async (): Promise<unknown[]> => {
      const { rows } = await pool.query<{ identifier: string }>(
        "select identifier from graphile_worker._private_known_crontabs",
      );
      return rows.map(({ identifier }) => identifier);
    };
    const silences = async (): Promise<number | null> =>
      (
        await pool.query("select from environment_silences where org_id = $1 and noticed_at is not null", [
          org.id,
        ])
      ).rowCount;
    const told = (): unknown[] => receiver.received.map(({ json }) => json.type ?? json.event_type ?? json);
    try {
      await copy.listen();
      await delay(quietMs);
      expect([told(), await known(), await silences()]).toEqual([[], [], 0]);
      expect(await releaseQuarantine(app.deps.db)).toBe(true);
      await expect.poll(() => told().length, soon).toBe(2);
      await expect.poll(known, soon).toContain("notice_silence");
      expect(await silences()).toBe(1);
    } finally {
      await copy.stop();
    }
  },
);
