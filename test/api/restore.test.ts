import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";

import { createApp } from "../../src/app.ts";
import { prepareDatabase } from "../../src/open-database.ts";
import { readConfig } from "../../src/config.ts";
import type { Database } from "../../src/db/connect.ts";
import { findSharedEvidence } from "../../src/db/evidence-mark.ts";
import { findQuarantine, requireRestored, UnfinishedRestoreError } from "../../src/db/restore-state.ts";
import { partitionedTables } from "../../src/domain/partitions.ts";
import { createLogger, silentLog } from "../../src/lib/log.ts";
import { DamagedArchive } from "../../src/lib/tar-reader.ts";
import { partitionTable } from "../../src/modules/maintenance/partitions/service.ts";
import { attest } from "../support/attestations.ts";
import { keepEvidence } from "../support/evidence.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { makeBackup, type RestoreTarget, restoreTarget } from "../support/restoring.ts";

let app: TestApp;
let org: TestOrg;
let folder: string;
let backup: string;

beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  org = await app.org();
  folder = await mkdtemp(join(tmpdir(), "waybill-restore-"));
  for (const trail of ["one", "two"])
    for (const attestation_name of ["unit", "lint"]) {
      const place = { org: org.name, flow: "web", trail };
      const sent = await attest(org.member, place, "generic", {
        attestation_name,
        is_compliant: trail === "one",
      });
      if (sent.status !== 201) throw new Error(`not attested: ${sent.status}`);
    }
  await keepEvidence(app, org, randomBytes(70_000));
  await partitionTable(app.deps, "attestations", () => {});
  backup = await makeBackup(app, join(folder, "backup.tar"));
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

/** A new database, and a way to restore into it. */
async function target(place: Parameters<typeof restoreTarget>[1] = {}): Promise<RestoreTarget> {
  const made = await restoreTarget(folder, place);
  endings.push(made.remove);
  return made;
}

type Schema = Record<string, string[]>;

/** Everything the schema consists of, as texts. */
async function schemaOf(db: Database): Promise<Schema> {
  const texts = async (text: string): Promise<string[]> =>
    (await db.pool.query<{ text: string }>(`${text} order by 1`)).rows.map((row) => row.text);
  return {
    indexes: await texts(
      "select indexdef as text from pg_indexes where schemaname in ('public', 'graphile_worker')",
    ),
    constraints: await texts(
      "select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as text from pg_constraint where connamespace = 'public'::regnamespace",
    ),
    triggers: await texts(
      "select tgrelid::regclass || pg_get_triggerdef(oid) || tgenabled::text as text from pg_trigger where not tgisinternal",
    ),
  };
}

/** What people read of the organization. */
async function answers(get: (path: string) => Promise<unknown>): Promise<unknown[]> {
  const paths = [
    `/trails/${org.name}/web/one`,
    `/trails/${org.name}/web/two`,
    `/attestations/${org.name}?per_page=50`,
    `/audit-log/${org.name}?per_page=50`,
    `/flows/${org.name}`,
    `/environments/${org.name}`,
    `/members/${org.name}`,
    `/organizations/${org.name}`,
  ];
  const found: unknown[] = [];
  for (const path of paths) found.push(await get(path));
  return found;
}

// On Citus no backup is made by this program.
describe.skipIf(inject("cluster"))("a restored database", { timeout: 60_000 }, () => {
  it("is the one that was backed up: answers, schema, evidence", async () => {
    const { opened, restore, evidenceDir, url } = await target();
    const { warnings, end, evidence_shared } = await restore(backup);
    const divided = inject("divided") ? partitionedTables : ["attestations"];
    expect(warnings.toSorted()).toEqual(
      divided.toSorted().map((name) => expect.stringContaining(`Table ${name} was divided by months`)),
    );
    expect(end.evidence_files).toBe(1);
    // Nobody else works with its evidence.
    expect(evidence_shared).toBe(false);
    expect(await opened(findSharedEvidence)).toBeUndefined();
    const empty = await target();
    const fresh = await empty.opened(async (db) => {
      await prepareDatabase(db, silentLog);
      return schemaOf(db);
    });
    expect(await opened(schemaOf)).toEqual(fresh);
    const copy = await createApp(
      readConfig({
        DATABASE_URL: url,
        WAYBILL_SECRET_KEY: app.deps.config.secretKey ?? "",
        WAYBILL_PUBLIC_URL: "http://waybill.test",
        WAYBILL_EVIDENCE_DIR: evidenceDir,
        WAYBILL_WEB: "0",
        WAYBILL_DATA_DIR: folder,
      }),
      { log: createLogger("silent"), clock: app.clock },
    );
    const ask = async (path: string): Promise<unknown> => {
      const { statusCode, body } = await copy.server.inject({
        url: `/api/v2${path}`,
        headers: { authorization: `Bearer ${org.admin.key ?? ""}` },
      });
      return { status: statusCode, json: JSON.parse(body) as unknown };
    };
    const asked = await answers(ask);
    const source = await answers(async (path) => {
      const { status, json } = await org.admin.get(path);
      return { status, json };
    });
    await copy.stop();
    expect(asked).toEqual(source);
    expect(asked.every((answer) => (answer as { status: number }).status === 200)).toBe(true);
  });

  it("is refused by servers until the restore is done, which can be begun again", async () => {
    const { opened, restore } = await target();
    const whole = await readFile(backup);
    const broken = join(folder, "broken.tar");
    await writeFile(broken, whole.subarray(0, whole.length - 2_000));
    await expect(restore(broken)).rejects.toThrow(DamagedArchive);
    await expect(opened(requireRestored)).rejects.toThrow(UnfinishedRestoreError);
    await restore(backup);
    await opened(requireRestored);
  });

  it("takes the place of another only when that is asked for", async () => {
    const { opened, restore } = await target({ template: inject("template") });
    await expect(restore(backup)).rejects.toThrow("The database is not empty");
    await opened(requireRestored);
    await opened(async (db) => {
      // Somebody works with it.
      await db.pool.query("select 1");
      await expect(restore(backup, { replace: true })).rejects.toThrow("connected to the database");
    });
    await restore(backup, { replace: true });
    await opened(requireRestored);
  });

  it("is quiet when it is a copy, and removes no evidence of the original if it works with the same store", async () => {
    const beside = await target();
    await beside.evidence.mark.write("the original's");
    const { head, evidence_shared } = await beside.restore(backup, { quarantine: true });
    expect(await beside.opened(findQuarantine)).toBe(head.id);
    expect(evidence_shared).toBe(true);
    expect(await beside.opened(findSharedEvidence)).toBe(new Date(head.database_time * 1000).toISOString());
  });
});
