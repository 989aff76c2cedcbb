import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";

const names = (count: number, from: number): string[] =>
  Array.from({ length: count }, (_, at) => `app-${from + at}`);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe("versions that end", () => {
  it("are in no index that says so, of which all would have to be written then", async () => {
    const { rows } = await app.deps.db.pool.query<{ index: string; definition: string }>(
      "select indexrelid::regclass as index, pg_get_indexdef(indexrelid) as definition from pg_index where indrelid = 'snapshot_artifacts'::regclass",
    );
    expect(rows.length).toBeGreaterThan(5);
    // What alone an update of a version changes.
    expect(rows.filter(({ definition }) => /\b(?:last_index|facts)\b/.test(definition))).toEqual([]);
  });

  // The first that writes any: nothing is left on older pages.
  it.skipIf(inject("cluster"))("are followed by what exited in turns with what started", async () => {
    const org = await app.org();
    await createEnvironment(org, "turns", { type: "server" });
    await reportServer(org, "turns", names(6, 0));
    await reportServer(org, "turns", names(6, 10));
    const { rows } = await app.deps.db.pool.query<{ kind: string }>(
      `select split_part(type, '-', 1) as kind from snapshot_artifacts where org_id = $1 and first_index = 2 order by ctid`,
      [org.id],
    );
    expect(rows.filter((_row, at) => at % 2 === 0).map(({ kind }) => kind)).toEqual(
      Array(6).fill(rows[0]?.kind),
    );
    expect(rows.filter((_row, at) => at % 2 === 1).map(({ kind }) => kind)).toEqual(
      Array(6).fill(rows[1]?.kind),
    );
    expect(new Set(rows.map(({ kind }) => kind))).toEqual(new Set(["exited", "started"]));
  });

  it.skipIf(inject("cluster"))("stay on their pages, also when all end together", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", names(40, 0));
    const pages = async (): Promise<string[]> => {
      const { rows } = await app.deps.db.pool.query<{ page: string; ended: boolean }>(
        `select (ctid::text::point)[0]::integer as page, last_index is not null as ended from snapshot_artifacts
         where org_id = $1 and name like 'app-%' and type <> 'exited' and first_index = 1 order by id`,
        [org.id],
      );
      return rows.map(({ page, ended }) => `${page} ${ended}`);
    };
    const before = await pages();
    expect(before).toHaveLength(40);
    await reportServer(org, "prod", names(40, 40));
    expect(await pages()).toEqual(before.map((place) => place.replace("false", "true")));
  });
});
