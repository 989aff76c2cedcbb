import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

it("no table gathers statistics of organizations, which would make plans for new ones bad", async () => {
  const { rows } = await app.deps.db.pool.query<{ name: string; target: number | null }>(`
    select c.relname as name, nullif(a.attstattarget, -1) as target
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attname = 'org_id' and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`);
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter(({ target }) => target !== 0)).toEqual([]);
});
