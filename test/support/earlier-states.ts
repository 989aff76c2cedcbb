import { copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

import { migrationsFolder } from "../../src/open-database.ts";
import type { Database } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import { migrateJobs } from "../../src/jobs/runner.ts";
import { silentLog } from "../../src/lib/log.ts";

const folder = join(import.meta.dirname, "fixtures", "earlier-states");

/** Rows as servers of earlier versions wrote them, one file for each, the oldest first. Each names the migrations that it had. */
export const earlierStates = (await readdir(folder)).sort();

/** Makes an empty database what a server of that time left. @returns the migrations that it has. */
export async function makeEarlierState(db: Database, file: string): Promise<string[]> {
  const sql = (await promisify(gunzip)(await readFile(join(folder, file)))).toString();
  const applied = [...sql.matchAll(/^-- (\d{4}-\S+\.sql)$/gm)].map(([, name]) => name ?? "");
  const migrations = await mkdtemp(join(tmpdir(), "waybill-state-"));
  try {
    for (const name of applied) await copyFile(join(migrationsFolder, name), join(migrations, name));
    await migrate(db.direct, migrations);
  } finally {
    await rm(migrations, { recursive: true });
  }
  await migrateJobs(db.direct, silentLog);
  await db.direct.query(sql);
  return applied;
}
