import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";

import { migrationsFolder, prepareDatabase } from "../../src/open-database.ts";
import { connect, type Database } from "../../src/db/connect.ts";
import { openDedicated } from "../../src/db/dedicated.ts";
import { migrate, readMigrations } from "../../src/db/migrate.ts";
import { growingTables } from "../../src/domain/migration-effects.ts";
import { createEvidenceStore } from "../../src/evidence/create.ts";
import { migrateJobs } from "../../src/jobs/runner.ts";
import { silentLog } from "../../src/lib/log.ts";
import { backUpBeforeMigrating } from "../../src/modules/maintenance/backups/before-migrating-service.ts";
import { checkDatabase } from "../../src/modules/maintenance/backups/checks-service.ts";
import { folderPlace } from "../../src/modules/maintenance/backups/place-service.ts";
import { restoreBackup } from "../../src/modules/maintenance/backups/restore-service.ts";
import { createDatabase, dropDatabase, withDatabase } from "../support/databases.ts";
import { earlierStates, makeEarlierState } from "../support/earlier-states.ts";
import { amount } from "../support/thorough.ts";
import { uniqueName } from "../support/unique-name.ts";

const server = inject("postgres");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "waybill-states-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

/** Makes a database for the time of a test. */
async function newDatabase(template?: string): Promise<Database> {
  const name = uniqueName("state").replaceAll("-", "_");
  await createDatabase(server, name, template);
  const db = connect({ connection: withDatabase(server, name), max: 3 });
  endings.push(
    () => dropDatabase(server, name),
    () => db.close(),
  );
  return db;
}

const evidenceOf = (name: string) =>
  createEvidenceStore({ dir: join(folder, name), maxBytes: 1, s3: undefined });

/** Makes a database as a server of that time left it. @returns it, and the migrations that it has. */
async function restoreState(file: string): Promise<{ db: Database; applied: string[] }> {
  const db = await newDatabase();
  return { db, applied: await makeEarlierState(db, file) };
}

/** What is never lost, however the schema changes. */
const kept = [
  "artifacts",
  "attestations",
  "audit_log",
  "builds",
  "environments",
  "flows",
  "snapshots",
  "trails",
  "users",
];

async function countRows(db: Database): Promise<Record<string, number>> {
  const counts = kept.map((table) => `(select count(*)::int from ${table}) as ${table}`).join(", ");
  const { rows } = await db.direct.query<Record<string, number>>(`select ${counts}`);
  return rows[0] ?? {};
}

/** What has to hold of every database. */
async function problems(db: Database): Promise<string[]> {
  const connection = await openDedicated(db);
  try {
    return (await checkDatabase({ db, evidence: evidenceOf("none") }, connection, true)).failures;
  } finally {
    connection.cut();
  }
}

describe("a database of an earlier version", { timeout: 120_000 }, () => {
  it.each(earlierStates)("is brought up to date with all that is in it: %s", async (file) => {
    const { db } = await restoreState(file);
    const before = await countRows(db);
    expect(Math.min(...Object.values(before))).toBeGreaterThan(0);
    await prepareDatabase(db, silentLog);
    expect(await countRows(db)).toEqual(before);
    expect(await problems(db)).toEqual([]);
  });

  it.skipIf(inject("cluster"))(
    "is copied before tables are rewritten, and that copy can be restored",
    async () => {
      const { db } = await restoreState(earlierStates[0]!);
      const before = await countRows(db);
      let backup = "";
      await prepareDatabase(db, silentLog, async (pending) => {
        const place = { place: folderPlace(join(folder, "backups")), program: "0.0.1" };
        backup = await backUpBeforeMigrating({ db, evidence: evidenceOf("none") }, place, pending);
        return backup;
      });
      const { rows } = await db.pool.query("select bool_or(backup = $1) as noted from migrations", [backup]);
      expect(rows).toEqual([{ noted: true }]);

      const copy = await newDatabase();
      await restoreBackup(
        { db: copy, evidence: evidenceOf("copy") },
        {
          open: () => createReadStream(backup),
          openOther: async () => undefined,
          schema: {
            migrations: await readMigrations(migrationsFolder),
            makeUntil: async (_last, only) => {
              await migrate(copy.direct, migrationsFolder, { only });
              await migrateJobs(copy.direct, silentLog);
            },
            finish: () => prepareDatabase(copy, silentLog),
          },
          replace: false,
          quarantine: false,
          quick: true,
          report: () => {},
        },
      );
      expect(await countRows(copy)).toEqual(before);
    },
  );

  it("has its growing tables left alone by migrations that are not marked", async () => {
    const { db, applied } = await restoreState(earlierStates[0]!);
    const done = [...applied];
    for (const { name, rewrites } of await readMigrations(migrationsFolder)) {
      if (done.includes(name)) continue;
      const before = await lookAtTables(db);
      done.push(name);
      await migrate(db.direct, migrationsFolder, { only: done });
      if (!rewrites) expect([name, await changedSince(db, before)]).toEqual([name, []]);
    }
    expect(done.length).toBeGreaterThan(50);
  });
});

interface Look {
  files: Map<string, string>;
  indexes: Map<string, number>;
  /** Transactions from here on came later. */
  transaction: string;
}

async function lookAtTables(db: Database): Promise<Look> {
  const { rows } = await db.direct.query<{ name: string; file: string; indexes: number }>(
    `select relname as name, relfilenode::text as file, (select count(*)::int from pg_index where indrelid = c.oid) as indexes
     from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r' and relname = any($1)`,
    [growingTables],
  );
  const { rows: now } = await db.direct.query<{ xid: string }>(
    "select pg_snapshot_xmax(pg_current_snapshot())::text as xid",
  );
  return {
    files: new Map(rows.map(({ name, file }) => [name, file])),
    indexes: new Map(rows.map(({ name, indexes }) => [name, indexes])),
    transaction: now[0]?.xid ?? "",
  };
}

/** Tells which tables were written anew, or got indexes, or rows. */
async function changedSince(db: Database, before: Look): Promise<string[]> {
  const after = await lookAtTables(db);
  const found: string[] = [];
  for (const [name, file] of after.files) {
    if (!before.files.has(name)) continue;
    if (before.files.get(name) !== file) found.push(`${name} was written anew`);
    const { rows } = await db.direct.query<{ rows: number; written: number }>(
      `select count(*)::int as rows, count(*) filter (where xmin::text::bigint >= $1)::int as written from ${name}`,
      [before.transaction],
    );
    if ((rows[0]?.written ?? 0) > 0) found.push(`${name} has rows that were written`);
    if ((after.indexes.get(name) ?? 0) > (before.indexes.get(name) ?? 0) && (rows[0]?.rows ?? 0) > 0)
      found.push(`${name} got an index`);
  }
  return found;
}

/** All of them take a minute: every so many are enough each time. */
const step = Number(process.env["WAYBILL_TEST_STATES_STEP"] ?? amount(12, 6));

describe("a database that has hardly anything in it", { timeout: 240_000 }, () => {
  it.skipIf(inject("cluster"))("is brought up to date from wherever it stands", async () => {
    const names = (await readMigrations(migrationsFolder)).map(({ name }) => name);
    const base = uniqueName("stage").replaceAll("-", "_");
    await createDatabase(server, base);
    endings.push(() => dropDatabase(server, base));
    for (const [index, name] of names.entries()) {
      if (index > 1 && index % step !== 0) continue;
      // Closed each time: a database is only cloned while nobody is connected.
      const stage = connect({ connection: withDatabase(server, base), max: 1 });
      await migrate(stage.direct, migrationsFolder, { until: name });
      if (index === 1)
        await stage.direct.query(
          "insert into users (id, name, created_at) values (gen_random_uuid(), 'ann', now())",
        );
      await stage.close();
      const db = await newDatabase(base);
      expect(await migrate(db.direct, migrationsFolder)).toEqual(names.slice(index + 1));
      expect((await db.direct.query("select name from users")).rows).toEqual(
        index < 1 ? [] : [{ name: "ann" }],
      );
      for (const end of endings.splice(1).toReversed()) await end();
    }
  });
});
