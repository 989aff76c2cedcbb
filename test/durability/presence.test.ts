import { setTimeout as delay } from "node:timers/promises";

import type { JobHelpers } from "graphile-worker";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { dropJob, listJobs, retryJob } from "../../src/cli/admin-jobs.ts";
import { print } from "../../src/cli/output.ts";
import { createLastingConnection, type LastingConnection } from "../../src/db/lasting-connection.ts";
import { joinServers, type LiveServers } from "../../src/db/live-servers.ts";
import { invalid } from "../../src/domain/errors.ts";
import { carefulTasks } from "../../src/jobs/careful.ts";
import { releaseJobs, type ReleasedJobs } from "../../src/jobs/ends-store.ts";
import { bePresent, type Presence } from "../../src/jobs/presence.ts";
import { startJobs } from "../../src/jobs/runner.ts";
import { createSolitude } from "../../src/jobs/solitude.ts";
import { countStopped, listStopped } from "../../src/jobs/stopped-store.ts";
import { silentLog } from "../../src/lib/log.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.deps.db.pool.query(
    "delete from graphile_worker._private_jobs; delete from job_ends; delete from job_workers",
  );
});

function lastingConnection(): LastingConnection {
  const lasting = createLastingConnection(app.deps.db);
  onTestFinished(() => lasting.close());
  return lasting;
}

/** Shows a server of its own, unless another one's connection is given. */
function present(
  graceMs: number,
  lasting = lastingConnection(),
): { presence: Presence; releases: ReleasedJobs[] } {
  const releases: ReleasedJobs[] = [];
  const { db } = app.deps;
  const onRelease = (jobs: ReleasedJobs): void => void releases.push(jobs);
  const presence = bePresent({ db, lasting, log: silentLog, onRelease, lookEveryMs: 100, graceMs });
  onTestFinished(() => presence.stop());
  return { presence, releases };
}

/** Lists the locks of sessions on the database, by connection. */
async function heldLocks(): Promise<{ pid: number; mode: string }[]> {
  const { rows } = await app.deps.db.pool.query<{ pid: number; mode: string }>(
    `select l.pid, l.mode from pg_locks l
     where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
     order by l.mode`,
  );
  return rows;
}

/** Queues a job that a worker holds. @returns its number. */
async function held(worker: string): Promise<number> {
  const { rows } = await app.deps.db.pool.query<{ id: number }>(
    `with job as (select (graphile_worker.add_job('any')).id)
     select id from job`,
  );
  await hold(rows[0]!.id, worker);
  return rows[0]!.id;
}

async function hold(id: number, worker: string): Promise<void> {
  await app.deps.db.pool.query(
    "update graphile_worker._private_jobs set locked_by = $2, locked_at = now(), attempts = attempts + 1 where id = $1",
    [id, worker],
  );
}

async function workers(server: string, ...ids: string[]): Promise<void> {
  for (const id of ids)
    await app.deps.db.pool.query("insert into job_workers (id, server) values ($1, $2)", [id, server]);
}

async function endsNow(): Promise<Record<string, unknown>[]> {
  const sql = "select job_id as id, ends, set_aside_at is not null as aside from job_ends order by job_id";
  return (await app.deps.db.pool.query(sql)).rows;
}

describe("the presence of a server", () => {
  it("outlives its connection, and is missed when it ends", { timeout: 60_000 }, async () => {
    const [mine, other] = [present(60_000), present(3_000)];
    await mine.presence.announce("w");
    const id = await held("w");
    const { db } = app.deps;
    const { pool } = db;
    for (let round = 0; round < 3; round += 1) {
      const { rowCount } = await pool.query(
        `select pg_terminate_backend(l.pid) from pg_locks l
         where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())`,
      );
      expect(rowCount).toBe(1);
      await delay(1_500);
    }
    await delay(3_000);
    expect(other.releases).toEqual([]);
    await mine.presence.stop();
    await expect.poll(() => other.releases, { timeout: 30_000 }).toEqual([{ released: 1, setAside: [] }]);
    expect(await endsNow()).toEqual([{ id, ends: 1, aside: false }]);
    expect((await pool.query("select from job_workers")).rowCount).toBe(0);
  });

  it("is given up without blame by a worker that stops", async () => {
    const { presence } = present(60_000);
    await presence.announce("w");
    await held("w");
    await presence.retire("w");
    expect(await endsNow()).toEqual([]);
    const { rows } = await app.deps.db.pool.query("select locked_by from graphile_worker.jobs");
    expect(rows).toEqual([{ locked_by: null }]);
    expect(await heldLocks()).toEqual([]);
  });

  it("and being counted take one connection, which comes back with both", { timeout: 60_000 }, async () => {
    const lasting = lastingConnection();
    const count = (connection: LastingConnection): LiveServers => {
      const onError = vi.fn();
      const servers = joinServers({ lasting: connection, onError, countEveryMs: 100 });
      onTestFinished(() => servers.stop());
      return servers;
    };
    const [servers, others] = [count(lasting), count(lastingConnection())];
    const { presence } = present(60_000, lasting);
    await presence.announce("w");
    await expect.poll(() => [servers.count(), others.count()], { timeout: 20_000 }).toEqual([2, 2]);
    const mine = (await heldLocks()).find(({ mode }) => mode === "ExclusiveLock")!;
    const modesOf = async (pid: number): Promise<string[]> =>
      (await heldLocks()).filter((lock) => lock.pid === pid).map(({ mode }) => mode);
    expect(await modesOf(mine.pid)).toEqual(["ExclusiveLock", "ShareLock"]);
    await app.deps.db.pool.query("select pg_terminate_backend($1)", [mine.pid]);
    const next = async (): Promise<number | undefined> =>
      (await heldLocks()).find(({ mode, pid }) => mode === "ExclusiveLock" && pid !== mine.pid)?.pid;
    await expect.poll(next, { timeout: 20_000 }).toBeDefined();
    const pid = (await next())!;
    await expect.poll(() => modesOf(pid), { timeout: 20_000 }).toEqual(["ExclusiveLock", "ShareLock"]);
    // Who ends one of the two keeps the other.
    await servers.stop();
    await expect.poll(() => others.count(), { timeout: 20_000 }).toBe(1);
    expect(await modesOf(pid)).toEqual(["ExclusiveLock"]);
    await presence.stop();
    expect(await modesOf(pid)).toEqual([]);
  });
});

describe("the end of a server", () => {
  it("is held against nobody for good who did not run alone", async () => {
    const { db } = app.deps;
    const { pool } = db;
    const jobs = [await held("a"), await held("a"), await held("b")];
    for (let end = 1; end <= 5; end += 1) {
      await workers("one server", "a", "b");
      for (const id of jobs) await hold(id, id === jobs[2] ? "b" : "a");
      expect(await releaseJobs(db, ["a", "b"])).toEqual({ released: 3, setAside: [] });
      expect(await endsNow()).toEqual(jobs.map((id) => ({ id, ends: end, aside: false })));
    }
    // Now one of them runs alone, and the others wait for it.
    await workers("one server", "a", "b");
    for (const id of jobs) await hold(id, "a");
    await pool.query("update job_ends set alone_with = 'a' where job_id = $1", [jobs[1]]);
    expect(await releaseJobs(db, ["a", "b"])).toEqual({
      released: 3,
      setAside: [{ id: jobs[1], task: "any" }],
    });
    expect(await endsNow()).toEqual([
      { id: jobs[0], ends: 5, aside: false },
      { id: jobs[1], ends: 6, aside: true },
      { id: jobs[2], ends: 5, aside: false },
    ]);
    expect(await countStopped(db)).toEqual({ set_aside: 1, failed: 0 });
    // What others have given back is not counted twice.
    expect(await releaseJobs(db, ["a", "b"])).toEqual({ released: 0, setAside: [] });
  });

  it("is not counted for a server that is back", async () => {
    const { presence } = present(60_000);
    await presence.announce("back");
    await held("back");
    expect(await releaseJobs(app.deps.db, ["back"])).toEqual({ released: 0, setAside: [] });
    expect(await endsNow()).toEqual([]);
  });
});

it("a job that cannot succeed is tried once, told, and tried again when somebody says so", async () => {
  const { db } = app.deps;
  const { pool } = db;
  let tries = 0;
  const { presence } = present(60_000);
  const log = { ...silentLog, error: vi.fn() };
  const tasks = carefulTasks(
    {
      hopeless: () => {
        tries += 1;
        throw invalid("Too much to judge");
      },
    },
    { db, log, solitude: createSolitude() },
  );
  const jobs = await startJobs(pool, tasks, { log: silentLog, presence });
  try {
    await pool.query("select graphile_worker.add_job('hopeless', '{\"about\": 7}')");
    await expect
      .poll(() => listStopped(db), { timeout: 20_000 })
      .toMatchObject([
        {
          task: "hopeless",
          state: "failed",
          ends: 0,
          last_error: "Too much to judge",
          payload: { about: 7 },
        },
      ]);
    expect(log.error).toHaveBeenCalledOnce();
    const { id } = (await listStopped(db))[0]!;
    const lines: string[] = [];
    vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
    await listJobs(app.deps);
    expect(lines[1]).toMatch(/^\d+ +hopeless +failed +0 .*\{"about":7\} +Too much to judge$/);
    const before = tries;
    await retryJob(app.deps, String(id));
    await expect.poll(() => tries, { timeout: 20_000 }).toBe(before + 1);
    await expect.poll(() => countStopped(db), { timeout: 20_000 }).toEqual({ set_aside: 0, failed: 1 });
    await dropJob(app.deps, String(id));
    expect(await listStopped(db)).toEqual([]);
    await expect(dropJob(app.deps, String(id))).rejects.toThrow(`Job ${id} is not set aside`);
    await expect(retryJob(app.deps, "x")).rejects.toThrow("'x' is not the number of a job");
  } finally {
    vi.restoreAllMocks();
    await jobs.stop();
  }
});

it("a task by the clock stays away while one of its jobs is set aside", async () => {
  const { db } = app.deps;
  const { pool } = db;
  const run = vi.fn();
  const tasks = carefulTasks({ tick: run }, { db, log: silentLog, solitude: createSolitude() });
  const helpers = { job: { id: "1", task_identifier: "tick", attempts: 1, max_attempts: 3 } } as unknown;
  const tick = async (payload: unknown): Promise<void> => {
    await tasks["tick"]!(payload, helpers as JobHelpers);
  };
  await tick({ _cron: { ts: "" } });
  expect(run).toHaveBeenCalledTimes(1);
  await pool.query(
    "insert into job_ends (job_id, task, ends, was_alone, set_aside_at) values (77, 'tick', 3, true, now())",
  );
  await tick({ _cron: { ts: "" } });
  expect(run).toHaveBeenCalledTimes(1);
  // One that somebody asked for is another matter.
  await tick({});
  expect(run).toHaveBeenCalledTimes(2);
});
