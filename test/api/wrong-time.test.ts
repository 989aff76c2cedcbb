import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { inRightTime, mendQueueTimes, runInRightTime } from "../../src/jobs/right-time.ts";
import { type JobRunner, startJobs } from "../../src/jobs/runner.ts";
import { jobTasks } from "../../src/jobs/tasks.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { waitingForLocks } from "../support/locks.ts";
import { fromSite } from "../support/sessions.ts";
import { artifactBody } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { fillPath } from "../support/operations.ts";
import { pathOf, switchOn } from "../support/quality-server.ts";
import { rowCounts } from "../support/row-counts.ts";
import { reportServer } from "../support/snapshots.ts";

const century = 100 * 365.25 * 86_400;

let app: TestApp;
let org: TestOrg;
beforeEach(async () => {
  app = await startTestApp({}, { doubted: true });
  org = await app.org();
});
afterEach(() => app.close());

const writes = Object.entries(endpoints as Record<string, Endpoint>).filter(
  ([, { method, recordsNothing }]) => method !== "GET" && recordsNothing !== true,
);

function loggedErrors(): string[] {
  return app
    .logged()
    .split("\n")
    .filter((line) => line.includes('"level":50'));
}

describe("a clock that jumped ahead", () => {
  it("makes every write endpoint answer 503 and store nothing, and no read", async () => {
    const root = await app.user({ instance_admin: true });
    await org.member.post(`/artifacts/${org.name}/web`, artifactBody({ trail_name: "t1" }));
    // Hooks that nobody has are not found, whatever the time is.
    const hook = pathOf(await switchOn(org));
    const before = await rowCounts(app.deps.db.pool);
    app.clock.advance(century);
    for (const [id, { method, path, access }] of writes) {
      const client = access.kind === "instance_admin" ? root.client : org.admin;
      const at = access.kind === "signature" ? hook : fillPath(path, org.name);
      const answer = await client.request(method, at, { headers: fromSite });
      expect([id, answer.status, answer.headers["retry-after"]]).toEqual([id, 503, "15"]);
      expect(answer.json.message).toBe(
        "The server's clock is 100 years ahead of the database's, try again later",
      );
    }
    const builds = await org.reader.get(`/builds/${org.name}`);
    expect([builds.status, builds.json.total_count]).toEqual([200, 1]);
    expect((await org.reader.put(`/environments/${org.name}`, {})).status).toBe(403);
    expect((await app.server.inject("/ready")).statusCode).toBe(503);
    expect((await app.server.inject("/metrics")).body).toContain("waybill_time_right 0");
    expect(await rowCounts(app.deps.db.pool)).toEqual(before);
    expect(loggedErrors()).toHaveLength(1);
    expect(loggedErrors()[0]).toContain("Nothing is recorded until that is put right");
    expect(app.logged()).not.toContain("service unavailable");

    app.clock.advance(-century);
    const again = await org.member.post(
      `/artifacts/${org.name}/web`,
      artifactBody({ fingerprint: "b".repeat(64) }),
    );
    expect(again.status).toBe(201);
    const after = (await org.reader.get(`/builds/${org.name}`)).json;
    expect(after.total_count).toBe(2);
    expect(after.builds[0].created_at).toBeLessThan(Date.now() / 1000 + 1);
  });

  it("ends no key that is to end one day", async () => {
    const expires_at = Math.floor(Date.now() / 1000) + 86_400 * 30;
    const user = await app.user();
    const { key } = (await user.client.post("/user/api-keys", { description: "x", expires_at })).json;
    app.clock.advance(century);
    expect((await app.as(key).get("/user/api-keys")).status).toBe(200);
  });

  it("stamps nothing that is being written when it jumps", async () => {
    await createEnvironment(org, "prod", { type: "server" });
    const { pool } = app.deps.db;
    const other = await pool.connect();
    await other.query("begin");
    await other.query("select from environments where org_id = $1 for update", [org.id]);
    // Past the gate; it takes its time when it has the environment.
    const writing = reportServer(org, "prod", ["web"]);
    await expect.poll(async () => (await pool.query(waitingForLocks())).rowCount).toBeGreaterThan(0);
    app.clock.advance(century);
    await other.query("commit");
    other.release();
    await writing;
    const { rows } = await pool.query<{ at: number }>(
      "select greatest(e.last_reported_at, s.created_at) as at from environments e join snapshots s using (org_id) where e.org_id = $1",
      [org.id],
    );
    expect(rows[0]!.at).toBeLessThan(Date.now() / 1000 + 1);
  });
});

describe("background work under a clock that jumped ahead", () => {
  it("rests, so that nobody is told of silence, and goes on when the time is right", async () => {
    await createEnvironment(org, "prod", { type: "server" });
    await org.member.put(`/environments/${org.name}/prod/silence`, { limit_seconds: 600 });
    await reportServer(org, "prod", ["web"]);
    const began: string[] = [];
    const start = async (): Promise<JobRunner> => {
      began.push("started");
      return { stop: async () => void began.push("stopped") };
    };
    const runner = await runInRightTime(app.deps, start);
    app.clock.advance(century);
    await org.member.put(`/environments/${org.name}`, {});
    await expect.poll(() => began).toEqual(["started", "stopped"]);
    const tasks = inRightTime(app.deps.time, jobTasks(app.deps));
    await expect(tasks["notice_silence"]!({}, {} as never)).rejects.toThrow("100 years ahead");
    app.clock.advance(-century);
    await org.member.put(`/environments/${org.name}`, {});
    await expect.poll(() => began).toEqual(["started", "stopped", "started"]);
    await tasks["notice_silence"]!({}, {} as never);
    const { rows } = await app.deps.db.pool.query("select from environment_silences");
    expect(rows).toEqual([]);
    await runner.stop();
    expect(began).toHaveLength(4);
  });

  it("starts a new runner when the clock is set back, whose timers wait for the right minute", async () => {
    let started = 0;
    const runner = await runInRightTime(app.deps, async () => {
      started += 1;
      return { stop: async () => {} };
    });
    // The first look only sees where the clock is.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    app.clock.advance(-7200);
    await expect.poll(() => started, { timeout: 10_000 }).toBe(2);
    await runner.stop();
  });

  it("finds a queue that a wrong clock has put off, and gives it the right time", async () => {
    const { pool } = app.deps.db;
    const runner = await startJobs(
      pool,
      {},
      {
        log: app.deps.log,
        presence: { announce: async () => {}, retire: async () => {} },
        schedule: "17 3 * * * nothing",
      },
    );
    await runner.stop();
    await pool.query(`
      select graphile_worker.add_job('notice_silence', run_at => now() + interval '100 years');
      select graphile_worker.add_job('deliver', run_at => now() + interval '1 hour');
      update graphile_worker._private_known_crontabs set last_execution = now() + interval '100 years'`);
    await mendQueueTimes(app.deps.db);
    const jobs = await pool.query<{ due: boolean }>(
      "select run_at <= now() as due from graphile_worker.jobs order by task_identifier desc",
    );
    expect(jobs.rows).toEqual([{ due: true }, { due: false }]);
    const { rows } = await pool.query<{ due: boolean }>(
      "select last_execution <= now() as due from graphile_worker._private_known_crontabs",
    );
    expect(rows).toEqual([{ due: true }]);
  });
});
