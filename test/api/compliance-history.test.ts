import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { buildWeb, runningWeb } from "../support/builds-of-web.ts";
import { createEnvironment, listedNames } from "../support/environments.ts";
import { attachPolicies, createPolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  // Times are compared to the second: how long a busy machine takes for requests is no part of them.
  app.clock.freeze();
});
afterAll(() => app.close());

const classes = ["compliant", "non_compliant", "unknown", "silent"] as const;
type Class = (typeof classes)[number];
type Bucket = { from: number; to: number } & Record<Class, number>;

const hour = 3600;

async function history(
  org: TestOrg,
  environment: string | undefined,
  query: Record<string, string | number> = {},
) {
  const path =
    environment === undefined ? `/organizations/${org.name}` : `/environments/${org.name}/${environment}`;
  const search = new URLSearchParams(
    Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
  );
  return org.reader.get(`${path}/compliance-history?${search.toString()}`);
}

async function bucketsOf(...asked: Parameters<typeof history>): Promise<Bucket[]> {
  const answer = await history(...asked);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json.buckets;
}

function total(buckets: readonly Bucket[]): Record<Class, number> {
  const sums = classes.map((each) => [each, Math.round(buckets.reduce((sum, part) => sum + part[each], 0))]);
  return Object.fromEntries(sums) as Record<Class, number>;
}

/**
 * Makes an environment that is unknown for two hours, then compliant for three, not for two, compliant for one, and silent
 * for ten, during which it would be compliant; then not compliant. @returns when that began and ended.
 */
async function live(org: TestOrg, name: string): Promise<{ start_ts: number; end_ts: number }> {
  await createEnvironment(org, name, { type: "server" });
  const start_ts = app.clock.now();
  await reportServer(org, name, [runningWeb("1")]);
  app.clock.advance(2 * hour);
  await attachPolicies(org, name, "origin");
  app.clock.advance(3 * hour);
  await reportServer(org, name, [runningWeb("1"), "db"]);
  app.clock.advance(2 * hour);
  await reportServer(org, name, [runningWeb("1")]);
  app.clock.advance(hour);
  await reportServer(org, name, [runningWeb("1")]);
  app.clock.advance(10 * hour);
  await reportServer(org, name, ["db"]);
  app.clock.advance(hour);
  return { start_ts, end_ts: app.clock.now() };
}

async function orgWithPolicy(): Promise<TestOrg> {
  const org = await app.org();
  await createPolicy(org, "origin");
  await buildWeb(org, "1");
  return org;
}

async function limitSilence(org: TestOrg, name: string, seconds: number): Promise<void> {
  const path = `/environments/${org.name}/${name}/silence`;
  expect((await org.member.put(path, { limit_seconds: seconds })).status).toBe(200);
}

const lived = { compliant: 4 * hour, non_compliant: 3 * hour, unknown: 2 * hour, silent: 0 };

describe("the history of an environment", () => {
  it("is how long it was what, silence for itself", async () => {
    const org = await orgWithPolicy();
    const { start_ts, end_ts } = await live(org, "prod");
    expect(total(await bucketsOf(org, "prod", { start_ts, end_ts }))).toEqual({
      ...lived,
      compliant: 14 * hour,
    });
    await app.deps.db.pool.query(
      `insert into environment_silences (org_id, environment_id, began_at, ended_at)
      select org_id, environment_id, to_timestamp($2), to_timestamp($3) from snapshots
      where org_id = $1 and index = 1`,
      [org.id, start_ts + 8 * hour, start_ts + 18 * hour],
    );
    expect(total(await bucketsOf(org, "prod", { start_ts, end_ts }))).toEqual({
      ...lived,
      silent: 10 * hour,
    });
  });

  it("knows silence that reports ended, and one that lasts", async () => {
    const org = await orgWithPolicy();
    await createEnvironment(org, "prod", { type: "server" });
    await limitSilence(org, "prod", 2 * hour);
    const start_ts = app.clock.now();
    await reportServer(org, "prod", [runningWeb("1")]);
    app.clock.advance(5 * hour);
    await reportServer(org, "prod", [runningWeb("1")]);
    app.clock.advance(hour);
    // A verdict that turns while nobody reports.
    await attachPolicies(org, "prod", "origin");
    app.clock.advance(hour);
    // The watch begins with its first look, and silence counts from then on.
    await app.deps.db.pool.query("update silence_watch set since = to_timestamp($1)", [start_ts]);
    app.clock.advance(4 * hour);
    await noticeSilence(app.deps);
    const end_ts = app.clock.now();
    const told = total(await bucketsOf(org, "prod", { start_ts, end_ts, bucket: "hour" }));
    expect(told.silent + told.unknown + told.compliant).toBe(11 * hour);
    expect(told.silent).toBeGreaterThanOrEqual(5 * hour);
    const gaps = (await org.reader.get(`/environments/${org.name}/prod/silence`)).json.gaps;
    const silent = gaps.reduce(
      (sum: number, gap: { from: number; to: number | null }) =>
        sum + Math.min(gap.to ?? end_ts, end_ts) - gap.from,
      0,
    );
    expect(told.silent).toBe(Math.round(silent));
  });

  it("has buckets of hours, days and weeks that add up, wherever it is divided", async () => {
    const org = await orgWithPolicy();
    const { start_ts, end_ts } = await live(org, "prod");
    const whole = total(await bucketsOf(org, "prod", { start_ts, end_ts, bucket: "week" }));
    for (const bucket of ["hour", "day"]) {
      const buckets = await bucketsOf(org, "prod", { start_ts, end_ts, bucket });
      expect(total(buckets)).toEqual(whole);
      for (const [at, each] of buckets.entries()) {
        const sum = classes.reduce((seconds, name) => seconds + each[name], 0);
        expect(sum).toBeCloseTo(each.to - each.from, 5);
        if (at > 0) expect(each.from % (bucket === "hour" ? hour : 24 * hour)).toBe(0);
      }
    }
    for (const middle of [start_ts + 1234.5, start_ts + 5 * hour, start_ts + 9.5 * hour]) {
      const before = await bucketsOf(org, "prod", { start_ts, end_ts: middle });
      const after = await bucketsOf(org, "prod", { start_ts: middle, end_ts });
      expect(total([...before, ...after])).toEqual(whole);
    }
  });

  it("is unknown before the first report, and after an archive", async () => {
    const org = await orgWithPolicy();
    const { start_ts } = await live(org, "prod");
    await org.member.put(`/environments/${org.name}/prod/archive`);
    const archived = app.clock.now();
    app.clock.advance(3 * hour);
    const [past] = await listedNames(org.reader, org, "?archived=true");
    const query = { start_ts: start_ts - 5 * hour, end_ts: archived + 3 * hour };
    const told = await history(org, past, query);
    expect([told.status, told.json.environment_name]).toEqual([200, past]);
    expect(total(told.json.buckets)).toEqual({ ...lived, compliant: 14 * hour, unknown: 10 * hour });
    expect((await history(org, "prod", query)).status).toBe(404);
  });

  it("has a window of 30 days that ends now, which is what there is at most", async () => {
    const org = await orgWithPolicy();
    await live(org, "prod");
    const { json } = await history(org, "prod");
    expect(json).toMatchObject({ environment_name: "prod", bucket: "day" });
    expect(json.end_ts - json.start_ts).toBeCloseTo(30 * 24 * hour, 3);
    expect(json.buckets).toHaveLength(31);
    const later = await history(org, "prod", { start_ts: json.end_ts + 1000, end_ts: json.end_ts + 2000 });
    expect([later.status, later.json.buckets]).toEqual([200, []]);
  });

  it.each([
    [{ start_ts: 0 }, "query.start_ts"],
    [{ start_ts: 20, end_ts: 10 }, "query.start_ts"],
    [{ bucket: "month" }, "query.bucket"],
    [{ start_ts: "yesterday" }, "query.start_ts"],
  ])("refuses %j", async (query, parameter) => {
    const org = await orgWithPolicy();
    for (const environment of ["prod", undefined]) {
      if (environment !== undefined) await createEnvironment(org, environment, { type: "server" });
      const answer = await history(org, environment, query);
      expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, [parameter]]);
    }
  });

  it("does not exist for an environment that does not", async () => {
    const org = await app.org();
    const answer = await history(org, "none");
    expect([answer.status, answer.json.message]).toEqual([404, expect.stringContaining("none")]);
  });
});

describe("the history of an organization", () => {
  it("adds up those of its environments from their creation on, in one statement", async () => {
    const org = await orgWithPolicy();
    const other = await orgWithPolicy();
    await live(other, "elsewhere");
    const first = await live(org, "one");
    await limitSilence(org, "one", 60);
    app.clock.advance(hour);
    const second = await live(org, "two");
    await createEnvironment(org, "both", { type: "logical", included_environments: ["one", "two"] });
    await live(org, "three");
    await org.member.put(`/environments/${org.name}/three/archive`);
    await reportServer(org, "one", []);
    app.clock.advance(hour);
    const query = { start_ts: first.start_ts - 7.3 * hour, end_ts: app.clock.now(), bucket: "hour" };
    const statements = await statementsOf(app, () => history(org, undefined, query));
    const { environment_count, buckets } = (await history(org, undefined, query)).json;
    expect(environment_count).toBe(3);
    const { rows } = await app.deps.db.pool.query<{ name: string; created: number }>(
      "select name, epoch(created_at)::float8 as created from environments where org_id = $1 and not archived",
      [org.id],
    );
    const parts = await Promise.all(
      rows.map(({ name, created }) => bucketsOf(org, name, { ...query, start_ts: created })),
    );
    for (const bucket of buckets as Bucket[])
      for (const each of classes) {
        const sum = parts.flat().filter(({ to }) => to > bucket.from && to <= bucket.to);
        expect([bucket.from, each, sum.reduce((seconds, part) => seconds + part[each], 0)]).toEqual([
          bucket.from,
          each,
          expect.closeTo(bucket[each], 4),
        ]);
      }
    const all = total(buckets);
    for (const each of classes) expect([each, all[each] > 0]).toEqual([each, true]);
    expect(second.end_ts).toBeGreaterThan(first.end_ts);
    expect(statements.filter((text: string) => text.includes("environment_silences"))).toHaveLength(1);
  });

  it("is nothing where there are no environments", async () => {
    const org = await app.org();
    const { json } = await history(org, undefined);
    expect(json.environment_count).toBe(0);
    expect(total(json.buckets)).toEqual({ compliant: 0, non_compliant: 0, unknown: 0, silent: 0 });
  });
});
