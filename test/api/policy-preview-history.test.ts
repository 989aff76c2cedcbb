import { afterAll, beforeAll, expect, it } from "vitest";

import { integer, text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { listRan } from "../../src/modules/runtime/changes/policies/preview-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";

/** Reports, each of which replaces all artifacts but one. */
const reports = 40;
const artifacts = 10;

let app: TestApp;
let org: TestOrg;
let environment_id: string;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  // Its versions are numbered on their own.
  for (const name of ["other", "prod"]) await createEnvironment(org, name, { type: "server" });
  for (let at = 1; at <= reports; at += 1)
    for (const name of ["other", "prod"])
      await reportServer(org, name, [
        "stays",
        ...Array.from({ length: artifacts }, (_, n) => `${name}-${n} ${at % 7 === 0 ? at - 1 : at}`),
      ]);
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    "select id from environments where org_id = $1 and name = 'prod'",
    [org.id],
  );
  environment_id = rows[0]!.id;
  await app.deps.db.pool.query("analyze snapshot_artifacts");
}, 120_000);
afterAll(() => app.close());

const idOf = (one: { name: string; first_index: number; last_index: number | null }): string =>
  `${one.name} ${one.first_index}-${one.last_index}`;

it("finds what ran from any snapshot to any other, and nothing else", async () => {
  const { db } = app.deps;
  const versions = await db.all(query({ name: text, first_index: integer, last: integer })`
    select name, first_index, coalesce(last_index, 1000000)::integer as last from snapshot_artifacts
    where org_id = ${org.id}::uuid and environment_id = ${environment_id}::uuid and type <> 'exited'`);
  const snapshots = await db.one(query({ count: integer })`
    select count(*)::integer as count from snapshots
    where org_id = ${org.id}::uuid and environment_id = ${environment_id}::uuid`);
  expect(snapshots.count).toBeGreaterThan(reports * 0.8);
  for (let low = 1; low <= snapshots.count; low += 1)
    for (const high of new Set([low, low + 1, low + 9, snapshots.count])) {
      if (high > snapshots.count) continue;
      const ran = await listRan(db, org.id, [{ environment_id, low, high }], 10_000);
      const wanted = versions.filter(({ first_index, last }) => first_index <= high && last >= low);
      const expected = wanted.map(({ last, ...one }) =>
        idOf({ ...one, last_index: last === 1_000_000 ? null : last }),
      );
      expect(ran.map(idOf).toSorted()).toEqual(expected.toSorted());
    }
}, 60_000);

it("reads no more of what ran before", async () => {
  const counted = query({ read: integer })`
    select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer as read
    from pg_stat_xact_user_tables where relname ~ '^snapshot_artifacts'`;
  const high = reports - Math.floor(reports / 7);
  for (const [low, most] of [
    [high, 2 * artifacts + 2],
    [high - 1, 10 * artifacts],
  ] as const) {
    const read = await transaction(app.deps.db, async (tx) => {
      const before = await tx.one(counted);
      const ran = await listRan(tx, org.id, [{ environment_id, low, high }], 10_000);
      expect(ran.length).toBeGreaterThanOrEqual(artifacts + 1);
      return (await tx.one(counted)).read - before.read;
    });
    expect(read).toBeLessThan(most);
  }
});
