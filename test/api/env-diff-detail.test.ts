import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf, fingerprintOf } from "../support/artifacts.ts";
import { buildWeb, runningWeb, webOf } from "../support/builds-of-web.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, putPolicy, samplePolicy } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function orgWith(...environments: string[]): Promise<TestOrg> {
  const org = await app.org();
  for (const name of environments) await createEnvironment(org, name, { type: "server" });
  return org;
}

function ask(org: TestOrg, query: Record<string, string>) {
  return org.reader.get(`/env-diff/${org.name}?${new URLSearchParams(query).toString()}`);
}

async function compare(org: TestOrg, snappish1: string, snappish2: string) {
  const answer = await ask(org, { snappish1, snappish2, include: "detail" });
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

describe("GET /env-diff/{org}?include=detail", () => {
  it("pairs an upgrade, with commits, verdicts, pages and the policies that differ", async () => {
    const org = await orgWith("prod");
    await createPolicy(org, "proven");
    await buildWeb(org, "1");
    await buildWeb(org, "2");
    await reportServer(org, "prod", [runningWeb("1", "web:1"), "cache"]);
    await attachPolicies(org, "prod", "proven");
    await putPolicy(org.member, org.name, { name: "proven" }, `${samplePolicy}# more\n`);
    await createPolicy(org, "strict");
    await attachPolicies(org, "prod", "strict");
    await reportServer(org, "prod", [runningWeb("2", "web:2"), "cache"]);
    const [was, is] = [await getSnapshot(org, "prod", "1"), await getSnapshot(org, "prod")];
    const shown = is.artifacts.find(({ fingerprint }: { fingerprint: string }) => fingerprint === webOf("2"));
    const json = await compare(org, "prod#1", "prod");

    const head = { environment_name: "prod", artifacts: [] };
    expect(json.snappish1).toEqual({
      ...head,
      snapshot_id: "prod#1",
      index: 1,
      timestamp: was.timestamp,
      // Without policies nobody knows.
      compliant: null,
      html_url: was.html_url,
    });
    expect(json.snappish2).toEqual({
      ...head,
      snapshot_id: `prod#${is.index}`,
      index: is.index,
      timestamp: is.timestamp,
      compliant: false,
      html_url: is.html_url,
    });
    const web = (version: string) => ({
      fingerprint: webOf(version),
      name: `web:${version}`,
      most_recent_timestamp: 1_780_000_000,
      flow: "web-ci",
      trail_name: `run-${version}`,
      template_reference_name: "cli",
      git_commit: commitOf(version),
      commit_url: `https://git.example.com/shop/web/commit/${commitOf(version)}`,
      instance_count: 1,
      html_url: expect.stringContaining(`/${org.name}/flows/web-ci/artifacts/${webOf(version)}?artifact_id=`),
    });
    expect(json.paired).toEqual([
      {
        before: { ...web("1"), compliant: null },
        after: { ...web("2"), compliant: true, html_url: shown.html_url },
        diff_url: shown.deployment_diff.diff_url,
        commit_lead_time: shown.commit_lead_time,
      },
    ]);
    expect(shown.deployment_diff.previous_fingerprint).toBe(webOf("1"));
    expect(json["not-changed"].artifacts).toEqual([
      {
        fingerprint: fingerprintOf("cache"),
        name: "cache",
        most_recent_timestamp: 1_780_000_000,
        flow: "",
        instance_count: 1,
        compliant: false,
        s1_compliant: null,
        trail_name: null,
        template_reference_name: null,
        git_commit: null,
        html_url: null,
      },
    ]);
    expect(json.policies).toEqual([
      { policy_name: "proven", before_version: null, after_version: 2 },
      { policy_name: "strict", before_version: null, after_version: 1 },
    ]);
  });

  it("pairs between environments by flow and template name, and by name without tag", async () => {
    const org = await orgWith("stage", "prod");
    await buildWeb(org, "1");
    await buildWeb(org, "2");
    await reportServer(org, "stage", [runningWeb("2", "registry.test/web:2"), "nginx:1.29", "new"]);
    await reportServer(org, "prod", [runningWeb("1", "mirror.test/w:1"), "nginx:1.27", "gone"]);
    const json = await compare(org, "prod", "stage");
    const names = (artifacts: { name: string }[]) => artifacts.map(({ name }) => name);
    expect(
      json.paired.map(({ before, after }: Record<"before" | "after", { name: string }>) =>
        names([before, after]),
      ),
    ).toEqual([
      ["nginx:1.27", "nginx:1.29"],
      ["mirror.test/w:1", "registry.test/web:2"],
    ]);
    expect(json.paired[1].diff_url).toBe(
      `https://git.example.com/shop/web/compare/${commitOf("1")}...${commitOf("2")}`,
    );
    expect([names(json.snappish1.artifacts), names(json.snappish2.artifacts)]).toEqual([["gone"], ["new"]]);
    expect(json.policies).toEqual([]);
  });

  it("counts instances of what is in both", async () => {
    const org = await orgWith("prod");
    const db = fingerprintOf("db");
    await reportServer(org, "prod", [{ name: "db", fingerprint: db, started: [1, 2] }]);
    await reportServer(org, "prod", [{ name: "db:new", fingerprint: db, started: [3] }]);
    const json = await compare(org, "prod#1", "prod");
    expect(json.changed.artifacts).toMatchObject([
      { name: "db:new", s1_instance_count: 2, s2_instance_count: 1, s1_compliant: null, compliant: null },
    ]);
    expect(json.paired).toEqual([]);
  });

  it("shows nothing more when it is not asked for, and refuses what it does not know", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", ["web:1"]);
    await reportServer(org, "prod", ["web:2"]);
    const plain = await ask(org, { snappish1: "prod#1", snappish2: "prod" });
    const item = (name: string) => ({
      fingerprint: fingerprintOf(name),
      name,
      most_recent_timestamp: 1_780_000_000,
      flow: "",
      instance_count: 1,
    });
    expect(plain.text).toBe(
      JSON.stringify({
        snappish1: { snapshot_id: "prod#1", artifacts: [item("web:1")] },
        snappish2: { snapshot_id: "prod#2", artifacts: [item("web:2")] },
        changed: { artifacts: [] },
        "not-changed": { artifacts: [] },
      }),
    );
    const refused = await ask(org, { snappish1: "prod#1", snappish2: "prod", include: "all" });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      { "query.include": "Input should be 'detail' [input: all]" },
    ]);
    const stranger = await app.org();
    const foreign = await stranger.reader.get(
      `/env-diff/${org.name}?snappish1=prod&snappish2=prod&include=detail`,
    );
    expect(foreign.status).toBe(403);
  });
});
