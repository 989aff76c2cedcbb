import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { attestPassed } from "../support/attestations.ts";
import { putFlow } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe("trails that are reported to", () => {
  it("are in no index that says when, of which all would have to be written then", async () => {
    const { rows } = await app.deps.db.pool.query<{ definition: string }>(
      "select pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'trails'::regclass",
    );
    expect(rows.length).toBeGreaterThan(3);
    const changed = /\b(?:last_modified_at|repo_ids)\b/;
    expect(rows.filter(({ definition }) => changed.test(definition))).toEqual([]);
  });

  it.skipIf(inject("cluster"))("stay on their pages, also when all of a page are", async () => {
    const org = await app.org();
    expect((await putFlow(org.admin, org.name, { name: "web" })).status).toBe(201);
    const names = Array.from({ length: 120 }, (_, at) => `trail-${at}`);
    const report = async (attestation: string): Promise<void> => {
      for (const name of names) await attestPassed(org, name, attestation);
    };
    const pages = async (): Promise<number[]> => {
      const { rows } = await app.deps.db.pool.query<{ page: number }>(
        "select (ctid::text::point)[0]::integer as page from trails where org_id = $1 order by id",
        [org.id],
      );
      return rows.map(({ page }) => page);
    };
    await report("first");
    const before = await pages();
    expect(new Set(before).size).toBeGreaterThan(2);
    await report("second");
    await report("third");
    expect(await pages()).toEqual(before);
  });
});
