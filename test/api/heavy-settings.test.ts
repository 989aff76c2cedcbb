import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putEnv } from "../support/actions.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { columnsBut } from "../support/table-columns.ts";
import { leastLongestTurn } from "../support/turns.ts";

/** What is read at most in one: a slice of four megabytes, and a little. */
const largestRow = 4_500_000;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { largestRow });
  org = await app.org();
});
afterAll(() => app.close());

/** Runs a statement that leaves behind what many requests would. */
async function seed(statement: string, ...values: unknown[]): Promise<void> {
  await app.deps.db.pool.query(statement, [org.id, ...values]);
}

/** Measures for how long the event loop is held while an answer is made and sent. */
function held(path: string): Promise<number> {
  return leastLongestTurn(50, async () => {
    const { status } = await org.reader.request("HEAD", path);
    expect(status).toBe(200);
  });
}

it("shows a policy with a long history, alone and among others", async () => {
  const remark = "r".repeat(10_000);
  const text = (at: number): string => `# ${at}\n${policyText("provenance:", "  required: true")}`;
  for (const name of ["a", "b", "c"]) await createPolicy(org, name);
  for (let at = 0; at < 3; at += 1) {
    const change = { name: "b", description: `described ${at}`, comment: `${at} ${remark}`.slice(0, 10_000) };
    expect((await putPolicy(org.member, org.name, change, text(at))).status).toBe(200);
  }
  await createEnvironment(org, "prod");
  await createEnvironment(org, "stage");
  await attachPolicies(org, "stage", "b");
  await attachPolicies(org, "prod", "b");
  const before = (await org.reader.get(`/policies/${org.name}/b`)).json;
  const more = 600;
  await seed(
    `insert into policy_events (org_id, policy_id, id, type, created_at, created_by_name, data)
    select org_id, id, gen_random_uuid(), 'metadata_update', now(), 'x', jsonb_build_object('description', repeat('x', 9990) || n)
    from policies cross join generate_series(1, $2::integer) n where org_id = $1 and name = 'b'`,
    more,
  );
  const { status, json } = await org.reader.get(`/policies/${org.name}/b`);
  expect(status).toBe(200);
  expect(json.events).toHaveLength(before.events.length + more);
  expect(json.events).toEqual(expect.arrayContaining(before.events));
  expect({ ...json, events: 0 }).toEqual({ ...before, events: 0 });
  expect(Object.keys(json)).toEqual(Object.keys(before));
  const all = (await org.reader.get(`/policies/${org.name}`)).json;
  expect(all.map((one: { name: string }) => one.name)).toEqual(["a", "b", "c"]);
  expect(all[1]).toEqual(json);
  expect((await putPolicy(org.member, org.name, { name: "b", description: "another" })).status).toBe(200);
}, 60_000);

it("shows actions that tell many, in order, and lets others in between", async () => {
  const emails = (target: number): string[] =>
    Array.from(
      { length: 100 },
      (_, at) => `${target}-${at}-${"a".repeat(50)}@${"b".repeat(60)}.${"c".repeat(60)}.com`,
    );
  const targets = Array.from({ length: 20 }, (_, target) => ({ type: "EMAIL", emails: emails(target) }));
  expect((await putEnv(org, { targets })).status).toBe(201);
  const many = 150;
  await seed(
    `insert into actions (org_id, number, type, name, triggers, targets, target_secrets, created_by_name, created_at,
      last_modified_at)
    select org_id, number + n, type, name || n, triggers, targets, target_secrets, created_by_name, created_at, last_modified_at
    from actions cross join generate_series(1, $2::integer) n where org_id = $1`,
    many - 1,
  );
  for (const path of [`/actions/${org.name}`, `/organizations/${org.name}/environments_notifications`]) {
    expect(await held(path)).toBeLessThan(50);
    const { json } = await org.reader.get(path);
    expect(json.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: many }, (_, at) => many - at),
    );
    expect(json[0].targets[19].emails).toEqual(emails(19));
  }
}, 60_000);

it("lets others in between while it writes a page of controls with long links", async () => {
  const links = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`link ${at}`, "€".repeat(2048)]));
  const control = { identifier: "c", name: "Control", links };
  expect((await org.admin.post(`/controls/${org.name}`, control)).status).toBe(201);
  await seed(
    `insert into control_versions select (jsonb_populate_record(v, jsonb_build_object('version', n))).*
    from control_versions v cross join generate_series(2, 100) n where org_id = $1`,
  );
  await seed("update controls set version = 100 where org_id = $1");
  expect(await held(`/controls/${org.name}/c/versions?per_page=100`)).toBeLessThan(50);
  const { json } = await org.reader.get(`/controls/${org.name}/c/versions?per_page=100`);
  expect(json.versions).toHaveLength(100);
  expect(json.versions[99].links).toEqual(links);
}, 60_000);

it("looks for a branch as far as commits are not too much together", async () => {
  const report = (name: string, branch?: string) =>
    org.member.post(
      `/artifacts/${org.name}/f`,
      artifactBody({
        fingerprint: fingerprintOf(name),
        git_commit: commitOf(name),
        ...(branch === undefined ? {} : { git_commit_info: { sha1: commitOf(name), branch } }),
      }),
    );
  await report("old", "old");
  await report("long");
  const names = await columnsBut(app, "artifacts", ["id", "commits_list"]);
  await seed(
    `with listed as materialized (
      select jsonb_agg(jsonb_build_object('sha1', md5(n::text))) as list from generate_series(1, 100000) n)
    insert into artifacts (id, commits_list, ${names})
    select (left(a.id::text, 24) || lpad(n::text, 8, '0') || '0000')::uuid, list, ${names}
    from artifacts a cross join listed cross join generate_series(1, 20) n where org_id = $1 and fingerprint = $2`,
    fingerprintOf("long"),
  );
  const latest = async (query: string) =>
    (await org.reader.get(`/artifacts/${org.name}/f/${fingerprintOf("new")}/latest_commit${query}`)).json
      .latest_commit;
  expect(await latest("")).toBe(commitOf("long"));
  expect(await latest("?branch=old")).toBeNull();
  await report("young", "old");
  expect(await latest("?branch=old")).toBe(commitOf("young"));
}, 60_000);

it("shows much that runs of a repo as it shows little, in order", async () => {
  const fingerprint = fingerprintOf("runs");
  const repo_info = { name: "acme/web", url: "https://github.com/acme/web", provider: "github" };
  for (const at of [1, 2]) {
    const body = artifactBody({ trail_name: "run", fingerprint, filename: `app-${at}`, repo_info });
    expect((await org.member.post(`/artifacts/${org.name}/web`, body)).status).toBe(201);
  }
  const names = (many: number, length: number): string[] =>
    Array.from({ length: many }, (_, at) => String(at).padStart(length, "0"));
  const live = async (environment: string, many: number, length: number) => {
    const running = names(many, length).map((name) => ({ name, fingerprint }));
    expect((await reportServer(org, environment, running)).status).toBe(201);
    const { status, json } = await org.reader.get(`/repos/${org.name}/live-artifacts/acme/web`);
    expect(status).toBe(200);
    const shown: { artifact_name: string; environment_id: string }[] = json.live_artifacts;
    const places: { id: string; name: string }[] = json._embedded.environments;
    const placeOf = new Map(places.map(({ id, name }) => [id, name]));
    return {
      runs: shown.map((one) => `${placeOf.get(one.environment_id)} ${one.artifact_name}`),
      artifacts: json._embedded.artifacts,
      keys: [Object.keys(json), Object.keys(json._embedded), Object.keys(shown[0]!)],
    };
  };
  for (const name of ["one", "two"]) await createEnvironment(org, name, { type: "server" });
  const few = await live("one", 3, 5);
  expect(few.runs).toEqual(names(3, 5).map((name) => `one ${name}`));
  const many = await live("two", 2000, 2000);
  expect({ ...many, runs: many.runs.length }).toEqual({ ...few, runs: few.runs.length + 2000 });
  const wanted = [...few.runs, ...names(2000, 2000).map((name) => `two ${name}`)];
  expect(many.runs.findIndex((one, at) => one !== wanted[at])).toBe(-1);
}, 60_000);

it("shows where an artifact with a long commit runs and was deployed as it shows lighter ones, as CSV too", async () => {
  const org = await app.org();
  const fingerprint = fingerprintOf("deployed");
  const body = artifactBody({
    fingerprint,
    commit_url: `https://github.com/acme/web/commit/${"x".repeat(1_000_000)}`,
    git_commit: commitOf("deployed"),
    repo_info: { name: "acme/web", url: "https://github.com/acme/web", provider: "github" },
  });
  expect((await org.member.post(`/artifacts/${org.name}/web`, body)).status).toBe(201);
  const count = 6;
  for (let at = 0; at < count; at += 1) {
    await createEnvironment(org, `env-${at}`, { type: "server" });
    expect((await reportServer(org, `env-${at}`, [{ name: "app", fingerprint }])).status).toBe(201);
  }
  const pages = [
    [`/deployments/${org.name}`, "deployments"],
    [`/running/${org.name}`, "data"],
  ] as const;
  for (const [path, member] of pages) {
    const slices = vi.spyOn(app.deps.db, "sliced");
    const whole = await org.reader.get(path);
    expect(whole.status).toBe(200);
    expect(slices.mock.calls.length).toBeGreaterThan(0);
    slices.mockRestore();
    const single = [];
    for (let page = 1; page <= count; page += 1)
      single.push(...(await org.reader.get(`${path}?per_page=1&page=${page}`)).json[member]);
    expect(whole.json[member]).toHaveLength(count);
    expect(JSON.stringify(whole.json[member]) === JSON.stringify(single)).toBe(true);
    expect(Object.keys(whole.json)).toEqual(Object.keys((await org.reader.get(`${path}?per_page=1`)).json));
    const csv = await org.reader.request("GET", path, { headers: { accept: "text/csv" } });
    expect([csv.status, csv.text.trim().split("\n").length]).toEqual([200, count + 1]);
  }
}, 60_000);
