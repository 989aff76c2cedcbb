import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { putEnv } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment, listedNames } from "../support/environments.ts";
import { deliveriesOf } from "../support/notifications.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Lets time pass while servers watch. */
async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 60) {
    app.clock.advance(Math.min(60, left));
    await noticeSilence(app.deps);
  }
}

/** An organization with environment `prod`, which was reported on every 100 seconds. */
async function withReporter(reports = 5): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  for (let count = 0; count < reports; count += 1) {
    if (count > 0) await pass(100);
    await reportServer(org, "prod", ["web"]);
  }
  return org;
}

async function silence(org: TestOrg, name = "prod") {
  const answer = await org.reader.get(`/environments/${org.name}/${name}/silence`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

function setLimit(org: TestOrg, limit_seconds: unknown, name = "prod") {
  return org.member.put(`/environments/${org.name}/${name}/silence`, { limit_seconds });
}

async function watchSilence(org: TestOrg): Promise<void> {
  expect((await putEnv(org, { triggers: ["ON_SILENT_ENV"] })).status).toBe(201);
}

describe("the usual interval", () => {
  it("is learned from reports that change nothing", async () => {
    const org = await withReporter(3);
    expect(await silence(org)).toMatchObject({
      environment_name: "prod",
      usual_interval_seconds: null,
      limit_seconds: null,
      limit_source: "none",
      is_stale: false,
      stale_since: null,
      gaps: [],
    });
    await pass(100);
    await reportServer(org, "prod", ["web"]);
    const known = await silence(org);
    expect(known.usual_interval_seconds).toBeCloseTo(100, -1);
    expect(known.limit_seconds).toBeCloseTo(3 * known.usual_interval_seconds, 3);
    expect([known.limit_source, known.is_stale]).toEqual(["learned", false]);
  });

  it("goes on with reports that change something, and not with what is no report", async () => {
    const org = await withReporter(4);
    const before = await silence(org);
    await pass(10);
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    expect(await silence(org)).toMatchObject({ limit_seconds: before.limit_seconds, gaps: [] });
    await pass(90);
    await reportServer(org, "prod", ["web", "db"]);
    expect((await silence(org)).usual_interval_seconds).toBeCloseTo(100, -1);
    expect(await silence(org, "all")).toMatchObject({ limit_source: "none", is_stale: false });
  });
});

describe("an environment that is silent", () => {
  it("is stale after three times as long, until it is reported on again", async () => {
    const org = await withReporter();
    await createEnvironment(org, "never", { type: "server" });
    const { last_reported_at, limit_seconds } = await silence(org);
    await pass(280);
    expect((await silence(org)).is_stale).toBe(false);
    expect(await listedNames(org.reader, org, "?stale=true")).toEqual([]);
    await pass(60);
    const stale = await silence(org);
    expect(stale).toMatchObject({ is_stale: true, gaps: [{ from: last_reported_at, to: null }] });
    expect(stale.stale_since).toBeCloseTo(last_reported_at + limit_seconds, 3);
    expect(stale.gaps[0].noticed_at).toBeGreaterThan(stale.stale_since);
    expect(await listedNames(org.reader, org, "?stale=true")).toEqual(["prod"]);
    expect(await listedNames(org.reader, org, "?stale=false&page=1")).toEqual(["never"]);
    const page = await org.reader.get(
      `/environments/${org.name}?stale=true&per_page=5&type=server&sort=last_changed_at`,
    );
    expect([page.json.total_count, page.json.environments[0].name]).toEqual([1, "prod"]);
    await reportServer(org, "prod", ["web"]);
    const after = await silence(org);
    expect([after.is_stale, after.stale_since, after.gaps.length]).toEqual([false, null, 1]);
    expect(after.gaps[0].to).toBe(after.last_reported_at);
    expect(after.gaps[0].duration).toBeCloseTo(after.last_reported_at - last_reported_at, 3);
    expect(after.usual_interval_seconds).toBeCloseTo(100, -1);
    expect(await listedNames(org.reader, org, "?stale=true")).toEqual([]);
  });

  it("is told of once for each silence, by however many servers", async () => {
    const org = await withReporter();
    await watchSilence(org);
    await pass(400);
    await Promise.all([1, 2, 3, 4].map(() => noticeSilence(app.deps)));
    await pass(200);
    expect(await deliveriesOf(org)).toHaveLength(1);
    await reportServer(org, "prod", ["web"]);
    await pass(100);
    expect(await deliveriesOf(org)).toHaveLength(1);
    await pass(400);
    expect(await deliveriesOf(org)).toMatchObject([
      { trigger: "ON_SILENT_ENV" },
      { trigger: "ON_SILENT_ENV" },
    ]);
    expect((await silence(org)).gaps).toHaveLength(2);
  });

  it("ends with a report that comes at the same moment", async () => {
    const orgs = await Promise.all(Array.from({ length: 6 }, () => withReporter(1)));
    await Promise.all(orgs.map((org) => setLimit(org, 60)));
    await pass(60);
    app.clock.advance(60);
    await Promise.all(
      orgs.flatMap((org) => [
        noticeSilence(app.deps),
        reportServer(org, "prod", ["web"]),
        noticeSilence(app.deps),
      ]),
    );
    for (const org of orgs) {
      const { is_stale, gaps, last_reported_at } = await silence(org);
      expect([is_stale, gaps.length, gaps[0].to]).toEqual([false, 1, last_reported_at]);
    }
  });

  it("is not noted when it cannot be told, which keeps no other organization waiting", async () => {
    const org = await withReporter();
    const other = await withReporter(1);
    await setLimit(other, 300);
    for (const each of [org, other]) await watchSilence(each);
    await pass(240);
    app.clock.advance(120);
    for (const statement of [
      `create function refuse() returns trigger language plpgsql as $$ begin
        if new.org_id = '${org.id}' then raise exception 'refused'; end if; return new; end $$`,
      "create trigger refuse before insert on notification_deliveries for each row execute function refuse()",
    ])
      await app.deps.db.pool.query(statement);
    await noticeSilence(app.deps);
    expect((await silence(org)).gaps).toEqual([]);
    expect(app.logged()).toContain("the silence of environments could not be noted");
    expect((await silence(other)).gaps).toHaveLength(1);
    expect(await deliveriesOf(other)).toHaveLength(1);
    await app.deps.db.pool.query("drop function refuse cascade");
    await noticeSilence(app.deps);
    for (const each of [org, other]) {
      expect((await silence(each)).gaps).toHaveLength(1);
      expect(await deliveriesOf(each)).toHaveLength(1);
    }
  });

  it("was not silent while no server was there to report to", async () => {
    const org = await withReporter();
    await watchSilence(org);
    app.clock.advance(5000);
    await noticeSilence(app.deps);
    expect((await silence(org)).is_stale).toBe(false);
    await pass(240);
    await reportServer(org, "prod", ["web"]);
    expect(await deliveriesOf(org)).toEqual([]);
    // The gap is there nevertheless, and nobody noticed it.
    expect((await silence(org)).gaps).toMatchObject([{ noticed_at: null, to: expect.any(Number) }]);
  });
});

describe("an environment that comes out of the archive", () => {
  async function archive(org: TestOrg): Promise<void> {
    expect((await org.member.put(`/environments/${org.name}/prod/archive`)).status).toBe(200);
  }
  async function unarchive(org: TestOrg): Promise<number> {
    expect((await org.member.put(`/environments/${org.name}/prod/unarchive`)).status).toBe(200);
    return app.clock.now();
  }

  it("was not silent there: silence counts from then on", async () => {
    const org = await withReporter();
    const { limit_seconds } = await silence(org);
    await archive(org);
    await pass(3000);
    const since = await unarchive(org);
    // Archiving took it out of actions.
    await watchSilence(org);
    await noticeSilence(app.deps);
    expect(await silence(org)).toMatchObject({ is_stale: false, stale_since: null, gaps: [] });
    expect(await listedNames(org.reader, org, "?stale=true")).toEqual([]);
    const overview = await org.reader.get(`/organizations/${org.name}/overview`);
    expect(overview.json).toMatchObject({ environments: { stale: 0 } });
    expect(await deliveriesOf(org)).toEqual([]);
    await pass(400);
    const stale = await silence(org);
    expect(stale).toMatchObject({ is_stale: true, gaps: [{ to: null }] });
    expect(stale.gaps[0].from).toBeCloseTo(since, 0);
    expect(stale.stale_since).toBeCloseTo(stale.gaps[0].from + limit_seconds, 3);
    expect(await deliveriesOf(org)).toHaveLength(1);
  });

  it("keeps its rhythm, in which the time there is no gap", async () => {
    const org = await withReporter(4);
    const { limit_seconds } = await silence(org);
    await archive(org);
    await pass(3000);
    await unarchive(org);
    await reportServer(org, "prod", ["web"]);
    expect(await silence(org)).toMatchObject({ limit_seconds, gaps: [] });
    await pass(100);
    await reportServer(org, "prod", ["web"]);
    expect((await silence(org)).usual_interval_seconds).toBeCloseTo(100, -1);
  });

  it("may have been silent before: that ended when it was archived", async () => {
    const org = await withReporter();
    await pass(400);
    const [{ from }] = (await silence(org)).gaps;
    await archive(org);
    const ended = app.clock.now();
    await pass(3000);
    await unarchive(org);
    const { gaps } = await silence(org);
    expect(gaps).toMatchObject([{ from, to: expect.closeTo(ended, 0) }]);
    await reportServer(org, "prod", ["web"]);
    expect((await silence(org)).gaps).toEqual(gaps);
  });
});

describe("a limit of its own", () => {
  it("takes the place of the learned one, also before the first report", async () => {
    const org = await withReporter();
    await createEnvironment(org, "new", { type: "server" });
    for (const name of ["prod", "new"]) expect((await setLimit(org, 1000, name)).text).toBe('"OK"');
    await setLimit(org, 1000);
    expect(await silence(org)).toMatchObject({ limit_seconds: 1000, limit_source: "set" });
    await pass(960);
    expect(await listedNames(org.reader, org, "?stale=true")).toEqual([]);
    await pass(120);
    expect(await listedNames(org.reader, org, "?stale=true")).toEqual(["new", "prod"]);
    await setLimit(org, null, "new");
    expect(await silence(org, "new")).toMatchObject({ limit_source: "none", is_stale: false });
    const audited = (await auditedResources(org, app)).filter((entry) =>
      entry.startsWith("put_environment_silence"),
    );
    expect(audited).toEqual([
      "put_environment_silence environment prod",
      "put_environment_silence environment new",
      "put_environment_silence environment new",
    ]);
  });

  it("is refused where it makes no sense", async () => {
    const org = await withReporter(1);
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    for (const limit of [59, 315_360_001, 60.5, "100", undefined])
      expect((await setLimit(org, limit)).status).toBe(400);
    expect((await setLimit(org, 100, "all")).status).toBe(400);
    expect((await setLimit(org, 100, "nope")).status).toBe(404);
    const { status } = await org.snapshotter.put(`/environments/${org.name}/prod/silence`, {
      limit_seconds: 100,
    });
    expect(status).toBe(403);
    expect((await org.reader.get(`/environments/${org.name}?stale=maybe`)).status).toBe(400);
  });

  it("stays with the archived environment, which is never stale", async () => {
    const org = await withReporter();
    await org.member.put(`/environments/${org.name}/prod/archive`);
    await pass(600);
    const [name] = await listedNames(org.reader, org, "?archived=true");
    expect(await silence(org, name)).toMatchObject({ is_stale: false, gaps: [] });
    expect(await listedNames(org.reader, org, "?archived=true&stale=true")).toEqual([]);
  });
});
