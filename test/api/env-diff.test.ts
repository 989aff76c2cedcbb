import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf, fingerprintOf } from "../support/artifacts.ts";
import { buildWeb, runningWeb, webOf } from "../support/builds-of-web.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";

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

function diff(org: TestOrg, snappish1: string, snappish2: string) {
  return org.reader.get(`/env-diff/${org.name}?${new URLSearchParams({ snappish1, snappish2 }).toString()}`);
}

const db = fingerprintOf("db");

describe("GET /env-diff/{org}", () => {
  it("tells what is only in one snapshot, what changed and what did not; what has exited is in none", async () => {
    const org = await orgWith("prod");
    await buildWeb(org, "1");
    await buildWeb(org, "2");
    const started = 1_780_000_000;
    await reportServer(org, "prod", [
      runningWeb("1"),
      "cache",
      { name: "db", fingerprint: db, started: [1, 2] },
    ]);
    await reportServer(org, "prod", [
      runningWeb("2"),
      "cache",
      { name: "db:new", fingerprint: db, started: [3] },
    ]);
    const answer = await diff(org, "prod#1", "prod");
    expect(answer.status).toBe(200);
    const web = (version: string) => ({
      fingerprint: webOf(version),
      name: "web",
      most_recent_timestamp: started,
      flow: "web-ci",
      commit_url: `https://git.example.com/shop/web/commit/${commitOf(version)}`,
      instance_count: 1,
    });
    const cache = { fingerprint: fingerprintOf("cache"), name: "cache", flow: "", instance_count: 1 };
    expect(answer.json).toEqual({
      snappish1: { snapshot_id: "prod#1", artifacts: [web("1")] },
      snappish2: { snapshot_id: "prod#2", artifacts: [web("2")] },
      changed: {
        artifacts: [
          {
            fingerprint: db,
            name: "db:new",
            most_recent_timestamp: 3,
            flow: "",
            s1_instance_count: 2,
            s2_instance_count: 1,
          },
        ],
      },
      "not-changed": { artifacts: [{ ...cache, most_recent_timestamp: started }] },
    });
  });

  it("compares environments, names pods, and knows no digest but its name", async () => {
    const org = await orgWith("prod");
    await createEnvironment(org, "lab");
    const pod = (podName: string) => ({
      podName,
      namespace: "shop",
      digests: { db },
      creationTimestamp: 5,
    });
    await reportServer(org, "prod", ["web"]);
    await org.snapshotter.put(`/environments/${org.name}/lab/report/K8S`, {
      artifacts: [pod("b"), pod("a")],
    });
    const { json } = await diff(org, "prod", "lab~0");
    expect(json.snappish1.artifacts.map(({ name }: { name: string }) => name)).toEqual(["web"]);
    expect(json.snappish2).toEqual({
      snapshot_id: "lab#1",
      artifacts: [
        {
          fingerprint: db,
          name: "db",
          most_recent_timestamp: 5,
          flow: "",
          instance_count: 2,
          pods: ["a", "b"],
        },
      ],
    });
  });

  it("finds nothing different between a snapshot and itself", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", ["web", "db"]);
    const { json } = await diff(org, "prod", "prod@{now}");
    expect(json["not-changed"].artifacts).toHaveLength(2);
    expect([json.snappish1.artifacts, json.snappish2.artifacts, json.changed.artifacts]).toEqual([
      [],
      [],
      [],
    ]);
  });

  it("says what is wrong, with the first operand first", async () => {
    const org = await orgWith("prod", "idle");
    await reportServer(org, "prod", ["web"]);
    const missing = (name: string) =>
      `Environment named '${name}' does not exist for organization '${org.name}'`;
    const outside = (asked: string, resolved: string, count: number) =>
      `Org: '${org.name}'. Snapshot '${asked}' resolves to '${resolved}'. len(snapshots) == ${count}. ` +
      "Indexes are 1-based";
    const cases: [string, string, number, string][] = [
      ["idle", "prod", 404, outside("idle", "idle#0", 0)],
      ["prod#23", "nowhere", 404, outside("prod#23", "prod#23", 1)],
      ["prod", "prod~4", 404, outside("prod#-5", "prod#-3", 1)],
      ["nowhere", "prod#x", 404, missing("nowhere")],
      ["prod", "nowhere#1", 404, missing("nowhere")],
      ["prod#x", "nowhere", 400, "Bad snappish prod#x"],
      ["prod", "", 400, "Bad snappish "],
      ["prod", "prod@{soon}", 400, "Bad snappish prod@{soon}"],
    ];
    for (const [first, second, status, message] of cases) {
      const answer = await diff(org, first, second);
      expect([answer.status, answer.json]).toEqual([status, { message }]);
    }
  });

  it("needs both", async () => {
    const org = await orgWith("prod");
    const answer = await org.reader.get(`/env-diff/${org.name}?snappish1=prod`);
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        message: "Input payload validation failed",
        errors: { "query.snappish2": "Field required [input: None]" },
      },
    ]);
  });
});
