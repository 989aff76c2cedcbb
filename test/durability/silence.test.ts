import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { putEnv } from "../support/actions.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { createEnvironment } from "../support/environments.ts";
import { startServer, withDataDir } from "../support/server-process.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const environments = 600;

/** The database of the test, as servers of their own find it. */
function databaseUrl(): string {
  const { connectionString, host, port, user, password, database } = app.deps.db.pool.options;
  if (connectionString !== undefined) return connectionString;
  const url = new URL(`postgres://localhost/${database}`);
  url.port = String(port ?? 5432);
  url.username = user ?? "";
  url.password = typeof password === "string" ? password : "";
  url.searchParams.set("host", host ?? "localhost");
  return url.href;
}

async function count(text: string, ...values: unknown[]): Promise<number> {
  return (await app.deps.db.pool.query<{ count: number }>(text, values)).rows[0]!.count;
}

describe("kill -9 while several servers notice silence", () => {
  it("tells each silence exactly once", { timeout: 120_000 }, async () => {
    const org = await app.org();
    const { pool } = app.deps.db;
    await createEnvironment(org, "prod", { type: "server" });
    // Without a mail server nothing leaves this machine.
    const targets = [{ type: "EMAIL", emails: ["ops@example.org"] }];
    expect((await putEnv(org, { triggers: ["ON_SILENT_ENV"], targets })).status).toBe(201);
    // As many silent ones, all watched by the same action, straight into the database.
    await pool.query(
      `insert into environments (org_id, id, name, type, created_at, last_modified_at, last_reported_at, silence_limit)
       select $1, gen_random_uuid(), 'env-' || n, 'server', now(), now(), now() - interval '1 hour', 60
       from generate_series(1, $2) n`,
      [org.id, environments],
    );
    await pool.query(
      `insert into action_environments (org_id, action_number, environment_id, position)
       select org_id, 1, id, row_number() over () + 1 from environments where org_id = $1 and name like 'env-%'`,
      [org.id],
    );
    await pool.query(
      "insert into silence_watch (looked_at, since) values (now() + interval '1 hour', now() - interval '1 day')",
    );
    const ask = (jobs: number) =>
      pool.query("select graphile_worker.add_job('notice_silence') from generate_series(1, $1)", [jobs]);
    const told = () => count("select count(*) from notification_deliveries where org_id = $1", org.id);
    await withDataDir(async (dataDir) => {
      const environment = {
        DATABASE_URL: databaseUrl(),
        WAYBILL_SECRET_KEY: app.deps.config.secretKey ?? "",
      };
      const doomed = await startServer(dataDir, environment);
      await ask(8);
      await expect.poll(told, { interval: 1, timeout: 20_000 }).toBeGreaterThan(0);
      await doomed.kill();
      const others = await Promise.all([1, 2].map(() => startServer(dataDir, environment)));
      await ask(8);
      await expect.poll(told, { timeout: 40_000 }).toBe(environments);
      await ask(8);
      const waiting =
        "select count(*) from graphile_worker.jobs where task_identifier = 'notice_silence' and locked_at is null";
      await expect.poll(() => count(waiting), { timeout: 20_000 }).toBe(0);
      for (const server of others) expect(await server.stop()).toBe(0);
    });
    expect(await told()).toBe(environments);
    const subjects =
      "select count(distinct occurrence -> 'subject' ->> 'name') from notification_deliveries where org_id = $1";
    expect(await count(subjects, org.id)).toBe(environments);
    expect(await count("select count(*) from environment_silences where org_id = $1", org.id)).toBe(
      environments,
    );
  });
});
