import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp } from "./app.ts";
import {
  createOrganizationAtOnce,
  createOrganizationStepwise,
  type NewOrganization,
  type OrganizationOptions,
} from "./new-organizations.ts";
import { rowCounts } from "./row-counts.ts";

let app: TestApp;
let deps: TestApp["deps"];
beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  deps = { ...app.deps, clock: { now: () => 1_900_000_000 } };
});
afterAll(() => app.close());

/** Rows of all tables that say something of an organization or of its members. */
const rowsOf = `
  with people as (select user_id from memberships where org_id = $1),
    organization as (select $1::uuid as id union all select id from organizations where owner_user_id in (table people))
  select 'users' as of, to_jsonb(t) as row from users t where id in (table people)
  union all select 'organizations', to_jsonb(t) from organizations t where id in (table organization)
  union all select 'org_counters', to_jsonb(t) from org_counters t where org_id in (table organization)
  union all select 'memberships', to_jsonb(t) from memberships t where org_id in (table organization)
  union all select 'membership_events', to_jsonb(t) from membership_events t where org_id in (table organization)
  union all select 'api_keys', to_jsonb(t) from api_keys t where user_id in (table people)`;

/** Puts words for what is another each time: ids, names, and SHA-256 of keys. */
async function rowsIn({ id, name, keys }: NewOrganization): Promise<string[]> {
  const { pool } = app.deps.db;
  const { rows } = await pool.query<{ of: string; row: object }>(rowsOf, [id]);
  const members = await pool.query<{ role: string; user_id: string; name: string; own: string }>(
    `select m.role, m.user_id, u.name, o.id as own
     from memberships m join users u on u.id = m.user_id join organizations o on o.owner_user_id = u.id where m.org_id = $1`,
    [id],
  );
  const words = new Map([
    [id, "organization"],
    [name, "name of organization"],
    ...members.rows.flatMap(({ role, user_id, name, own }): [string, string][] => [
      [user_id, role],
      [name, `name of ${role}`],
      [own, `organization of ${role}`],
    ]),
    ...Object.entries(keys).map(([role, key]): [string, string] => [
      `\\\\x${sha256(key).toString("hex")}`,
      `key of ${role}`,
    ]),
  ]);
  return rows
    .map(({ of, row }) => {
      let text = `${of} ${JSON.stringify(row)}`;
      for (const [value, word] of words) text = text.replaceAll(`"${value}"`, `"${word}"`);
      // Nothing refers to the ids of keys and of events.
      return text.replace(/"id":"[0-9a-f-]{36}"/, '"id":"an id"');
    })
    .toSorted();
}

/** Tells how many rows something adds to which tables. */
async function addedBy(make: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await rowCounts(app.deps.db.pool);
  await make();
  const after = Object.entries(await rowCounts(app.deps.db.pool));
  const added = after.map(([table, rows]): [string, number] => [table, rows - before[table]!]);
  return Object.fromEntries(added.filter(([, rows]) => rows > 0));
}

describe.skipIf(inject("cluster"))("an organization that is made at once", () => {
  it.each<OrganizationOptions>([{}, { public: true }, { kind: "personal" }])(
    "has the rows of one that the program made step by step: %j",
    async (options) => {
      const [stepwise, atOnce] = [
        await createOrganizationStepwise(deps, options),
        await createOrganizationAtOnce(deps, options),
      ];
      const rows = await rowsIn(atOnce);
      expect(rows).toHaveLength(4 + 5 + 5 + 8 + 4 + 4);
      expect(rows).toEqual(await rowsIn(stepwise));
    },
  );

  it("leaves nothing else", async () => {
    const added = await addedBy(() => createOrganizationAtOnce(deps));
    expect(Object.keys(added)).toHaveLength(6);
    expect(added).toEqual(await addedBy(() => createOrganizationStepwise(deps)));
  });
});
