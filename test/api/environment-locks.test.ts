import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { attachPolicies, createPolicy, policyText, putPolicy, samplePolicy } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";
import { untilWaiting, waitingForLocks } from "../support/locks.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** An organization with servers `a` and `b` that run something, `a` in `all`, and a policy. */
async function grouped(): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["a", "b"]) {
    await createEnvironment(org, name, { type: "server" });
    await reportServer(org, name, ["web"]);
  }
  await createEnvironment(org, "all", { type: "logical", included_environments: ["a"] });
  await createPolicy(org, "base");
  return org;
}

const both = ["a", "b"];

describe("a logical environment and its members", () => {
  it.each<[string, (org: TestOrg, path: string) => Promise<Answer>]>([
    ["PATCH of members", (org, path) => org.member.patch(`${path}/all`, { included_environments: both })],
    [
      "PUT of members",
      (org, path) =>
        org.member.put(path, {
          name: "all",
          type: "logical",
          description: "new",
          included_environments: both,
        }),
    ],
    ["joining", (org, path) => org.member.put(`${path}/all/join`, { physical_env_name: "b" })],
    ["attaching", (org, path) => org.member.post(`${path}/all/policies`, { policy_names: ["base"] })],
    [
      "allowing",
      (org) =>
        org.member.put(`/allowlists/${org.name}/all`, {
          artifact_name: "web",
          artifact_fingerprint: "ab".repeat(32),
          description: "",
        }),
    ],
  ])("are locked members first by %s, as reports do", async (_what, change) => {
    const org = await grouped();
    const report = await app.deps.db.pool.connect();
    const lock = "select from environments where org_id = $1 and name = any($2) for no key update nowait";
    try {
      await report.query("begin");
      await report.query(lock, [org.id, both]);
      const request = change(org, `/environments/${org.name}`);
      await untilWaiting(app, request);
      expect((await report.query(lock, [org.id, ["all"]])).rowCount).toBe(1);
      await report.query("commit");
      expect([200, 201]).toContain((await request).status);
    } finally {
      await report.query("rollback");
      report.release();
    }
  });

  it("lose nothing when members, policies and reports change at once", async () => {
    const org = await grouped();
    const path = `/environments/${org.name}`;
    await createEnvironment(org, "other", { type: "logical", included_environments: both });
    await attachPolicies(org, "other", "base");
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => [
        org.member.patch(`${path}/all`, { included_environments: index % 2 === 0 ? both : ["b"] }),
        org.member.post(`${path}/b/policies`, { policy_names: ["base"] }),
        putPolicy(
          org.member,
          org.name,
          { name: "base" },
          policyText(`provenance: {required: true} # ${index}`),
        ),
        reportServer(org, "a", [`web-${index}`]),
        reportServer(org, "b", [`db-${index}`]),
      ]).flat(),
    );
    expect(answers.filter((answer) => answer !== undefined && answer.status > 201)).toEqual([]);
    await org.member.put(`${path}/all/join`, { physical_env_name: "a" });
    const names = async (name: string): Promise<string[]> =>
      (await getSnapshot(org, name)).artifacts
        .filter(({ annotation }: { annotation: { now: number } }) => annotation.now > 0)
        .map((artifact: { name: string }) => artifact.name);
    const running = [...(await names("a")), ...(await names("b"))].toSorted();
    expect((await names("all")).toSorted()).toEqual(running);
    expect((await names("other")).toSorted()).toEqual(running);
  });
});

describe("members and policies that change together", () => {
  it.each<[string, (org: TestOrg, path: string) => Promise<Answer>]>([
    [
      "PUT",
      (org, path) =>
        org.member.put(path, {
          name: "all",
          type: "logical",
          description: "",
          included_environments: both,
          policies: ["base"],
        }),
    ],
    [
      "PATCH",
      (org, path) => org.member.patch(`${path}/all`, { included_environments: both, policies: ["base"] }),
    ],
  ])("make one snapshot, by %s", async (_method, change) => {
    const org = await grouped();
    const before = await getSnapshot(org, "all");
    expect((await change(org, `/environments/${org.name}`)).status).toBeLessThan(300);
    const after = await getSnapshot(org, "all");
    expect(after.index).toBe(before.index + 1);
    expect(after.applied_policies).toHaveLength(1);
  });
});

/** Begins two writes of an organization, neither of which ends before both wait: for each other, or for the counter that they take last. */
async function overlapping(org: TestOrg, writes: (() => Promise<Answer>)[]): Promise<void> {
  const { pool } = app.deps.db;
  const counter = await pool.connect();
  try {
    await counter.query("begin");
    await counter.query("select from org_counters where org_id = $1 for no key update", [org.id]);
    const answers: Promise<Answer>[] = [];
    for (const write of writes) {
      answers.push(write());
      await expect
        .poll(async () => (await pool.query(waitingForLocks())).rowCount, { timeout: 10_000, interval: 10 })
        .toBe(answers.length);
    }
    await counter.query("commit");
    for (const { status, text } of await Promise.all(answers))
      expect([status, text]).toEqual([expect.toSatisfy((one: number) => [200, 201].includes(one)), text]);
  } finally {
    await counter.query("rollback");
    counter.release();
  }
}

describe.each([
  ["before", false],
  ["after", true],
])("an environment that comes out of the archive just %s the end of something else", (_when, isLast) => {
  const inOrder = (unarchive: () => Promise<Answer>, other: () => Promise<Answer>) =>
    isLast ? [other, unarchive] : [unarchive, other];

  it("is judged by the version that its policy got", async () => {
    const org = await grouped();
    await putPolicy(org.member, org.name, { name: "base" }, policyText("provenance: {required: false}"));
    await attachPolicies(org, "a", "base");
    const path = `/environments/${org.name}/a`;
    await org.member.put(`${path}/archive`);
    const unarchive = () => org.member.put(`${path}/unarchive`);
    await overlapping(
      org,
      inOrder(unarchive, () => putPolicy(org.member, org.name, { name: "base" }, samplePolicy)),
    );
    await runPendingJobs(app);
    const { compliant, applied_policies } = await getSnapshot(org, "a");
    expect([compliant, applied_policies[0].version]).toEqual([false, 3]);
  });

  it("has what was reported to its members", async () => {
    const org = await grouped();
    const path = `/environments/${org.name}/all`;
    await org.member.put(`${path}/archive`);
    const unarchive = () => org.member.put(`${path}/unarchive`);
    await overlapping(
      org,
      inOrder(unarchive, () => reportServer(org, "a", ["db"])),
    );
    const running = (await getSnapshot(org, "all")).artifacts.filter(
      ({ annotation }: { annotation: { now: number } }) => annotation.now > 0,
    );
    expect(running.map(({ name }: { name: string }) => name)).toEqual(["db"]);
  });
});
