import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, inject, it } from "vitest";

import { uniqueName } from "../../test/support/unique-name.ts";
import { createDatabase, dropDatabase, withDatabase } from "../../test/support/databases.ts";
import { connect, type Database } from "./connect.ts";
import { migrate } from "./migrate.ts";

let name: string;
let folder: string;
let db: Database;

beforeEach(async () => {
  name = uniqueName("waybill_exact").replaceAll("-", "_");
  folder = await mkdtemp(join(tmpdir(), "waybill-migrations-"));
  await createDatabase(inject("postgres"), name);
  db = connect({ connection: withDatabase(inject("postgres"), name), max: 4 });
});
afterEach(async () => {
  await db.close();
  await dropDatabase(inject("postgres"), name);
  await rm(folder, { recursive: true });
});

const org = "11111111-1111-7111-8111-111111110000";

it("keeps what was reported before evidence was kept as it is written, as it was shown", async () => {
  for (const file of (await readdir("migrations")).filter((one) => one < "0032"))
    await copyFile(join("migrations", file), join(folder, file));
  await migrate(db.pool, folder);
  const given = '{"bb": 1E5, "a": 9007199254740992, "n": 1.0, "10": 1, "9": 2}';
  await db.pool.query(
    `insert into attestations (org_id, id, flow_id, trail_id, name, type, is_compliant, annotations, user_data,
       type_data, created_at, created_by_name)
     values ($1, $1, $1, $1, 'unit', 'generic', true, '{"b": "x", "a": "y"}', $2, $2, now(), 'Ann')`,
    [org, given],
  );
  const read = async () =>
    (await db.pool.query("select annotations::text, user_data::text, type_data::text from attestations"))
      .rows[0];
  const before: unknown = await read();
  expect(before).toMatchObject({
    user_data: '{"9": 2, "a": 9007199254740992, "n": 1.0, "10": 1, "bb": 100000}',
  });
  await migrate(db.pool, "migrations");
  expect(await read()).toEqual(before);
  await expect(db.pool.query("update attestations set user_data = '{}'")).rejects.toThrow("attestations");
});
