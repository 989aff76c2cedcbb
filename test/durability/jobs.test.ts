import { EventEmitter, once } from "node:events";

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { createLastingConnection } from "../../src/db/lasting-connection.ts";
import { bePresent } from "../../src/jobs/presence.ts";
import { startJobs, superviseRunner } from "../../src/jobs/runner.ts";
import { silentLog } from "../../src/lib/log.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function count(sql: string): Promise<number> {
  return (await app.deps.db.pool.query<{ count: number }>(sql)).rows[0]!.count;
}

/** More than one: then graphile-worker no longer ends by itself. */
const jobsOfAKind = 3;

describe("background work", () => {
  it(
    "survives that the ends of jobs, good and bad, cannot be written down at first",
    { timeout: 60_000 },
    async () => {
      const { pool } = app.deps.db;
      // What is drawn from a sequence stays drawn, whatever is rolled back.
      await pool.query(`
      create sequence refusals;
      create function refuse() returns trigger language plpgsql as $$
        begin
          if old.locked_at is null then return new; end if;
          perform nextval('refusals');
          raise exception 'away';
        end $$;
      create trigger refuse before delete or update on graphile_worker._private_jobs
        for each row execute function refuse()`);
      const { db } = app.deps;
      const lasting = createLastingConnection(db);
      onTestFinished(() => lasting.close());
      const presence = bePresent({ db, lasting, log: silentLog, onRelease: () => {} });
      const jobs = await startJobs(
        pool,
        {
          good: () => {},
          bad: () => {
            throw new Error("not this time");
          },
        },
        { log: silentLog, presence },
      );
      try {
        await pool.query(
          `select graphile_worker.add_job('good'), graphile_worker.add_job('bad') from generate_series(1, ${jobsOfAKind})`,
        );
        await expect
          .poll(() => count("select last_value as count from refusals"), { timeout: 20_000 })
          .toBeGreaterThan(1);
        await pool.query("drop trigger refuse on graphile_worker._private_jobs");
        const unsettled =
          "select count(*) from graphile_worker.jobs where task_identifier = 'good' or attempts = 0";
        await expect.poll(() => count(unsettled), { timeout: 20_000 }).toBe(0);
        const failed = "select count(*) from graphile_worker.jobs where last_error = 'not this time'";
        await expect.poll(() => count(failed), { timeout: 20_000 }).toBe(jobsOfAKind);
      } finally {
        await jobs.stop();
        await presence.stop();
      }
    },
  );

  function fakeRunner() {
    const events = new EventEmitter();
    return {
      promise: once(events, "end").then(() => {}),
      stop: vi.fn(async () => void events.emit("end")),
      end: () => events.emit("end"),
    };
  }

  it("is started again when it ended by itself, as often as it takes", async () => {
    const [first, second] = [fakeRunner(), fakeRunner()];
    const start = vi.fn().mockRejectedValueOnce(new Error("away")).mockResolvedValueOnce(second);
    const jobs = superviseRunner(start, first, { log: silentLog, restartAfterMs: 1 });
    first.end();
    await expect.poll(() => start.mock.calls.length).toBe(2);
    await jobs.stop();
    expect(first.stop).not.toHaveBeenCalled();
    expect(second.stop).toHaveBeenCalledOnce();
    expect(start).toHaveBeenCalledTimes(2);
  });

  it("is not started again when it is stopped", async () => {
    const first = fakeRunner();
    const start = vi.fn();
    const jobs = superviseRunner(start, first, { log: silentLog, restartAfterMs: 60_000 });
    await jobs.stop();
    expect(start).not.toHaveBeenCalled();

    const ended = fakeRunner();
    const waiting = superviseRunner(start, ended, { log: silentLog, restartAfterMs: 60_000 });
    ended.end();
    await waiting.stop();
    expect(start).not.toHaveBeenCalled();
  });
});
