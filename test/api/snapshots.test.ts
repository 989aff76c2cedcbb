import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Executor } from "../../src/db/connect.ts";
import { resolveSnapshot } from "../../src/modules/runtime/snapshots/read/find-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";
import { putTrail, sampleTemplate } from "../support/flows.ts";
import { annotations, getSnapshot, reportServer } from "../support/snapshots.ts";

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

async function environment(org: TestOrg, name: string) {
  return (await org.reader.get(`/environments/${org.name}/${name}`)).json;
}

describe("from reports to snapshots", () => {
  it("makes a snapshot when something starts or exits, and none when nothing changed", async () => {
    const org = await orgWith("prod");
    const statuses: number[] = [];
    for (const running of [["web", "db"], ["db", "web"], ["db"], ["db"], []])
      statuses.push((await reportServer(org, "prod", running)).status);
    expect(statuses).toEqual([201, 200, 201, 200, 201]);
    expect(annotations(await getSnapshot(org, "prod", "1"))).toEqual([
      "db: started-unknown 0>1",
      "web: started-unknown 0>1",
    ]);
    expect(annotations(await getSnapshot(org, "prod", "2"))).toEqual([
      "db: unchanged 1>1",
      "web: exited 1>0",
    ]);
    const last = await getSnapshot(org, "prod");
    expect(annotations(last)).toEqual(["db: exited 1>0"]);
    expect([last.index, last.is_latest, last.next_snapshot_timestamp]).toEqual([3, true, null]);
    expect(last.artifact_compliance_count).toEqual({ true: 0, false: 0, null: 0 });
    expect((await auditedResources(org, app)).slice(1)).toEqual([
      "server_report snapshot prod#1",
      "server_report snapshot prod#2",
      "server_report snapshot prod#3",
    ]);
  });

  it("finds the snapshot in force at a moment while others are made", async () => {
    const org = await orgWith("prod");
    let made = 0;
    const report = () => reportServer(org, "prod", [`artifact-${(made += 1)}`]);
    await report();
    const { db, clock } = app.deps;
    /** Reads as the database does, with a new snapshot after each statement. */
    const first: Executor["first"] = async (query) => {
      const row = await db.first(query);
      await report();
      return row;
    };
    const one: Executor["one"] = async (query) => {
      const row = await db.one(query);
      await report();
      return row;
    };
    const found = await resolveSnapshot(
      { db: { ...db, first, one }, clock },
      { id: org.id, name: org.name },
      "prod",
      "@{2099-01-01T00:00:00}",
    );
    expect(found.index).toBe(found.count);
  });

  it("leaves the artifacts of a large snapshot out when asked to, and says how many there are", async () => {
    const org = await orgWith("prod");
    for (const running of [["web", "db", "cache"], ["db"]]) await reportServer(org, "prod", running);
    const read = async (query: string): Promise<Record<string, unknown>> =>
      (await org.reader.get(`/snapshots/${org.name}/prod/-1?${query}`)).json;
    const whole = await read("rules=once");
    expect(await read("rules=once&max_artifacts=3")).toEqual(whole);
    // What has exited in it counts.
    expect(await read("rules=once&max_artifacts=2")).toEqual({
      ...whole,
      artifacts: [],
      artifacts_left_out: 3,
    });
    expect(await read("max_artifacts=0")).toMatchObject({ artifacts: [], artifacts_left_out: 3, index: 2 });
    expect((await org.reader.get(`/snapshots/${org.name}/prod/-1?max_artifacts=-1`)).status).toBe(400);
  });

  it("shows what is known of an artifact that no flow knows", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", [{ name: "web", fingerprint: fingerprintOf("web"), started: [7, 5] }]);
    const snapshot = await getSnapshot(org, "prod");
    expect(snapshot).toEqual({
      index: 1,
      is_latest: true,
      next_snapshot_timestamp: null,
      artifact_compliance_count: { true: 0, false: 0, null: 1 },
      timestamp: expect.any(Number),
      type: "server",
      compliant: false,
      html_url: `http://waybill.test/${org.name}/environments/prod/snapshots/1`,
      artifacts: [
        {
          name: "web",
          compliant: null,
          deployments: [],
          policy_decisions: [],
          reasons_for_incompliance: [],
          fingerprint: fingerprintOf("web"),
          creationTimestamp: [5, 7],
          pods: null,
          annotation: { type: "started-unknown", was: 0, now: 2 },
          flow_name: null,
          git_commit: null,
          commit_url: null,
          html_url: null,
          flow_html_url: null,
          deployment_diff: null,
          commit_lead_time: null,
          flows: [],
        },
      ],
      applied_policies: [],
    });
  });

  it("stores numbers of instances only with a snapshot that has another reason", async () => {
    const org = await orgWith("prod");
    const web = (started: number[]) => ({ name: "web", fingerprint: fingerprintOf("web"), started });
    await reportServer(org, "prod", [web([1])]);
    expect((await reportServer(org, "prod", [web([1, 2, 3])])).status).toBe(200);
    expect((await getSnapshot(org, "prod")).artifacts[0].creationTimestamp).toEqual([1]);
    expect((await reportServer(org, "prod", [web([4, 5]), "db"])).status).toBe(201);
    const snapshot = await getSnapshot(org, "prod");
    expect(annotations(snapshot)).toEqual(["db: started-unknown 0>1", "web: unchanged 1>2"]);
    expect((await getSnapshot(org, "prod", "1")).artifacts[0].creationTimestamp).toEqual([1]);
    await reportServer(org, "prod", [web([4, 5])]);
    expect(annotations(await getSnapshot(org, "prod"))).toEqual(["web: unchanged 2>2", "db: exited 1>0"]);
  });

  it("keeps state and times of the environment", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", ["web"]);
    const first = await environment(org, "prod");
    const { timestamp } = await getSnapshot(org, "prod");
    expect([first.state, first.last_changed_at, first.last_reported_at]).toEqual([
      null,
      timestamp,
      timestamp,
    ]);
    app.clock.advance(10);
    await reportServer(org, "prod", ["web"]);
    const second = await environment(org, "prod");
    expect(second.last_changed_at).toBe(first.last_changed_at);
    expect(second.last_reported_at).toBeGreaterThan(first.last_reported_at + 9);
    expect(second.last_modified_at).toBe(second.last_reported_at);
  });

  it("makes a first snapshot of an environment where nothing runs", async () => {
    const org = await orgWith("prod");
    expect((await reportServer(org, "prod", [])).status).toBe(201);
    expect((await reportServer(org, "prod", [])).status).toBe(200);
    expect((await getSnapshot(org, "prod")).artifacts).toEqual([]);
  });
});

describe("what flows know", () => {
  const web = fingerprintOf("web 1");

  async function build(org: TestOrg, version: string, more: Record<string, unknown> = {}): Promise<void> {
    const git_commit = commitOf(version);
    await org.member.post(
      `/artifacts/${org.name}/web-ci`,
      artifactBody({
        fingerprint: fingerprintOf(`web ${version}`),
        filename: `web:${version}`,
        trail_name: `run-${version}`,
        template_reference_name: "cli",
        git_commit,
        git_commit_info: commitInfo(git_commit),
        commit_url: `https://git.example.com/shop/web/commit/${git_commit}`,
        ...more,
      }),
    );
  }

  it("is shown with links, lead time and what came before", async () => {
    const org = await orgWith("prod");
    await build(org, "1");
    await reportServer(org, "prod", [{ name: "web", fingerprint: web, started: [1_786_000_100] }]);
    const before = await getSnapshot(org, "prod");
    const commit = commitOf("1");
    const base = `http://waybill.test/${org.name}/flows/web-ci`;
    expect(before.artifacts[0]).toMatchObject({
      flow_name: "web-ci",
      git_commit: commit,
      flow_html_url: base,
      html_url: expect.stringMatching(new RegExp(`^${base}/artifacts/${web}\\?artifact_id=[0-9a-f-]{32}$`)),
      commit_lead_time: 100,
      deployment_diff: null,
      flows: [
        {
          flow_name: "web-ci",
          trail_name: "run-1",
          template_reference_name: "cli",
          git_commit: commit,
          git_commit_info: {
            sha1: commit,
            message: "rework",
            author: "Ann Lee <ann@acme.test>",
            branch: "main",
          },
          artifact_compliance_in_flow: true,
        },
      ],
    });
    await build(org, "2");
    await reportServer(org, "prod", [{ name: "web", fingerprint: fingerprintOf("web 2") }]);
    const after = await getSnapshot(org, "prod");
    expect(after.artifacts[0].deployment_diff).toEqual({
      diff_url: `https://git.example.com/shop/web/compare/${commit}...${commitOf("2")}`,
      previous_git_commit: commit,
      previous_fingerprint: web,
      previous_artifact_name: "web",
      previous_artifact_compliance_state: "COMPLIANT",
      previous_running: false,
      previous_git_commit_url: `https://git.example.com/shop/web/commit/${commit}`,
      previous_trail_name: "run-1",
      previous_template_reference_name: "cli",
    });
    expect(after.artifacts[0].flows[0].deployment_diff).toEqual(after.artifacts[0].deployment_diff);
  });

  it("makes a snapshot when a flow comes to know what runs, or its verdict changes (R6)", async () => {
    const org = await orgWith("prod");
    const running = [{ name: "web", fingerprint: web }];
    await reportServer(org, "prod", running);
    await putTrail(org.member, `${org.name}/web-ci`, { name: "run-1" }, sampleTemplate);
    await build(org, "1");
    expect((await reportServer(org, "prod", running)).status).toBe(201);
    expect(annotations(await getSnapshot(org, "prod"))).toEqual(["web: updated-provenance 1>1"]);
    expect((await getSnapshot(org, "prod")).artifacts[0].flows[0].artifact_compliance_in_flow).toBe(false);
    const place = { org: org.name, flow: "web-ci", trail: "run-1" };
    await attest(org.member, place, "junit", { attestation_name: "bar", junit_results: [] });
    expect((await reportServer(org, "prod", running)).status).toBe(200);
    await attest(org.member, place, "generic", {
      attestation_name: "foo",
      artifact_fingerprint: web,
      is_compliant: true,
    });
    expect((await reportServer(org, "prod", running)).status).toBe(201);
    expect((await reportServer(org, "prod", running)).status).toBe(200);
    const snapshot = await getSnapshot(org, "prod");
    expect(annotations(snapshot)).toEqual(["web: changed 1>1"]);
    expect(snapshot.artifacts[0].flows[0].artifact_compliance_in_flow).toBe(true);
  });

  it("shows the flow that knew it first first", async () => {
    const org = await orgWith("prod");
    for (const flow of ["z-build", "a-promote"])
      await org.member.post(`/artifacts/${org.name}/${flow}`, artifactBody({ fingerprint: web }));
    await reportServer(org, "prod", [{ name: "web", fingerprint: web }]);
    const [artifact] = (await getSnapshot(org, "prod")).artifacts;
    expect(artifact.flow_name).toBe("z-build");
    expect(artifact.flows.map(({ flow_name }: { flow_name: string }) => flow_name)).toEqual([
      "z-build",
      "a-promote",
    ]);
  });
});

describe("GET /snapshots/{org}/{env_name}/{snapshot_expression}", () => {
  it("understands every form", async () => {
    const org = await orgWith("prod");
    for (const running of [["a"], ["b"], ["c"]]) {
      await reportServer(org, "prod", running);
      app.clock.advance(3600);
    }
    const second = (await getSnapshot(org, "prod", "2")).timestamp;
    const at = new Date(Math.ceil(second) * 1000).toISOString().slice(0, 19);
    const forms = { "1": 1, "#2": 2, "-1": 3, "-3": 1, "~0": 3, "~2": 1, "@{now}": 3, "@{1.hours.ago}": 3 };
    const more = { "@{2.hours.ago}": 2, "@{3.hours.ago}": 1, [`@{${at}}`]: 2 };
    for (const [form, index] of Object.entries({ ...forms, ...more }))
      expect([form, (await getSnapshot(org, "prod", form)).index]).toEqual([form, index]);
    const middle = await getSnapshot(org, "prod", "2");
    const last = await getSnapshot(org, "prod", "3");
    expect([middle.is_latest, middle.next_snapshot_timestamp]).toEqual([false, last.timestamp]);
  });

  it("says what is wrong in the public words", async () => {
    const org = await orgWith("prod", "idle");
    for (const running of [["a"], ["b"], ["c"]]) await reportServer(org, "prod", running);
    const text = (environment: string, asked: string, resolved: number, count: number) =>
      `Org: '${org.name}'. Snapshot '${environment}${asked}' resolves to '${environment}#${resolved}'. ` +
      `len(snapshots) == ${count}. Indexes are 1-based`;
    const cases: [string, string, number, string][] = [
      ["idle", "-1", 404, text("idle", "#-1", 0, 0)],
      ["prod", "#23", 404, text("prod", "#23", 23, 3)],
      ["prod", "~7", 404, text("prod", "#-8", -4, 3)],
      ["prod", "0", 404, text("prod", "#0", 0, 3)],
      ["prod", "@{1.weeks.ago}", 404, text("prod", "@{1.weeks.ago}", 0, 3)],
      ["prod", "#abc", 400, "Bad snappish #abc"],
      ["prod", "@{xyz}", 400, "Bad snappish @{xyz}"],
      ["nope", "1", 404, `Environment named 'nope' does not exist for organization '${org.name}'`],
    ];
    for (const [name, expression, status, message] of cases) {
      const answer = await org.reader.get(`/snapshots/${org.name}/${name}/${encodeURIComponent(expression)}`);
      expect([answer.status, answer.json]).toEqual([status, { message }]);
    }
  });

  it("keeps what happens to be in names and messages as it is", async () => {
    const org = await orgWith("prod");
    const name = 'a"\\\u0001\u0002 \\u0001 $& ü';
    await reportServer(org, "prod", [{ name, fingerprint: fingerprintOf("x") }]);
    expect((await getSnapshot(org, "prod")).artifacts[0].name).toBe(name);
  });
});

describe("GET /snapshots/{org}/{env_name}", () => {
  it("lists snapshots by page, interval and direction", async () => {
    const org = await orgWith("prod", "idle");
    for (const running of [["a"], ["b"], ["c"], ["d"]]) {
      await reportServer(org, "prod", running);
      app.clock.advance(100);
    }
    const list = async (query: string): Promise<number[]> => {
      const answer = await org.reader.get(`/snapshots/${org.name}/prod?${query}`);
      return answer.json.map(({ index }: { index: number }) => index);
    };
    expect(await list("")).toEqual([4, 3, 2, 1]);
    expect(await list("page=1&per_page=15&interval=&reverse=true")).toEqual([1, 2, 3, 4]);
    expect(await list("page=2&per_page=3&reverse=false")).toEqual([1]);
    expect(await list("page=9&per_page=3")).toEqual([]);
    expect(await list("interval=2..NOW")).toEqual([4, 3, 2]);
    expect(await list("interval=~2..-2")).toEqual([3, 2]);
    expect(await list("interval=NOW")).toEqual([4]);
    const rows = (await org.reader.get(`/snapshots/${org.name}/prod`)).json;
    expect(rows[0]).toMatchObject({ index: 4, to: 0, compliant: false });
    expect(rows[0].duration).toBeGreaterThanOrEqual(100);
    expect(rows[1].to).toBe(rows[0].from);
    expect(rows[1].duration).toBeCloseTo(rows[1].to - rows[1].from, 5);
    expect((await org.reader.get(`/snapshots/${org.name}/idle`)).json).toEqual([]);
    for (const query of ["interval=x..3", "interval=1..2..3", "reverse=", "page=0", "per_page=0"])
      expect([query, (await org.reader.get(`/snapshots/${org.name}/prod?${query}`)).status]).toEqual([
        query,
        400,
      ]);
    expect((await org.reader.get(`/snapshots/${org.name}/nope`)).status).toBe(404);
  });
});
