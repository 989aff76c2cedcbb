import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { cleanDeliveries } from "../../src/modules/notices/notifications/deliver-service.ts";
import { putEnv } from "../support/actions.ts";
import type { TestOrg } from "../support/app.ts";
import { type Notified, startNotified } from "../support/notified.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, happen, inProd, type Json } from "../support/notifications.ts";
import { isGenuine } from "../support/receiver.ts";
import { statementsOf } from "../support/statements.ts";

let notified: Notified;
let app: Notified["app"];
let receiver: Notified["receiver"];
let watched: Notified["watched"];
let fixtures: Notified["fixtures"];

beforeAll(async () => {
  notified = await startNotified();
  ({ app, receiver, watched, fixtures } = notified);
});
afterAll(() => notified.stop());
beforeEach(() => notified.clear());

async function happenTimes(org: TestOrg, times: number): Promise<void> {
  for (let index = 0; index < times; index += 1)
    await happen(
      app,
      org,
      await inProd(app, org, "ON_COMPLIANT_ENV", { snapshot: { index, compliant: true } }),
    );
}

const idPattern = /^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/;

describe("the log of an action's deliveries", () => {
  it("shows a waiting delivery in full", async () => {
    const org = await watched();
    await happenTimes(org, 1);
    const path = `/actions/${org.name}/1/deliveries`;
    const { json } = await org.member.get(path);
    expect(json).toMatchObject({ page: 1, per_page: 20, total_pages: 1, total_count: 1 });
    const [listed] = json.deliveries;
    expect(listed).toEqual({
      id: expect.stringMatching(idPattern),
      action_number: 1,
      target: { position: 0, type: "WEBHOOK" },
      trigger: "ON_COMPLIANT_ENV",
      event_type: "ENVIRONMENT_COMPLIANT",
      description: "Environment prod became compliant",
      occurred_at: expect.any(Number),
      status: "waiting",
      attempts: 0,
      created_at: listed.occurred_at,
      last_attempt_at: null,
      next_attempt_at: listed.occurred_at,
      response_status: null,
      error: null,
      replay_of: null,
    });
    const one = await org.member.get(`${path}/${listed.id}`);
    expect(one.status).toBe(200);
    const { payload, ...rest } = one.json;
    expect(rest).toEqual(listed);
    await runPendingJobs(app);
    expect(receiver.received[0]!.json).toEqual(payload);
  });

  it("pages newest first and filters by status", async () => {
    const org = await watched();
    await happenTimes(org, 5);
    receiver.answer(({ json }) => (json.snapshot.index === "3" ? 500 : 200));
    await runPendingJobs(app);
    const path = `/actions/${org.name}/1/deliveries`;
    const ids = (await deliveriesOf(org)).map(({ id }) => String(id));
    const pages = await Promise.all(
      [1, 2, 3].map((page) => org.member.get(`${path}?per_page=2&page=${page}`)),
    );
    expect(pages.flatMap(({ json }) => json.deliveries.map(({ id }: Json) => id))).toEqual(ids);
    expect(ids.toSorted((a, b) => (a < b ? 1 : -1))).toEqual(ids);
    const url = `http://waybill.test/api/v2${path}`;
    expect(pages[1]!.json._links).toMatchObject({ next: { href: `${url}?per_page=2&page=3` } });
    const statuses = async (query: string): Promise<number> =>
      (await org.member.get(`${path}?${query}`)).json.total_count;
    expect(await statuses("status=delivered")).toBe(4);
    expect(await statuses("status=waiting")).toBe(1);
    expect(await statuses("status=waiting&status=delivered")).toBe(5);
    expect(await statuses("status=failed")).toBe(0);
  });

  it.each([
    ["page=0", "query.page"],
    ["per_page=101", "query.per_page"],
    ["status=done", "query.status[0]"],
  ])("refuses %s", async (query, location) => {
    const org = await watched();
    const answer = await org.member.get(`/actions/${org.name}/1/deliveries?${query}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([location]);
  });

  it("is not found for what is no action", async () => {
    const org = await watched();
    for (const number of ["2", "x", "0", "99999999999"]) {
      const answer = await org.member.get(`/actions/${org.name}/${number}/deliveries`);
      expect([answer.status, answer.json.message]).toEqual([
        404,
        `Action '${number}' does not exist in organization '${org.name}'`,
      ]);
    }
  });

  it("is kept from readers, other organizations and other actions", async () => {
    const [org, other] = [await watched(), await watched()];
    await putEnv(org, { name: "second" });
    await happenTimes(org, 1);
    const [delivery] = await deliveriesOf(org);
    const path = `/actions/${org.name}/1/deliveries/${String(delivery!["id"])}`;
    expect((await org.reader.get(path)).status).toBe(403);
    expect((await org.snapshotter.get(`/actions/${org.name}/1/deliveries`)).status).toBe(403);
    expect((await other.member.get(path.replace(org.name, other.name))).status).toBe(404);
    const wrong = await org.member.get(path.replace("/1/", "/2/"));
    expect([wrong.status, wrong.json.message]).toEqual([
      404,
      `Delivery '${String(delivery!["id"])}' does not exist for action '2' in organization '${org.name}'`,
    ]);
    expect((await org.member.post(`${path.replace("/1/", "/2/")}/replay`)).status).toBe(404);
    expect((await org.member.get(`/actions/${org.name}/1/deliveries/x`)).status).toBe(404);
  });

  it("forgets settled deliveries after thirty days, waiting ones never", async () => {
    const org = await watched();
    await happenTimes(org, 1);
    await runPendingJobs(app);
    await happenTimes(org, 1);
    app.clock.advance(29 * 86_400);
    await cleanDeliveries(app.deps);
    expect(await deliveriesOf(org)).toHaveLength(2);
    app.clock.advance(2 * 86_400);
    await cleanDeliveries(app.deps);
    expect((await deliveriesOf(org)).map(({ status }) => status)).toEqual(["waiting"]);
  });

  it("forgets a thousand at a time, in every organization", async () => {
    const orgs = [await watched(), await watched()];
    const { pool } = app.deps.db;
    for (const org of orgs) {
      await happenTimes(org, 1);
      await pool.query(
        `insert into notification_deliveries (org_id, id, action_number, target_position, target_type, occurrence, status,
           created_at)
         select d.org_id, old.id, d.action_number, d.target_position, d.target_type, d.occurrence, 'delivered',
           to_timestamp($3)
         from notification_deliveries d, unnest($2::uuid[]) as old (id) where d.org_id = $1`,
        [org.id, Array.from({ length: 2500 }, () => app.deps.ids.next()), app.clock.now() - 31 * 86_400],
      );
    }
    await runPendingJobs(app);
    const { rows } = await pool.query<{ count: string }>("select count(*) from organizations");
    const statements = await statementsOf(app, () => cleanDeliveries(app.deps));
    const deletions = statements.filter((text) => text.includes("delete from notification_deliveries"));
    // One for each organization, and two more for those that have so much.
    expect(deletions).toHaveLength(Number(rows[0]!.count) + 4);
    for (const org of orgs)
      expect((await deliveriesOf(org)).map(({ status }) => status)).toEqual(["delivered"]);
  });
});

describe("replaying", () => {
  it("sends the same again under a new id, and is audited", async () => {
    const org = await watched();
    await happenTimes(org, 1);
    await runPendingJobs(app);
    const [original] = await deliveriesOf(org);
    const path = `/actions/${org.name}/1/deliveries/${String(original!["id"])}/replay`;
    const answer = await org.member.post(path);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      status: "waiting",
      attempts: 0,
      replay_of: original!["id"],
      occurred_at: original!["occurred_at"],
    });
    const [shown] = await deliveriesOf(org);
    expect(shown).toEqual({
      ...answer.json,
      created_at: expect.closeTo(answer.json.created_at, 5),
      next_attempt_at: expect.closeTo(answer.json.next_attempt_at, 5),
    });
    await runPendingJobs(app);
    const [first, second] = receiver.received;
    expect(second!.json).toEqual(first!.json);
    expect(second!.headers["webhook-id"]).toBe(answer.json.id);
    expect((await fixtures.audited(org)).at(-1)).toEqual({
      action: "replay_notification_delivery",
      resource_type: "notification_delivery",
      resource: answer.json.id,
    });
    const unknown = await org.member.post(
      `/actions/${org.name}/1/deliveries/01234567-89ab-7cde-8123-01234567/replay`,
    );
    expect(unknown.status).toBe(404);
  });
});

describe("replaying again", () => {
  it("makes one delivery a call, also of several at once, and the list says of what each is", async () => {
    const org = await watched();
    await happenTimes(org, 1);
    await runPendingJobs(app);
    const [{ id: original } = {}] = await deliveriesOf(org);
    const path = `/actions/${org.name}/1/deliveries/${String(original)}/replay`;
    const answers = await Promise.all([1, 2, 3].map(() => org.member.post(path)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    await runPendingJobs(app);
    const list = await deliveriesOf(org);
    const replayed = list.filter(({ replay_of }) => replay_of === original).map(({ id }) => id);
    expect(new Set(replayed)).toEqual(new Set(answers.map(({ json }) => json.id)));
    expect([list.length, receiver.received.length]).toEqual([4, 4]);
    const sent = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(sent)).toEqual(new Set(list.map(({ id }) => id)));
  });
});

describe("the signing secret", () => {
  it("is each organization's own, and the same until it is replaced", async () => {
    const [one, other] = [await watched(), await watched()];
    const secretOf = async ({ name, member }: TestOrg): Promise<string> =>
      (await member.get(`/actions/${name}/signing-secret`)).json.secret;
    expect(await secretOf(one)).toBe(await secretOf(one));
    expect(await secretOf(one)).not.toBe(await secretOf(other));
    expect((await one.reader.get(`/actions/${one.name}/signing-secret`)).status).toBe(403);
  });

  it("can be replaced without missing a message", async () => {
    const org = await watched();
    const path = `/actions/${org.name}/signing-secret`;
    const old = (await org.member.get(path)).json.secret;
    const rotated = await org.member.post(`${path}/rotate`);
    expect(rotated.status).toBe(200);
    expect(rotated.json.secret).not.toBe(old);
    expect(rotated.json.previous_valid_until).toBeCloseTo(rotated.json.rotated_at + 86_400, 3);
    expect((await org.member.get(path)).json).toEqual(rotated.json);
    await happenTimes(org, 1);
    await runPendingJobs(app);
    const [during] = receiver.received.splice(0);
    expect([isGenuine(during!, old), isGenuine(during!, rotated.json.secret)]).toEqual([true, true]);

    app.clock.advance(86_401);
    expect((await org.member.get(path)).json).toEqual({ ...rotated.json, previous_valid_until: null });
    await happenTimes(org, 1);
    await runPendingJobs(app);
    const [after] = receiver.received;
    expect([isGenuine(after!, old), isGenuine(after!, rotated.json.secret)]).toEqual([false, true]);
    const again = await org.member.post(`${path}/rotate`);
    expect(new Set([old, rotated.json.secret, again.json.secret]).size).toBe(3);
    expect((await fixtures.audited(org)).at(-1)).toEqual({
      action: "rotate_signing_secret",
      resource_type: "signing_secret",
      resource: "notifications",
    });
    expect(app.logged()).not.toContain(old);
  });
});
