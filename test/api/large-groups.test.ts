import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { transaction } from "../../src/db/transaction.ts";
import { judgingLimits } from "../../src/domain/judging.ts";
import { setMembers } from "../../src/modules/runtime/changes/environments/member-service.ts";
import { listPlacesSizes } from "../../src/modules/runtime/snapshots/report/version-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy } from "../support/policies.ts";
import { annotations, getSnapshot, reportServer } from "../support/snapshots.ts";
import { longestValueOf, statementNamesOf } from "../support/statements.ts";
import { leastLongestTurn } from "../support/turns.ts";
import { writeUnguarded } from "../support/unguarded.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Servers `a` and `b`, which both run `web`. */
async function withServers(): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["a", "b"]) {
    await createEnvironment(org, name, { type: "server" });
    expect((await reportServer(org, name, ["web"])).status).toBe(201);
  }
  return org;
}

/** Has what runs in an environment count for as many instances, or for as many bytes, as if it had been reported so. */
async function grow(
  org: TestOrg,
  environment: string,
  { instances = 1, bytes = 0 }: { instances?: number; bytes?: number },
): Promise<void> {
  await writeUnguarded(app, async (client) => {
    const { rowCount } = await client.query(
      `update snapshot_artifacts v
       set now = $3, running = ('{"creationTimestamp":[5],"pods":null,"more":"' || repeat('x', $4) || '"}')::json
       from environments e
       where e.org_id = $1 and e.name = $2 and v.org_id = $1 and v.environment_id = e.id and v.last_index is null
         and v.name = 'web'`,
      [org.id, environment, instances, bytes],
    );
    expect(rowCount).toBe(1);
  });
}

const group = (org: TestOrg, included: string[], name = "all") =>
  org.member.put(`/environments/${org.name}`, {
    name,
    type: "logical",
    description: "",
    included_environments: included,
  });

const half = { instances: judgingLimits.memberInstances / 2 + 1 };

describe("a logical environment whose members run more than is put together at once", () => {
  it("is refused before anything is stored", async () => {
    const org = await withServers();
    for (const name of ["a", "b"]) await grow(org, name, half);
    const before = await auditedResources(org, app);
    const put = await group(org, ["a", "b"]);
    expect([put.status, put.json.message]).toEqual([
      400,
      "Environment 'all' cannot be judged: its members run 250002 instances, more than the 250000 that are possible at once",
    ]);
    expect((await org.reader.get(`/environments/${org.name}/all`)).status).toBe(404);
    expect(await auditedResources(org, app)).toEqual(before);
    expect((await group(org, ["a"])).status).toBe(201);
    const join = await org.member.put(`/environments/${org.name}/all/join`, { physical_env_name: "b" });
    expect([join.status, join.json.message]).toEqual([400, put.json.message]);
  });

  it("is measured by everything that says where they run", async () => {
    const org = await withServers();
    await grow(org, "a", { instances: 7, bytes: 100_000 });
    const { rows } = await app.deps.db.pool.query<{ id: string }>(
      "select id from environments where org_id = $1 order by name",
      [org.id],
    );
    const sizes = await listPlacesSizes(
      app.deps.db,
      org.id,
      rows.map(({ id }) => id),
    );
    const text = (more: string): string => `{"creationTimestamp":[5],"pods":null,"more":"${more}"}`;
    expect(sizes).toContainEqual({
      environment_id: rows[0]!.id,
      instances: 7,
      bytes: 100_000 + text("").length,
    });
    expect(sizes).toContainEqual({ environment_id: rows[1]!.id, instances: 1, bytes: expect.any(Number) });
  });

  it("gives way to its members, and may be given fewer without reading what ran in it", async () => {
    const org = await withServers();
    expect((await group(org, ["a", "b"])).status).toBe(201);
    await grow(org, "b", { instances: judgingLimits.memberInstances + 1 });
    expect((await reportServer(org, "a", ["web", "db"])).status).toBe(201);
    expect((await getSnapshot(org, "a")).index).toBe(2);
    expect((await getSnapshot(org, "all")).index).toBe(1);
    expect(app.logged()).toMatch(/'all' cannot be judged: its members run \d+ instances/);
    expect((await org.admin.put(`/environments/${org.name}/b/archive`)).status).toBe(200);
    expect(annotations(await getSnapshot(org, "all"))).toEqual([
      "db: started-unknown 0>1",
      "web: unchanged 2>1",
    ]);
    const names = await statementNamesOf(app, async () => {
      const emptied = await org.member.patch(`/environments/${org.name}/all`, { included_environments: [] });
      expect([emptied.status, emptied.text]).toEqual([200, '"OK"']);
    });
    expect(names).toContain("earlier-versions");
    expect(names).not.toContain("running-versions");
  });
});

describe("logical environments around one that are too much together", () => {
  it("are judged by a job each, which sees what runs by then", async () => {
    const org = await withServers();
    for (const name of ["one", "two"]) expect((await group(org, ["a", "b"], name)).status).toBe(201);
    await grow(org, "b", { instances: judgingLimits.memberInstances / 2 });
    const before = (await auditedResources(org, app)).length;
    for (const running of [["web", "db"], ["db"]])
      expect((await reportServer(org, "a", running)).status).toBe(201);
    expect((await getSnapshot(org, "one")).index).toBe(1);
    await runPendingJobs(app);
    for (const name of ["one", "two"]) {
      const snapshot = await getSnapshot(org, name);
      expect([snapshot.index, annotations(snapshot)]).toEqual([
        2,
        ["db: started-unknown 0>1", "web: unchanged 2>1"],
      ]);
    }
    expect((await auditedResources(org, app)).slice(before)).toEqual([
      "server_report snapshot a#2",
      "server_report snapshot a#3",
      "reevaluate_environment environment one",
      "reevaluate_environment environment two",
    ]);
    const { rows } = await app.deps.db.pool.query(
      `select distinct s.cause from snapshots s join environments e on e.org_id = s.org_id and e.id = s.environment_id
       where s.org_id = $1 and e.name in ('one', 'two')`,
      [org.id],
    );
    expect(rows).toEqual([{ cause: "members" }]);
    // Fewer members are no reason to wait for all of them either.
    expect((await org.admin.put(`/environments/${org.name}/a/archive`)).status).toBe(200);
  });

  it("are judged by a job each where that is too many rules together", async () => {
    const org = await withServers();
    await createPolicy(
      org,
      "rules",
      policyText(`attestations: [&r {name: a, type: generic}${",*r".repeat(499)}]`),
    );
    for (const name of ["one", "two"]) {
      expect((await group(org, ["a"], name)).status).toBe(201);
      await attachPolicies(org, name, "rules");
    }
    const many = Array.from({ length: 1001 }, (_, at) => `artifact-${at}`);
    expect((await reportServer(org, "a", many)).status).toBe(201);
    expect((await getSnapshot(org, "a")).index).toBe(2);
    for (const name of ["one", "two"]) expect((await getSnapshot(org, name)).index).toBe(2);
    // What runs by then is less.
    expect((await reportServer(org, "a", ["web", "db"])).status).toBe(201);
    await runPendingJobs(app);
    for (const name of ["one", "two"])
      expect(annotations(await getSnapshot(org, name)).map((line) => line.split(":")[0])).toEqual([
        "db",
        "web",
      ]);
  });

  it("are written one after the other where their policies are long", async () => {
    const org = await withServers();
    const policies = Array.from({ length: 10 }, (_, at) => `long-${at}`);
    for (const name of policies) {
      const rule = `{name: a, type: generic, if: "\${{ flow.name == '${"x".repeat(4000)}' }}"}`;
      await createPolicy(org, name, policyText(`attestations: [&r ${rule}${",*r".repeat(14)}]`));
    }
    const groups = ["one", "two", "three", "four"];
    for (const name of groups) {
      expect((await group(org, ["a"], name)).status).toBe(201);
      await attachPolicies(org, name, ...policies);
    }
    const longest = await longestValueOf(app, async () => {
      expect((await reportServer(org, "a", ["web", "db"])).status).toBe(201);
    });
    // Each is 600,000.
    expect(longest).toBeGreaterThan(1024 * 1024);
    expect(longest).toBeLessThan(2 * 1024 * 1024);
    for (const name of groups) {
      const snapshot = await getSnapshot(org, name);
      expect([snapshot.index, snapshot.applied_policies.length, annotations(snapshot)]).toEqual([
        3,
        10,
        ["db: started-compliant 0>1", "web: unchanged 1>1"],
      ]);
    }
  });

  it("are recorded by those jobs, not by the version of a policy that they are judged by", async () => {
    const org = await withServers();
    await createPolicy(org, "p");
    for (const name of ["one", "two"]) {
      expect((await group(org, ["a", "b"], name)).status).toBe(201);
      await attachPolicies(org, name, "p");
    }
    await grow(org, "b", { instances: judgingLimits.memberInstances / 2 });
    const before = (await auditedResources(org, app)).length;
    await putPolicy(org.member, org.name, { name: "p" }, policyText("attestations: []"));
    const recordedSince = async (): Promise<string[]> => (await auditedResources(org, app)).slice(before);
    expect(await recordedSince()).toEqual(["put_policy policy p"]);
    await runPendingJobs(app);
    expect((await recordedSince()).slice(1).toSorted()).toEqual([
      "reevaluate_environment environment one",
      "reevaluate_environment environment two",
    ]);
  });
});

/** Inserts environments of a type that nothing was reported to. @returns their ids, in order. */
async function insertMany(org: TestOrg, type: string, count: number): Promise<string[]> {
  const { rows } = await app.deps.db.pool.query<{ id: string }>(
    `insert into environments (org_id, id, name, type, created_at, last_modified_at)
     select $1, gen_random_uuid(), $2 || n, $2, now(), now() from generate_series(1, $3::int) n returning id`,
    [org.id, type, count],
  );
  return rows.map(({ id }) => id).toSorted();
}

/** Gives each logical environment all of these members. */
async function insertMembers(org: TestOrg, logical: string[], members: string[]): Promise<void> {
  await app.deps.db.pool.query(
    `insert into environment_members (org_id, logical_id, member_id, position)
     select $1, logical, member, position
     from unnest($2::uuid[]) logical cross join unnest($3::uuid[]) with ordinality as members (member, position)`,
    [org.id, logical, members],
  );
}

describe("others are served", () => {
  it("while many logical environments around one are put together", async () => {
    const org = await app.org();
    await createEnvironment(org, "a", { type: "server" });
    const { rows } = await app.deps.db.pool.query<{ id: string }>(
      "select id from environments where org_id = $1",
      [org.id],
    );
    const members = [...(await insertMany(org, "server", 199)), rows[0]!.id];
    await insertMembers(org, await insertMany(org, "logical", 200), members);
    let reports = 0;
    const longest = await leastLongestTurn(50, async () => {
      reports += 1;
      expect((await reportServer(org, "a", [`web-${reports}`])).status).toBe(201);
    });
    expect((await getSnapshot(org, "logical200")).index).toBe(reports);
    expect(longest).toBeLessThan(50);
  }, 60_000);

  it("while the members of a large one are compared with those it had", async () => {
    const org = await app.org();
    const members = await insertMany(org, "server", 10_000);
    const [id] = (await insertMany(org, "logical", 1)) as [string];
    await insertMembers(org, [id], members);
    const differences: string[] = [];
    const longest = await leastLongestTurn(50, async () => {
      members.reverse();
      differences.push(
        await transaction(app.deps.db, (tx) => setMembers(app.deps, tx, org, { id, members })),
      );
    });
    expect(new Set(differences)).toEqual(new Set(["less"]));
    expect(longest).toBeLessThan(50);
  }, 60_000);
});
