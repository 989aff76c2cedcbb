import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const reportedTo = [
  "artifacts",
  "attestation_heads",
  "attestations",
  "search_words",
  "trail_compliance",
  "trail_events",
  "trail_outcomes",
  "trails",
];

it("what pipelines report gathers no statistics of organizations, which make bad plans for new ones", async () => {
  const { rows } = await app.deps.db.pool.query<{ name: string }>(`
    select c.relname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
    where a.attname = 'org_id' and a.attstattarget = 0 and c.relnamespace = 'public'::regnamespace
    order by c.relname`);
  expect(rows.map(({ name }) => name)).toEqual(reportedTo);
});
