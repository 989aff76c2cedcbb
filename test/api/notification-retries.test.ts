import { setTimeout as later } from "node:timers/promises";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { deliver } from "../../src/modules/notices/notifications/deliver-service.ts";
import type { DeliverJob } from "../../src/modules/notices/notifications/store.ts";
import type { TestOrg } from "../support/app.ts";
import { type Notified, startNotified } from "../support/notified.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, forgetAttempts, happen, inProd, runAllAttempts } from "../support/notifications.ts";
import { startReceiver } from "../support/receiver.ts";

let notified: Notified;
let app: Notified["app"];
let receiver: Notified["receiver"];
let watched: Notified["watched"];
let webhook: Notified["webhook"];

beforeAll(async () => {
  notified = await startNotified();
  ({ app, receiver, watched, webhook } = notified);
});
afterAll(() => notified.stop());
beforeEach(() => notified.clear());

describe("a target that fails", () => {
  const state = async (org: TestOrg) => {
    const { json } = await org.member.get(`/actions/${org.name}/1`);
    const { is_failing, last_success_timestamp, last_failure_timestamp } = json;
    return { is_failing, last_success_timestamp, last_failure_timestamp };
  };
  const fresh = { is_failing: false, last_success_timestamp: null, last_failure_timestamp: null };

  /** Gives the action one target at another address. */
  async function mend(org: TestOrg, address: string): Promise<void> {
    const path = `/organizations/${org.name}/environments_notifications/1`;
    const { name, environments, triggers } = (await org.member.get(path)).json;
    const body = { name, environments, triggers, type: "env", targets: [webhook(address)] };
    expect((await org.member.put(path, body)).status).toBe(200);
  }

  it("is tried again under the same id until it answers well, and the action shows it", async () => {
    const org = await watched();
    receiver.answer(() => 500);
    const before = app.clock.now();
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await runPendingJobs(app);
    const [failed] = await deliveriesOf(org);
    expect(failed).toMatchObject({
      status: "waiting",
      attempts: 1,
      response_status: 500,
      error: "Answered with status 500",
    });
    const failedAt = failed!["last_attempt_at"] as number;
    expect(failedAt).toBeGreaterThanOrEqual(before);
    expect(failed!["next_attempt_at"]).toBeCloseTo(failedAt + 10, 3);
    expect(await state(org)).toEqual({
      is_failing: true,
      last_success_timestamp: null,
      last_failure_timestamp: failedAt,
    });

    await runPendingJobs(app);
    expect(receiver.received).toHaveLength(1);
    receiver.answer(() => 204);
    app.clock.advance(10);
    await runAllAttempts(app, org);
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    const [times] = receiver.received.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(Number(receiver.received[1]!.headers["webhook-timestamp"])).toBeGreaterThanOrEqual(times! + 9);
    const [delivered] = await deliveriesOf(org);
    expect(delivered).toMatchObject({
      status: "delivered",
      attempts: 2,
      response_status: 204,
      error: null,
      next_attempt_at: null,
    });
    expect(await state(org)).toEqual({
      is_failing: false,
      last_success_timestamp: delivered!["last_attempt_at"],
      last_failure_timestamp: failedAt,
    });
    const { json } = await org.member.get(`/organizations/${org.name}/environments_notifications/1`);
    expect(json.targets).toEqual([
      {
        type: "WEBHOOK",
        webhook: "",
        payload_version: "1.0",
        last_success_at: delivered!["last_attempt_at"],
        last_failure_at: failedAt,
      },
    ]);
  });

  it("is given up after a day", async () => {
    const org = await watched();
    receiver.answer(() => 503);
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    // However long it waited to be tried at all.
    app.clock.advance(30 * 3600);
    const began = app.clock.now();
    for (let attempt = 0; attempt < 30; attempt += 1) {
      await runAllAttempts(app, org);
      const [{ next_attempt_at: next } = {}] = await deliveriesOf(org);
      if (next === null) break;
      app.clock.advance((next as number) - app.clock.now());
    }
    const [given] = await deliveriesOf(org);
    expect(given).toMatchObject({ status: "failed", next_attempt_at: null });
    const lasted = (given!["last_attempt_at"] as number) - began;
    expect(lasted).toBeGreaterThan(21 * 3600);
    expect(lasted).toBeLessThan(24 * 3600);
    const count = receiver.received.length;
    await runAllAttempts(app, org);
    expect(receiver.received.length).toBe(count);
  });

  it("is tried once more before something is given up, though it did not answer others a moment ago", async () => {
    const gone = await startReceiver();
    await gone.stop();
    const org = await watched();
    const moveTo = (address: string) =>
      app.deps.db.pool.query("update actions set target_secrets = $1 where org_id = $2", [
        app.deps.secrets.seal(JSON.stringify([address])),
        org.id,
      ]);
    receiver.answer(() => 503);
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    const last = 21;
    for (let attempt = 1; attempt < last; attempt += 1) await runAllAttempts(app, org);
    await forgetAttempts(app);
    const [given] = await deliveriesOf(org);
    expect(given).toMatchObject({ status: "waiting", attempts: last - 1 });
    // Another message finds the target silent, which then is there again.
    await moveTo(gone.url);
    await happen(app, org, await inProd(app, org, "ON_NON_COMPLIANT_ENV"));
    await runAllAttempts(app, org);
    await forgetAttempts(app);
    const found = await state(org);
    await moveTo(receiver.url);
    receiver.answer(() => 200);
    app.clock.advance(1);
    const { rows } = await app.deps.db.pool.query<{ id: string; attempts: number }>(
      "select id, attempts from notification_deliveries where org_id = $1 order by id desc",
      [org.id],
    );
    for (const { id: delivery_id, attempts } of rows)
      await deliver(app.deps, { org_id: org.id, delivery_id, attempts });
    const list = await deliveriesOf(org);
    expect(list.map(({ status, attempts, error }) => [status, attempts, error])).toEqual([
      ["waiting", 2, "The target did not answer others a moment ago"],
      ["delivered", last, null],
    ]);
    // Only what was sent tells when the target was tried.
    expect((await state(org)).last_failure_timestamp).toBe(found.last_failure_timestamp);
  });

  it("keeps no other target waiting, and its address to itself", async () => {
    const org = await watched({ targets: [webhook("/bad-s3cret"), webhook("/good")] });
    receiver.answer(({ path }) =>
      path === "/good" ? 200 : { status: 302, headers: { location: "http://169.254.169.254/" } },
    );
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await runPendingJobs(app);
    const { json } = await org.member.get(`/actions/${org.name}/1`);
    expect(json.is_failing).toBe(true);
    expect(json.targets[0].last_failure_at).not.toBeNull();
    expect(json.targets[1]).toMatchObject({ last_failure_at: null, last_success_at: expect.any(Number) });
    const list = await deliveriesOf(org);
    expect(list.map(({ status, error }) => [status, error])).toEqual([
      ["delivered", null],
      ["waiting", "Answered with status 302; redirects are not followed"],
    ]);
    expect(JSON.stringify(list) + app.logged()).not.toContain("s3cret");
  });

  it("that cannot be reached says why, without its address", async () => {
    const gone = await startReceiver();
    await gone.stop();
    const org = await watched({ targets: [{ type: "WEBHOOK", webhook: `${gone.url}/s3cret` }] });
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await runPendingJobs(app);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "waiting", response_status: null, error: "Connection refused" },
    ]);
  });

  it("that does not answer is left alone for a moment, and then gets everything", async () => {
    const gone = await startReceiver();
    await gone.stop();
    const org = await watched({ targets: [{ type: "WEBHOOK", webhook: gone.url }] });
    const occurrence = await inProd(app, org, "ON_COMPLIANT_ENV");
    await happen(app, org, ...Array.from({ length: 5 }, () => occurrence));
    await runPendingJobs(app);
    const errors = (await deliveriesOf(org)).map(
      ({ error, attempts }) => `${String(error)} ${String(attempts)}`,
    );
    expect(errors.sort()).toEqual([
      "Connection refused 1",
      ...Array.from({ length: 4 }, () => "The target did not answer others a moment ago 1"),
    ]);
    const secrets = app.deps.secrets.seal(JSON.stringify([receiver.url]));
    await app.deps.db.pool.query("update actions set target_secrets = $1 where org_id = $2", [
      secrets,
      org.id,
    ]);
    app.clock.advance(15);
    await runAllAttempts(app, org);
    expect(receiver.received).toHaveLength(5);
    expect(await deliveriesOf(org)).toMatchObject(
      Array.from({ length: 5 }, () => ({ status: "delivered", attempts: 2 })),
    );
  });

  it("gets the next attempt at its new address when it was mended, and starts afresh", async () => {
    const org = await watched({ targets: [webhook("/wrong")] });
    receiver.answer(({ path }) => (path === "/wrong" ? 404 : 200));
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await runPendingJobs(app);
    expect((await state(org)).is_failing).toBe(true);
    await mend(org, "/right");
    expect(await state(org)).toEqual(fresh);
    await runAllAttempts(app, org);
    expect(receiver.received.map((request) => request.path)).toEqual(["/wrong", "/right"]);
    expect(await deliveriesOf(org)).toMatchObject([{ status: "delivered", attempts: 2 }]);
  });

  it("is not to blame for an attempt at its former address that was under way when it was mended", async () => {
    const org = await watched({ targets: [webhook("/wrong")] });
    receiver.answer(async ({ path }) => {
      if (path === "/right") return 200;
      await mend(org, "/right");
      return 404;
    });
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await runPendingJobs(app);
    expect(await deliveriesOf(org)).toMatchObject([{ status: "waiting", response_status: 404 }]);
    expect(await state(org)).toEqual(fresh);
    await runAllAttempts(app, org);
    expect(await state(org)).toMatchObject({ is_failing: false, last_failure_timestamp: null });
    expect(await deliveriesOf(org)).toMatchObject([{ status: "delivered", attempts: 2 }]);
  });

  it("is not to blame for it either when it is mended while that is written down", async () => {
    const org = await watched();
    receiver.answer(() => 404);
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    const change = await app.deps.db.pool.connect();
    try {
      await change.query("begin");
      await change.query("update actions set last_modified_at = now() where org_id = $1", [org.id]);
      const work = runPendingJobs(app);
      await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(1);
      expect(await Promise.race([work, later(300, "waits")])).toBe("waits");
      await change.query("commit");
      await work;
    } finally {
      change.release();
    }
    expect(await deliveriesOf(org)).toMatchObject([{ status: "waiting", response_status: 404 }]);
    expect(await state(org)).toEqual(fresh);
  });

  it("is not left alone because its former address did not answer", async () => {
    const gone = await startReceiver();
    await gone.stop();
    const org = await watched({ targets: [{ type: "WEBHOOK", webhook: gone.url }] });
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await runPendingJobs(app);
    await mend(org, "/right");
    await runAllAttempts(app, org);
    expect(await deliveriesOf(org)).toMatchObject([{ status: "delivered", attempts: 2 }]);
  });
});

describe("a target or an action that is gone", () => {
  it("gets nothing any more", async () => {
    const org = await watched({ targets: [webhook(), webhook("/second")] });
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    const path = `/organizations/${org.name}/environments_notifications/1`;
    const { name, environments, triggers } = (await org.member.get(path)).json;
    await org.member.put(path, { name, environments, triggers, targets: [webhook()] });
    await runPendingJobs(app);
    expect(receiver.received.map((request) => request.path)).toEqual(["/hook-t0ken"]);
    expect(await deliveriesOf(org)).toMatchObject([
      { status: "cancelled", attempts: 0, error: "The action has this target no more" },
      { status: "delivered" },
    ]);

    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    expect((await org.member.delete(`/actions/${org.name}/1`)).status).toBe(200);
    await runPendingJobs(app);
    expect(receiver.received).toHaveLength(1);
    const log = await org.member.get(`/actions/${org.name}/1/deliveries`);
    expect([log.status, log.json.message]).toEqual([
      404,
      `Action '1' does not exist in organization '${org.name}'`,
    ]);
  });
});

describe("a job that runs again", () => {
  it("does nothing once its attempt was written down", async () => {
    const org = await watched();
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    const { rows } = await app.deps.db.pool.query<{ payload: DeliverJob }>(
      "select payload from graphile_worker._private_jobs where payload ->> 'org_id' = $1",
      [org.id],
    );
    const job = rows[0]!.payload;
    receiver.answer(() => 500);
    await deliver(app.deps, job);
    await deliver(app.deps, job);
    await runPendingJobs(app);
    expect(receiver.received).toHaveLength(1);
    receiver.answer(() => 200);
    await Promise.all([
      deliver(app.deps, { ...job, attempts: 1 }),
      deliver(app.deps, { ...job, attempts: 1 }),
    ]);
    expect(await deliveriesOf(org)).toMatchObject([{ status: "delivered", attempts: 2 }]);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });
});

describe("the figures", () => {
  /** What `/metrics` says of a figure, by what it is told apart by. */
  async function figures(name: string): Promise<Record<string, number>> {
    const { text } = await app.anonymous.request("GET", "root:/metrics");
    const lines = text.split("\n").filter((line) => line.startsWith(name));
    return Object.fromEntries(
      lines.map((line) => [line.slice(name.length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
  }
  const attempts = () => figures("waybill_notification_attempts_total");
  /** Waits until that is shown as waiting: it is not known while the database takes long to answer. */
  const showWaiting = async (count: number): Promise<void> => {
    const read = () => figures("waybill_notifications_waiting");
    await expect.poll(read, { timeout: 30_000 }).toEqual({ "": count });
  };

  it("count attempts by target and outcome, and what waits", async () => {
    const before = await attempts();
    expect(Object.keys(before)).toHaveLength(9);
    const change = async (target: string, outcome: string): Promise<number> => {
      const label = `{target="${target}",outcome="${outcome}"}`;
      return (await attempts())[label]! - before[label]!;
    };
    const slack = { type: "SLACK", webhook: `${receiver.url}/services/T/B/x` };
    const org = await watched({ targets: [webhook("/bad"), slack] });
    receiver.answer(({ path }) => (path === "/bad" ? 500 : 200));
    await happen(app, org, await inProd(app, org, "ON_COMPLIANT_ENV"));
    await showWaiting(2);
    await runPendingJobs(app);
    await showWaiting(1);
    expect([await change("WEBHOOK", "failed"), await change("SLACK", "delivered")]).toEqual([1, 1]);
    for (
      let attempt = 1;
      (await deliveriesOf(org)).some(({ status }) => status === "waiting");
      attempt += 1
    ) {
      expect(attempt).toBeLessThan(30);
      await runAllAttempts(app, org);
    }
    await showWaiting(0);
    expect([await change("WEBHOOK", "failed"), await change("WEBHOOK", "given_up")]).toEqual([20, 1]);
  });
});
