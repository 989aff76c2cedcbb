import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";

import type { OrganizationOverview } from "../../src/contract/overview.ts";
import { repairTimesCommand } from "../../src/cli/admin-time.ts";
import { print } from "../../src/cli/output.ts";
import { noticeSilence } from "../../src/modules/runtime/silence/watch-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment, listedNames } from "../support/environments.ts";
import { expectKept } from "../support/kept.ts";
import { putFlow, putTrail, sampleTemplate } from "../support/flows.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({}, { maintained: true });
  vi.spyOn(print, "line").mockImplementation(() => {});
});
afterAll(() => app.close());

/** As it is listed with `include=summary`. */
interface Listed {
  name: string;
  type: string;
  state: boolean | null;
  is_stale: boolean;
  last_reported_at: number | null;
  snapshot_count: number;
}

/** An artifact of a snapshot. */
interface Shown {
  annotation: { type: string };
  compliant: boolean | null;
  flows: unknown[];
  allow_listed?: true;
}

async function overview(org: TestOrg): Promise<OrganizationOverview> {
  const { status, json } = await org.reader.get(`/organizations/${org.name}/overview`);
  expect([status, json.message]).toEqual([200, undefined]);
  return json;
}

async function pass(seconds: number): Promise<void> {
  for (let left = seconds; left > 0; left -= 60) {
    app.clock.advance(Math.min(60, left));
    await noticeSilence(app.deps);
  }
}

/** What the overview should say of environments and what runs, by what other operations say of each. */
async function countedFromScratch(org: TestOrg) {
  const { json } = await org.reader.get(`/environments/${org.name}?per_page=50&include=summary`);
  const all: Listed[] = json.environments;
  const count = (is: (item: Listed) => boolean) => all.filter(is).length;
  const running = { artifacts: 0, unproven: 0, non_compliant: 0, allow_listed: 0 };
  const failing = new Map<string, number>();
  for (const { name, type, snapshot_count } of all) {
    if (snapshot_count === 0) continue;
    const { artifacts } = await getSnapshot(org, name);
    const present = (artifacts as Shown[]).filter(({ annotation }) => annotation.type !== "exited");
    failing.set(name, present.filter(({ compliant }) => compliant === false).length);
    if (type === "logical") continue;
    running.artifacts += present.length;
    running.unproven += present.filter(({ flows }) => flows.length === 0).length;
    running.non_compliant += failing.get(name) ?? 0;
    running.allow_listed += present.filter(({ allow_listed }) => allow_listed === true).length;
  }
  const worst = all
    .filter(({ state }) => state === false)
    .map(({ name }) => ({ environment_name: name, failing_artifacts: failing.get(name) ?? 0 }))
    .sort(
      (a, b) =>
        b.failing_artifacts - a.failing_artifacts || (a.environment_name < b.environment_name ? -1 : 1),
    );
  return {
    environments: {
      total: all.length,
      compliant: count(({ state }) => state === true),
      non_compliant: count(({ state }) => state === false),
      unknown: count(({ state }) => state === null),
      stale: count(({ is_stale }) => is_stale),
      never_reported: count(({ type, last_reported_at }) => type !== "logical" && last_reported_at === null),
    },
    running,
    worst,
  };
}

async function expectCounted(org: TestOrg): Promise<void> {
  const { environments, running, attention } = await overview(org);
  const { worst, ...expected } = await countedFromScratch(org);
  expect({ environments, running }).toEqual(expected);
  const named = attention.filter(({ reason }) => reason === "non_compliant");
  expect(
    named.map(({ environment_name, failing_artifacts }) => ({ environment_name, failing_artifacts })),
  ).toEqual(worst);
}

const environments = ["a", "b", "c"];
const artifacts = ["w", "x", "y", "z"];
const inEnvironment = fc.constantFrom(...environments);
const inPlace = fc.tuple(inEnvironment, fc.constantFrom(...artifacts));
const withPolicy = fc.tuple(inEnvironment, fc.constantFrom("strict", "lax"));

/** What may happen, with the answer's status where there is one. */
type Happening = (org: TestOrg) => Promise<{ status: number } | void>;

function happening<T>(
  values: fc.Arbitrary<T>,
  kind: string,
  happen: (org: TestOrg, value: T) => ReturnType<Happening>,
) {
  return values.map((value) => ({
    kind,
    happen: (org: TestOrg) => happen(org, value),
    [fc.toStringMethod]: () => `${kind} ${JSON.stringify(value)}`,
  }));
}

const happenings = [
  happening(fc.tuple(inEnvironment, fc.subarray(artifacts)), "report", (org, [name, running]) =>
    reportServer(org, name, running),
  ),
  happening(inPlace, "allow", (org, [name, artifact]) =>
    org.member.put(`/allowlists/${org.name}/${name}`, {
      artifact_fingerprint: fingerprintOf(artifact),
      artifact_name: artifact,
      description: "",
    }),
  ),
  happening(inEnvironment, "forbid", async (org, name) => {
    const answers = artifacts.map((artifact) =>
      org.member.delete(`/allowlists/${org.name}/${name}/${fingerprintOf(artifact)}`),
    );
    return (await Promise.all(answers)).find(({ status }) => status < 300) ?? { status: 404 };
  }),
  happening(withPolicy, "attach", (org, [name, policy]) =>
    org.member.post(`/environments/${org.name}/${name}/policies`, { policy_names: [policy] }),
  ),
  happening(withPolicy, "detach", (org, [name, policy]) =>
    org.member.delete(`/environments/${org.name}/${name}/policies`, { policy_names: [policy] }),
  ),
  happening(inEnvironment, "archive", async (org, name) => {
    const answer = await org.member.put(`/environments/${org.name}/${name}/archive`);
    await createEnvironment(org, name, { type: "server" });
    return answer;
  }),
  happening(inEnvironment, "rename", async (org, name) => {
    await org.member.put(`/environments/${org.name}/${name}/rename`, { new_name: `${name}-2` });
    return org.member.put(`/environments/${org.name}/${name}-2/rename`, { new_name: name });
  }),
  happening(fc.subarray(environments), "group", (org, members) =>
    org.member.patch(`/environments/${org.name}/group`, { included_environments: members }),
  ),
  happening(fc.tuple(inEnvironment, fc.constantFrom(null, 60, 10_000)), "limit", (org, [name, limit]) =>
    org.member.put(`/environments/${org.name}/${name}/silence`, { limit_seconds: limit }),
  ),
  happening(fc.constantFrom(...artifacts), "build", (org, artifact) =>
    org.member.post(
      `/artifacts/${org.name}/web`,
      artifactBody({ filename: artifact, fingerprint: fingerprintOf(artifact), trail_name: "t1" }),
    ),
  ),
  happening(fc.constantFrom(10, 120), "wait", (_org, seconds) => pass(seconds)),
  // On Citus it is refused.
  happening(fc.constant("times"), "repair", async () =>
    inject("cluster") ? undefined : repairTimesCommand(app.deps, { apply: true }),
  ),
];

async function company(): Promise<TestOrg> {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web" });
  await putTrail(org.member, `${org.name}/web`, { name: "t1" });
  for (const name of environments) await createEnvironment(org, name, { type: "server" });
  await createEnvironment(org, "group", { type: "logical", included_environments: ["a", "b"] });
  await createPolicy(org, "strict");
  await createPolicy(org, "lax", policyText("provenance: {required: false}"));
  return org;
}

describe("the numbers of an organization", () => {
  it("are nothing where there is nothing", async () => {
    const org = await app.org();
    expect(await overview(org)).toEqual({
      environments: { total: 0, compliant: 0, non_compliant: 0, unknown: 0, stale: 0, never_reported: 0 },
      running: { artifacts: 0, unproven: 0, non_compliant: 0, allow_listed: 0 },
      trails: { since: expect.any(Number), total: 0, compliant: 0, non_compliant: 0, incomplete: 0 },
      attention: [],
    });
  });

  it("are what counting everything gives, after whatever happened", async () => {
    const worked = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...happenings), { minLength: 8, maxLength: 16 }), async (all) => {
        const org = await company();
        for (const { kind, happen } of all) {
          const { status = 200 } = (await happen(org)) ?? {};
          if (status < 300) worked.add(kind);
        }
        await expectCounted(org);
        await expectKept(app, org);
      }),
      { numRuns: amount(5, 12) },
    );
    expect(worked.size).toBe(happenings.length);
  }, 180_000);

  it("are exact when reports to many environments come at once, none of which waits for another", async () => {
    const org = await app.org();
    const names = Array.from({ length: 24 }, (_, at) => `env-${at}`);
    for (const name of names) await createEnvironment(org, name, { type: "server" });
    for (let round = 1; round <= 3; round += 1) {
      const running = Array.from({ length: round }, (_, at) => `app-${at}`);
      await Promise.all(names.map((name) => reportServer(org, name, running)));
      const { environments: counted, running: found } = await overview(org);
      expect([counted.total, counted.never_reported, found.artifacts]).toEqual([24, 0, 24 * round]);
    }
    const { rows } = await app.deps.db.pool.query("select from environment_tallies where org_id = $1", [
      org.id,
    ]);
    expect(rows.length).toBeLessThanOrEqual(24);
  });

  it("never let one transaction wait for another", async () => {
    const org = await company();
    const { pool } = app.deps.db;
    const [first, second] = [await pool.connect(), await pool.connect()];
    try {
      const turn = "update environments set state = true where org_id = $1 and name = $2";
      await first.query("begin");
      await first.query(turn, [org.id, "a"]);
      await second.query("begin; set local lock_timeout = '2s'");
      await second.query(turn, [org.id, "b"]);
      expect((await overview(org)).environments).toMatchObject({ compliant: 0, unknown: 4 });
      await second.query("commit");
      expect((await overview(org)).environments).toMatchObject({ compliant: 1, unknown: 3 });
      await first.query("rollback");
      expect((await overview(org)).environments).toMatchObject({ compliant: 1, unknown: 3 });
    } finally {
      first.release();
      second.release();
    }
  });

  it("count the trails of a day by their state", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web" }, sampleTemplate);
    await putTrail(org.member, `${org.name}/web`, { name: "old" });
    app.clock.advance(86_401);
    await putTrail(org.member, `${org.name}/web`, { name: "new" });
    const { trails } = await overview(org);
    const { json } = await org.reader.get(`/trails/${org.name}/web/new`);
    const state = json.compliance_state.toLowerCase().replace("-", "_");
    expect(trails).toEqual({
      since: expect.closeTo(app.clock.now() - 86_400, 0),
      total: 1,
      compliant: 0,
      non_compliant: 0,
      incomplete: 0,
      [state]: 1,
    });
  });

  it("are not told to strangers, and tell nothing of other organizations", async () => {
    const [org, other] = [await company(), await app.org()];
    await reportServer(org, "a", ["w"]);
    expect((await other.admin.get(`/organizations/${org.name}/overview`)).status).toBe(403);
    const { environments: counted, running, attention } = await overview(other);
    expect([counted.total, running.artifacts, attention]).toEqual([0, 0, []]);
  });
});

describe("attention", () => {
  it("names the worst first, and since when, as the lists do", async () => {
    const org = await company();
    await attachPolicies(org, "a", "strict");
    await attachPolicies(org, "b", "strict");
    await reportServer(org, "a", ["w"]);
    const turned = (await getSnapshot(org, "a")).timestamp;
    await pass(30);
    await reportServer(org, "a", ["w", "x"]);
    await reportServer(org, "b", ["w", "x", "y"]);
    await reportServer(org, "c", ["w"]);
    await org.member.put(`/environments/${org.name}/c/silence`, { limit_seconds: 60 });
    await pass(120);
    const { attention } = await overview(org);
    const told = attention.map(
      ({ environment_name, reason, failing_artifacts }) =>
        `${environment_name} ${reason} ${failing_artifacts}`,
    );
    // The group has what runs in its members.
    expect(told).toEqual(["b non_compliant 3", "group non_compliant 3", "a non_compliant 2", "c stale 0"]);
    expect(attention.find(({ environment_name }) => environment_name === "a")?.since).toBe(turned);
    const { json } = await org.reader.get(`/environments/${org.name}/c/silence`);
    expect(attention.at(-1)?.since).toBe(json.stale_since);
    await expectCounted(org);
  });

  it("names no more than twenty", async () => {
    const org = await app.org();
    for (let at = 0; at < 22; at += 1) await createEnvironment(org, `e${at}`, { type: "server" });
    await app.deps.db.pool.query("update environments set state = false where org_id = $1", [org.id]);
    const { attention, environments: counted } = await overview(org);
    expect([attention.length, counted.non_compliant]).toEqual([20, 22]);
    expect(await listedNames(org.reader, org, "?state=NON-COMPLIANT")).toHaveLength(22);
  });
});
