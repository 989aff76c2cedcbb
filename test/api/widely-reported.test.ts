import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import type { Executor } from "../../src/db/connect.ts";
import { integer } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { listEventKeys, listTrailEvents } from "../../src/modules/process/trails/event-store.ts";
import { listLatestTrailEvents } from "../../src/modules/views/audit-packages/pdf-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attestAll, reportAll } from "../support/histories.ts";

/** Attestations on an artifact of one trail, and reports of it on others. */
const [attested, elsewhere] = [20, 400];

let app: TestApp;
let org: TestOrg;
let trail: string;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  const base = { name: "base", print: "base", commit: null };
  await reportAll(app, org, [{ ...base, trail: "run" }]);
  await attestAll(
    app,
    org,
    Array.from({ length: attested }, (_, at) => ({
      ...base,
      trail: "run",
      name: `check-${at}`,
      type: "generic",
      is_compliant: true,
      is_override: false,
      targets: null,
    })),
  );
  await reportAll(
    app,
    org,
    Array.from({ length: elsewhere }, (_, at) => ({ ...base, trail: `other-${at}` })),
  );
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    "select id from trails where org_id = $1 and name = 'run'",
    [org.id],
  );
  trail = rows[0]!.id;
  await app.deps.db.pool.query("analyze artifacts");
});
afterAll(() => app.close());

/** How many reports of artifacts are read meanwhile, in whatever month. */
function reportsRead(read: (db: Executor) => Promise<unknown>): Promise<number> {
  const counted = query({ read: integer })`
    select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read
    from pg_stat_xact_user_tables where relname ~ '^artifacts'`;
  return transaction(app.deps.db, async (tx) => {
    const before = await tx.one(counted);
    await read(tx);
    return (await tx.one(counted)).read - before.read;
  });
}

// Workers have the rows of Citus, and count what is read.
describe.skipIf(inject("cluster"))("what a trail tells of an artifact that many others have", () => {
  it.each<[string, (db: Executor) => Promise<unknown>]>([
    ["at once", (db) => listTrailEvents(db, org.id, trail)],
    ["by keys", (db) => listEventKeys(db, org.id, trail)],
    ["in a document", (db) => listLatestTrailEvents(db, org.id, trail, 10)],
  ])("is read without theirs, %s", async (_, read) => {
    expect(await reportsRead(read)).toBeLessThan(elsewhere);
  });
});
