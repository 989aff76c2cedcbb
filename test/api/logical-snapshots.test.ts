import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { annotations, getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** An organization with servers `a` and `b`, and `all` with these members. */
async function grouped(members: string[]): Promise<TestOrg> {
  const org = await app.org();
  for (const name of ["a", "b"]) await createEnvironment(org, name, { type: "server" });
  await createEnvironment(org, "all", { type: "logical", included_environments: members });
  return org;
}

async function history(org: TestOrg, name: string): Promise<string[][]> {
  const list = (await org.reader.get(`/snapshots/${org.name}/${name}?reverse=true&per_page=100`)).json;
  const all: string[][] = [];
  for (const { index } of list) all.push(annotations(await getSnapshot(org, name, String(index))));
  return all;
}

describe("a logical environment's timeline (R5)", () => {
  it("has an entry for each snapshot of a member", async () => {
    const org = await grouped(["a", "b"]);
    await reportServer(org, "a", ["web"]);
    await reportServer(org, "b", ["web", "db"]);
    await reportServer(org, "b", ["web", "db"]);
    await reportServer(org, "a", []);
    await reportServer(org, "b", []);
    expect(await history(org, "all")).toEqual([
      ["web: started-unknown 0>1"],
      ["db: started-unknown 0>1", "web: unchanged 1>2"],
      ["db: unchanged 1>1", "web: unchanged 2>1"],
      ["db: exited 1>0", "web: exited 1>0"],
    ]);
    const snapshot = await getSnapshot(org, "all");
    expect([snapshot.type, snapshot.timestamp]).toEqual(["logical", (await getSnapshot(org, "b")).timestamp]);
  });

  it("has an entry for each change of members", async () => {
    const org = await grouped([]);
    await reportServer(org, "a", ["web"]);
    await reportServer(org, "b", ["db"]);
    expect(await history(org, "all")).toEqual([]);
    const path = `/environments/${org.name}`;
    await org.member.put(`${path}/all/join`, { physical_env_name: "a" });
    await org.member.put(`${path}/all/join`, { physical_env_name: "a" });
    await org.member.patch(`${path}/all`, { included_environments: ["b", "a"] });
    await org.member.put(`${path}/a/archive`);
    expect(await history(org, "all")).toEqual([
      ["web: started-unknown 0>1"],
      ["db: started-unknown 0>1", "web: unchanged 1>1"],
      ["db: unchanged 1>1", "web: exited 1>0"],
    ]);
  });

  it("is compared and judged by its own policies like any other", async () => {
    const org = await grouped(["a", "b"]);
    await reportServer(org, "a", ["web"]);
    await reportServer(org, "b", ["db"]);
    const diff = await org.reader.get(`/env-diff/${org.name}?snappish1=all%231&snappish2=all`);
    expect(diff.json).toMatchObject({
      snappish1: { snapshot_id: "all#1", artifacts: [] },
      snappish2: { snapshot_id: "all#2", artifacts: [{ name: "db" }] },
      "not-changed": { artifacts: [{ name: "web" }] },
    });
    const fingerprint = fingerprintOf("web");
    await org.member.post(`/artifacts/${org.name}/web-ci`, artifactBody({ fingerprint }));
    const scanned = policyText("attestations:", "  - name: scan", "    type: generic");
    await createPolicy(org, "scanned", scanned);
    await createPolicy(org, "known");
    await attachPolicies(org, "a", "known");
    await attachPolicies(org, "all", "scanned");
    const verdict = async (name: string) =>
      (await org.reader.get(`/asserts/${org.name}/fingerprint/${fingerprint}?environment_name=${name}`)).json;
    expect(await verdict("a")).toMatchObject({ compliant: true, environment: "a" });
    expect(await verdict("all")).toMatchObject({
      compliant: false,
      environment: "all",
      policy_evaluations: [{ policy_name: "scanned" }],
    });
  });

  it("shows the flows of what runs in it", async () => {
    const org = await grouped(["a"]);
    const fingerprint = fingerprintOf("web");
    await org.member.post(`/artifacts/${org.name}/web-ci`, {
      fingerprint,
      filename: "web",
      build_url: "https://ci.example.com/1",
      commit_url: "https://git.example.com/1",
    });
    await reportServer(org, "a", ["web"]);
    expect((await getSnapshot(org, "all")).artifacts[0].flow_name).toBe("web-ci");
  });

  it("counts every snapshot of members that report at once", async () => {
    const org = await grouped(["a", "b"]);
    const reports = Array.from({ length: 20 }, (_, at) =>
      reportServer(org, at % 2 === 0 ? "a" : "b", [`artifact-${at}`]),
    );
    const joins = Array.from({ length: 4 }, (_, at) =>
      org.member.patch(`/environments/${org.name}/all`, {
        included_environments: at % 2 === 0 ? ["a", "b"] : ["b", "a"],
      }),
    );
    const answers = await Promise.all([...reports, ...joins]);
    expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
    const running = new Set<string>();
    for (const name of ["a", "b"])
      for (const artifact of (await getSnapshot(org, name)).artifacts)
        if (artifact.annotation.now > 0) running.add(artifact.name);
    const last = await getSnapshot(org, "all");
    const shown = last.artifacts.filter(
      ({ annotation }: { annotation: { now: number } }) => annotation.now > 0,
    );
    expect(new Set(shown.map(({ name }: { name: string }) => name))).toEqual(running);
    expect(last.index).toBeGreaterThanOrEqual(20);
  });
});
