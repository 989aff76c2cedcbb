import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { enqueue, enqueueAll } from "../../src/db/jobs.ts";
import { transaction } from "../../src/db/transaction.ts";
import type { TestOrg } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { untilWaiting } from "../support/locks.ts";
import { happen, inProd } from "../support/notifications.ts";
import { type Notified, startNotified } from "../support/notified.ts";

let notified: Notified;
beforeAll(async () => {
  notified = await startNotified();
});
afterAll(() => notified.stop());
beforeEach(() => notified.clear());

const task = "anything";

/** A job as it is queued. */
function job(key: string, nth: number) {
  return { key, payload: { nth } };
}

type Queued = ReturnType<typeof job>[];

function inOneTransaction(jobs: Queued): Promise<void> {
  return transaction(notified.app.deps.db, (tx) => enqueueAll(tx, task, jobs));
}

function oneByOne(jobs: Queued): Promise<void> {
  return transaction(notified.app.deps.db, async (tx) => {
    for (const { key, payload } of jobs) await enqueue(tx, task, payload, { key });
  });
}

/** What the queue says of the jobs of the task. */
function listJobs() {
  return notified.rows(`
    select t.identifier, j.payload, j.key, j.attempts, j.max_attempts, j.last_error, j.locked_by, j.priority, j.job_queue_id,
      j.run_at = j.updated_at as is_due
    from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
    where t.identifier = '${task}' order by (j.payload ->> 'nth')::integer`);
}

/** Queues jobs that wait, are being done, failed and have failed for good, and then others with their keys. */
async function queueTwice(queue: (jobs: Queued) => Promise<void>) {
  await notified.clear();
  await queue(["waits", "runs", "failed", "hopeless"].map((key, nth) => job(key, nth)));
  await notified.rows(
    "update graphile_worker._private_jobs set locked_at = now(), locked_by = 'somebody' where key = 'runs'",
  );
  await notified.rows(`update graphile_worker._private_jobs set run_at = now() + interval '1 hour', last_error = 'no',
    attempts = case key when 'failed' then 3 else 25 end where key in ('failed', 'hopeless')`);
  await queue(["waits", "runs", "failed", "hopeless", "new"].map((key, nth) => job(key, 10 + nth)));
  return listJobs();
}

describe("jobs that are queued together", () => {
  it("replace others as each by itself does", async () => {
    const queued = await queueTwice(inOneTransaction);
    expect(queued).toEqual(await queueTwice(oneByOne));
    expect(queued.slice(-5)).toEqual(
      ["waits", "runs", "failed", "hopeless", "new"].map((key, nth) => ({
        identifier: task,
        payload: { nth: 10 + nth },
        key,
        attempts: 0,
        max_attempts: 25,
        last_error: null,
        locked_by: null,
        priority: 0,
        job_queue_id: null,
        is_due: true,
      })),
    );
  });

  it("may have the same key, of which the last one counts", async () => {
    await inOneTransaction([job("one", 1), job("two", 2), job("one", 3)]);
    expect(await listJobs()).toMatchObject([
      { key: "two", payload: { nth: 2 } },
      { key: "one", payload: { nth: 3 } },
    ]);
  });

  it("are written in the order of their keys, so that nobody waits in a circle", async () => {
    const names = ["c", "a", "d", "b"];
    await inOneTransaction(names.map((key, nth) => job(key, nth)));
    expect(await notified.rows("select key from graphile_worker._private_jobs order by id")).toEqual(
      names.toSorted().map((key) => ({ key })),
    );
  });

  it("are queued again where a worker takes what waits while they are written", async () => {
    await inOneTransaction([job("one", 1), job("two", 2)]);
    const other = await notified.app.deps.db.direct.connect();
    try {
      await other.query("begin");
      await other.query("select from graphile_worker._private_jobs where key = 'one' for update");
      const queueing = inOneTransaction([job("one", 3), job("two", 4)]);
      await untilWaiting(notified.app, queueing);
      await notified.rows(
        "update graphile_worker._private_jobs set locked_at = now(), locked_by = 'somebody' where key = 'two'",
      );
      await other.query("commit");
      await queueing;
    } finally {
      other.release();
    }
    expect(await listJobs()).toMatchObject([
      { key: null, payload: { nth: 2 }, locked_by: "somebody" },
      { key: "one", payload: { nth: 3 }, locked_by: null },
      { key: "two", payload: { nth: 4 }, locked_by: null },
    ]);
  });

  it("may be none, and more than are written in one statement", async () => {
    await inOneTransaction([]);
    expect(await listJobs()).toEqual([]);
    await inOneTransaction(Array.from({ length: 2001 }, (_, nth) => job(`job ${nth}`, nth)));
    expect((await listJobs()).map((each) => (each as { key: string }).key)).toEqual(
      Array.from({ length: 2001 }, (_, nth) => `job ${nth}`),
    );
  });

  it("are gone with the transaction", async () => {
    const failing = transaction(notified.app.deps.db, async (tx) => {
      await enqueueAll(tx, task, [job("one", 1)]);
      throw new Error("after all not");
    });
    await expect(failing).rejects.toThrow("after all not");
    expect(await listJobs()).toEqual([]);
  });
});

/** Counts how often whoever works is called while something is done. */
async function callsWhile(work: () => Promise<void>): Promise<number> {
  const client = await notified.app.deps.db.direct.connect();
  const told: (string | undefined)[] = [];
  client.on("notification", ({ payload }) => told.push(payload));
  try {
    await client.query('listen "jobs:insert"');
    await work();
    // Calls come in the order of the commits.
    await notified.rows(`select pg_notify('jobs:insert', 'end')`);
    await expect.poll(() => told.at(-1), { timeout: 10_000 }).toBe("end");
    return told.length - 1;
  } finally {
    await client.query('unlisten "jobs:insert"');
    client.removeAllListeners("notification");
    client.release();
  }
}

describe("who works", () => {
  /** Has something happen often in the watched environment. */
  async function occur(org: TestOrg, times: number): Promise<void> {
    const { app } = notified;
    const occurrence = await inProd(app, org, "ON_COMPLIANT_ENV", {
      snapshot: { index: 1, compliant: true },
    });
    await happen(app, org, ...Array.from({ length: times }, () => occurrence));
  }

  it("is called once for a thousand notifications, each of which has its job", async () => {
    const org = await notified.watched();
    expect(await callsWhile(() => occur(org, 1500))).toBe(2);
    const [queued] = await notified.rows(
      `select count(*)::integer as jobs, count(distinct payload ->> 'delivery_id')::integer as deliveries,
        count(d.id)::integer as found, min(j.max_attempts)::integer as attempts, bool_and(j.key is null and j.run_at <= now()) as due
      from graphile_worker._private_jobs j
      left join notification_deliveries d on d.org_id = $1 and d.id = (j.payload ->> 'delivery_id')::uuid
      where (j.payload ->> 'org_id')::uuid = $1`,
      [org.id],
    );
    expect(queued).toEqual({ jobs: 1500, deliveries: 1500, found: 1500, attempts: 25, due: true });
  });

  it("finds what each is about", async () => {
    const org = await notified.watched();
    await occur(org, 20);
    await runPendingJobs(notified.app);
    const ids = notified.receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(20);
  });
});
