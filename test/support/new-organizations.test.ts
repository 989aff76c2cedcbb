import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { sha256 } from "../../src/lib/hash.ts";
import { startTestApp, type TestApp } from "./app.ts";
import {
  createOrganizationAtOnce,
  createOrganizationStepwise,
  type NewOrganization,
  type OrganizationOptions,
} from "./new-organizations.ts";

let app: TestApp;
let deps: Pick<TestApp["deps"], "clock" | "db" | "ids">;
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

/** Counts the rows of all tables. */
const countAll = `
  select table_name, query_to_xml(format('select count(*) as rows from %I', table_name), false, true, '')::text as counted
  from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;

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

async function tallies(): Promise<Map<string, number>> {
  const { rows } = await app.deps.db.pool.query<{ table_name: string; counted: string }>(countAll);
  return new Map(
    rows.map(({ table_name, counted }) => [table_name, Number(/<rows>(\d+)/.exec(counted)![1])]),
  );
}

/** Tells how many rows something adds to which tables. */
async function addedBy(make: () => Promise<unknown>): Promise<Map<string, number>> {
  const before = await tallies();
  await make();
  const after = [...(await tallies())].map(([table, rows]): [string, number] => [
    table,
    rows - before.get(table)!,
  ]);
  return new Map(after.filter(([, added]) => added > 0));
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
    expect(added.size).toBe(6);
    expect(added).toEqual(await addedBy(() => createOrganizationStepwise(deps)));
  });
});
