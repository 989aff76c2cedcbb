import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest";

import { repairTimesCommand } from "../../src/cli/admin-time.ts";
import { print } from "../../src/cli/output.ts";
import { timeColumns } from "../../src/modules/maintenance/time-repair/columns-sql.ts";
import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { putEnv } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putPolicy, samplePolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";

const century = 100 * 365.25 * 86_400;

let app: TestApp;
let lines: string[];
beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
});
afterAll(() => app.close());
beforeEach(() => {
  lines = [];
  vi.spyOn(print, "line").mockImplementation((text = "") => void lines.push(text));
});
afterEach(() => vi.restoreAllMocks());

async function repair(options: { apply?: boolean; after?: string }): Promise<string> {
  lines = [];
  await repairTimesCommand(app.deps, options);
  return lines.join("\n");
}

/** Everything that is stored, as one text for each table. */
async function everything(): Promise<Record<string, string>> {
  const { pool } = app.deps.db;
  const { rows: tables } = await pool.query<{ name: string }>(`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('public', 'graphile_worker') and table_type = 'BASE TABLE'
      and table_name not in ('migrations', 'time_marks') order by 1`);
  const texts: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<{ text: string }>(`select t::text as text from ${name} t order by 1`);
    texts[name] = rows.map(({ text }) => text).join("\n");
  }
  return texts;
}

/** Names of tables that hold something of the next century, whatever column or JSON it stands in. */
async function tablesOfNextCentury(): Promise<string[]> {
  const later = new Date(Date.now() + century * 1000);
  const year = later.getUTCFullYear();
  const seconds = String(Math.floor(later.getTime() / 1000)).slice(0, 4);
  // With month and day: names of tests and ids have numbers, too.
  const pattern = new RegExp(`\\b${year}-\\d\\d-\\d\\d|(?<![\\d.])${seconds}\\d{6}(?!\\d)`);
  return Object.entries(await everything()).flatMap(([name, text]) => (pattern.test(text) ? [name] : []));
}

describe("the list of columns that hold moments", () => {
  it("has each of them, so that none is forgotten", async () => {
    const { rows } = await app.deps.db.pool.query<{ table: string; column: string }>(`
      select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and data_type in ('timestamp with time zone', 'timestamp without time zone', 'date')
        and not exists (select from pg_class where oid = to_regclass(table_name) and relispartition)`);
    const known = Object.entries(timeColumns).flatMap(([table, columns]) =>
      Object.keys(columns).map((column) => `${table}.${column}`),
    );
    expect(rows.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(known.sort());
  });
});

async function artifact(org: TestOrg, name: string, trail_name = "t1"): Promise<void> {
  const fingerprint = fingerprintOf(name);
  const body = artifactBody({ filename: name, fingerprint, trail_name, repo_info: repoInfo("acme/web") });
  expect((await org.member.post(`/artifacts/${org.name}/web`, body)).status).toBe(201);
}

async function begin(org: TestOrg): Promise<void> {
  await createEnvironment(org, "prod", { type: "server" });
  await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
  expect((await putEnv(org, { triggers: ["ON_STARTED_ARTIFACT"] })).status).toBeLessThan(300);
  await artifact(org, "a");
  await attest(org.member, { org: org.name, flow: "web", trail: "t1" }, "generic", {
    attestation_name: "unit",
    is_compliant: true,
  });
  await reportServer(org, "prod", ["a"]);
}

/** What happens while the clock is ahead. */
async function underWrongClock(org: TestOrg): Promise<void> {
  await artifact(org, "b");
  await artifact(org, "b2", "t2");
  await attest(org.member, { org: org.name, flow: "web", trail: "t1" }, "generic", {
    attestation_name: "unit",
    is_compliant: false,
  });
  await reportServer(org, "prod", ["a", "b"]);
  expect((await putPolicy(org.admin, org.name, { name: "base" }, samplePolicy)).status).toBeLessThan(300);
  await createEnvironment(org, "new", { type: "server" });
  await org.admin.put(`/flows/${org.name}`, { name: "other", description: "" });
  await org.admin.post(`/controls/${org.name}`, { identifier: "CTL-1", name: "Review" });
}

async function afterwards(orgs: TestOrg[]): Promise<void> {
  app.clock.advance(60);
  for (const org of orgs) {
    await artifact(org, "c", "t1");
    await artifact(org, "d", "t3");
  }
  app.clock.advance(60);
  for (const org of orgs) await reportServer(org, "prod", ["a", "b", "c"]);
  app.clock.advance(60);
  for (const org of orgs) await reportServer(org, "prod", ["b", "c", "d"]);
  app.clock.advance(60);
}

/** Answers that tell of everything an organization has. */
const reads = [
  "/builds/{org}",
  "/builds/{org}/statistics",
  "/deployments/{org}",
  "/environments/{org}",
  "/environments/{org}/prod",
  "/environments/{org}/all",
  "/environments/{org}/prod/silence",
  "/running/{org}?sort=started_at",
  "/snapshots/{org}/prod",
  "/snapshots/{org}/prod/1",
  "/snapshots/{org}/prod/2",
  "/snapshots/{org}/prod/3",
  "/snapshots/{org}/prod/4",
  "/snapshots/{org}/all/2",
  "/snapshots/{org}/all/4",
  "/environments/{org}/prod/deployments",
  "/environments/{org}/prod/auditlog",
  "/environments/{org}/prod/events",
  "/flows/{org}",
  "/flows/{org}/web",
  "/trails/{org}/web",
  "/trails/{org}/web/t1",
  "/trails/{org}/web/t2",
  "/trails/{org}",
  "/attestations/{org}",
  "/artifacts/{org}",
  "/membership-audit-log/{org}",
  "/organizations/{org}",
  "/policies/{org}",
  "/controls/{org}",
  "/repos/{org}",
  "/actions/{org}/1/deliveries",
  "/audit-log/{org}?per_page=50",
];

/** Answers without what is another in every organization; times that can be right are `now`, all others stay. */
async function answers(org: TestOrg, since: number): Promise<Record<string, unknown>> {
  const told: Record<string, unknown> = {};
  const until = app.clock.now() + 1;
  const canBeRight = (time: number): boolean => time > since - 86_400 * 40 && time <= until;
  for (const path of reads) {
    const answer = await org.admin.get(path.replace("{org}", org.name));
    expect([path, answer.status]).toEqual([path, 200]);
    const text = answer.text
      .replaceAll(org.name, "ORG")
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{8}(?:[0-9a-f]{4})?/g, "ID")
      .replaceAll(/user-[0-9a-z-]+/g, "USER")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
        canBeRight(Date.parse(time) / 1_000) ? "now" : time,
      )
      .replaceAll(/(?<![\w.])\d{10}(?:\.\d+)?(?!\d)/g, (number) =>
        canBeRight(Number(number)) ? '"now"' : number,
      )
      // Durations, to what a moment is put to exactly.
      .replaceAll(/(?<![\w.])\d+\.\d{3,}(?!\d)/g, (number) => String(Math.round(Number(number) / 20) * 20));
    told[path] = text;
  }
  return told;
}

describe.skipIf(inject("cluster"))("waybill admin repair-times", () => {
  it("makes an organization answer as one whose clock was right", async () => {
    const since = app.clock.now();
    const [spoiled, right] = [await app.org(), await app.org()];
    const both = [spoiled, right];
    for (const org of both) await begin(org);
    for (let reports = 0; reports < 4; reports += 1) {
      app.clock.advance(60);
      for (const org of both) await reportServer(org, "prod", ["a"]);
    }
    for (const org of both) await artifact(org, "a2");
    app.clock.advance(century);
    await underWrongClock(spoiled);
    app.clock.advance(-century);
    await underWrongClock(right);
    await afterwards(both);
    // What is lost without it: the list ends where the clock was wrong.
    expect((await spoiled.reader.get(`/builds/${spoiled.name}`)).json.total_count).toBe(2);
    expect((await right.reader.get(`/builds/${right.name}`)).json.total_count).toBe(6);
    expect(await tablesOfNextCentury()).toContain("public.builds");

    const before = await everything();
    const preview = await repair({});
    expect(await everything()).toEqual(before);
    expect(preview).toMatch(/builds\.created_at +4 /);
    expect(preview).toMatch(new RegExp(`${spoiled.name} +environment +prod`));
    expect(preview).toMatch(new RegExp(`${spoiled.name} +repo +acme/web +4`));
    expect(preview).not.toContain(right.name);
    expect(preview).toContain("the clock was 100 years ahead");
    expect(preview).toContain("repair-times --apply");

    await repair({ apply: true });
    expect(await tablesOfNextCentury()).toEqual([]);
    const [mended, expected] = [await answers(spoiled, since), await answers(right, since)];
    for (const path of reads) {
      if (path.startsWith("/audit-log")) continue;
      expect([path, mended[path]]).toEqual([path, expected[path]]);
    }
    const log = (await spoiled.admin.get(`/audit-log/${spoiled.name}?per_page=50&sort_direction=asc`)).json;
    const times = log.entries.map(({ occurred_at }: { occurred_at: number }) => occurred_at);
    expect(times).toEqual(times.toSorted((left: number, right: number) => left - right));
    expect(log.entries.at(-1)).toMatchObject({
      action: "admin repair-times",
      resource_type: "organization",
      resource: spoiled.name,
    });
    expect(await repair({ apply: true })).toBe("No record has a time in the future.");
    // Ids that are made from now on come after those that were made then.
    const { rows } = await app.deps.db.pool.query("select id_offset from time_marks");
    expect(Number(rows[0].id_offset)).toBeGreaterThan((century - 3600) * 1000);
  });

  it("shows all of 35 builds again", async () => {
    const org = await app.org();
    const report = async (from: number, to: number): Promise<void> => {
      for (let number = from; number < to; number += 1)
        await artifact(org, `build-${number}`, `run-${number}`);
    };
    const shownBuilds = async () => (await org.reader.get(`/builds/${org.name}?per_page=50`)).json;
    await report(0, 5);
    app.clock.advance(century);
    await report(5, 6);
    app.clock.advance(-century);
    await report(6, 35);
    expect((await shownBuilds()).total_count).toBe(5);
    await repair({ apply: true });
    const { total_count, builds } = await shownBuilds();
    expect(total_count).toBe(35);
    const shownOnes = builds.map(({ fingerprint }: { fingerprint: string }) => fingerprint);
    expect(shownOnes).toEqual(Array.from({ length: 35 }, (_, at) => fingerprintOf(`build-${34 - at}`)));
    const times = builds.map(({ created_at }: { created_at: number }) => created_at);
    expect(times).toEqual(times.toSorted((left: number, right: number) => right - left));
  });

  it("lets alarms of silence be raised again, and takes back those that were none", async () => {
    const org = await app.org();
    const pass = async (seconds: number): Promise<void> => {
      for (let left = seconds; left > 0; left -= 60) {
        app.clock.advance(Math.min(60, left));
        await noticeSilence(app.deps);
      }
    };
    const silence = async () => (await org.reader.get(`/environments/${org.name}/prod/silence`)).json;
    await createEnvironment(org, "prod", { type: "server" });
    for (let reports = 0; reports < 5; reports += 1) {
      await reportServer(org, "prod", ["web"]);
      await pass(120);
    }
    const before = await silence();
    app.clock.advance(century);
    await noticeSilence(app.deps);
    app.clock.advance(600);
    await noticeSilence(app.deps);
    await reportServer(org, "prod", ["web", "db"]);
    app.clock.advance(-century - 600);
    await reportServer(org, "prod", ["web", "db", "more"]);
    await pass(1200);
    expect((await silence()).is_stale).toBe(false);

    await repair({ apply: true });
    const after = await silence();
    expect(after).toMatchObject({ limit_source: "learned", gaps: [] });
    expect(after.usual_interval_seconds).toBeCloseTo(before.usual_interval_seconds, -2);
    await reportServer(org, "prod", ["web"]);
    await pass(240);
    expect((await silence()).is_stale).toBe(false);
    await pass(240);
    const { is_stale, gaps } = await silence();
    expect([is_stale, gaps[0].to, typeof gaps[0].noticed_at]).toEqual([true, null, "number"]);
  });

  it("sets back keys that were rotated, with the end of the secret before, and no end that was chosen", async () => {
    const org = await app.org();
    const path = `/service-accounts/${org.name}`;
    await org.admin.post(path, { name: "robot", privilege: "member" });
    const far = Math.floor(app.clock.now() + 20 * 365 * 86_400);
    const key = (await org.admin.post(`${path}/robot/api-keys`, { description: "x", expires_at: far })).json;
    app.clock.advance(3600);
    app.clock.advance(3 * 365 * 86_400);
    const rotation = { grace_period_hours: 2, expires_at: far };
    const rotated = await org.admin.post(`${path}/robot/api-keys/${key.id}/rotate`, rotation);
    expect(rotated.status).toBeLessThan(300);
    app.clock.advance(-3 * 365 * 86_400);
    await repair({ apply: true });
    const now = app.clock.now();
    const shownKey = (await org.admin.get(`${path}/robot/api-keys/${key.id}`)).json;
    expect(shownKey.expires_at).toBe(far);
    expect(shownKey.rotated_at).toBeLessThanOrEqual(now);
    expect(shownKey.grace_period_expires_at - shownKey.rotated_at).toBeCloseTo(7200, 0);
    expect((await app.as(key.key).get(`/builds/${org.name}`)).status).toBe(200);
    app.clock.advance(7300);
    expect((await app.as(key.key).get(`/builds/${org.name}`)).status).toBe(401);
    expect((await app.as(rotated.json.key).get(`/builds/${org.name}`)).status).toBe(200);
  });

  it("is the only way past the guards of tables of record, which stand afterwards", async () => {
    const org = await app.org();
    await artifact(org, "guarded");
    app.clock.advance(century);
    await artifact(org, "late");
    app.clock.advance(-century);
    await repair({ apply: true });
    const { pool } = app.deps.db;
    const { rows } = await pool.query<{ name: string }>(
      `select tgrelid::regclass::text as name from pg_trigger where not tgisinternal and tgenabled <> 'O'`,
    );
    expect(rows).toEqual([]);
    for (const table of ["builds", "artifacts", "audit_log", "trail_events", "membership_events"])
      await expect(pool.query(`update ${table} set org_id = org_id`)).rejects.toThrow("insert-only");
    await expect(pool.query("delete from builds")).rejects.toThrow("insert-only");
  });

  it("leaves everything as it was when it fails half-way", async () => {
    const org = await app.org();
    app.clock.advance(century);
    await artifact(org, "late");
    app.clock.advance(-century);
    const { pool } = app.deps.db;
    await pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
       create trigger refuse before insert or update on flow_activity for each row execute function refuse()`,
    );
    const before = await everything();
    await expect(repair({ apply: true })).rejects.toThrow("refused");
    expect(await everything()).toEqual(before);
    await expect(pool.query("delete from builds")).rejects.toThrow("insert-only");
    await pool.query("drop function refuse cascade");
    await repair({ apply: true });
    expect(await tablesOfNextCentury()).toEqual([]);
  });

  it("refuses to guess where right times could not be told from wrong ones", async () => {
    await expect(repair({ after: String(Math.floor(app.clock.now()) - 60) })).rejects.toThrow(
      "in the future",
    );
    await expect(repair({ after: "soon" })).rejects.toThrow("not a time");
    await expect(repairTimesCommand(app.deps, { apply: true }, Date.now() / 1000 + 3600)).rejects.toThrow(
      "apart: set the one",
    );
  });
});
