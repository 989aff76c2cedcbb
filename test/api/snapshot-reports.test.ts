import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { countRows } from "../../src/db/count-rows.ts";
import { sql } from "../../src/db/sql.ts";
import { environmentTypes } from "../../src/domain/environments.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { annotations, getSnapshot, reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const digests = { "web:1": fingerprintOf("web") };
const creationTimestamp = 1_780_000_000;
const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-7d9f", uid: "0b1e", controller: true };

/** One item of each kind, and what it adds to the artifact. */
const kinds: Record<string, { item: Record<string, unknown>; shown: Record<string, unknown> }> = {
  K8S: {
    item: { podName: "web-1", namespace: "shop", owners: [{ ...owner, extra: "kept" }] },
    shown: {
      pods: { "web-1": { namespace: "shop", creationTimestamp, owners: [{ ...owner, extra: "kept" }] } },
    },
  },
  ECS: {
    item: { taskArn: "arn:1", service_name: "web" },
    shown: { pods: null, ecs_context: { task_arn: "arn:1", cluster_name: null, service_name: "web" } },
  },
  S3: { item: {}, shown: { pods: null } },
  lambda: { item: {}, shown: { pods: null } },
  server: { item: {}, shown: { pods: null } },
  docker: { item: {}, shown: { pods: null } },
  "azure-apps": {
    item: { app_name: "shop", app_kind: "functionapp", digests_source: "acr" },
    shown: {
      azure_apps_context: { app_name: "shop", app_kind: "functionapp", digests_source: "acr" },
    },
  },
  "cloud-run": {
    item: { kind: "service", serviceName: "web", revisionName: "web-1" },
    shown: {
      cloud_run_context: {
        kind: "service",
        service_name: "web",
        revision_name: "web-1",
        job_name: null,
      },
    },
  },
};

describe("PUT /environments/{org}/{env_name}/report/{kind}", () => {
  it.each(Object.entries(kinds))("takes reports of %s", async (kind, { item, shown }) => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: kind });
    const path = `/environments/${org.name}/prod/report/${kind}`;
    const artifacts = [{ ...item, digests, creationTimestamp }];
    const first = await org.snapshotter.put(path, { artifacts });
    expect([first.status, first.json]).toEqual([201, "OK"]);
    const second = await org.snapshotter.put(path, { type: kind, artifacts });
    expect([second.status, second.json]).toEqual([200, "OK"]);
    const snapshot = await getSnapshot(org, "prod");
    expect([snapshot.type, snapshot.artifacts.length]).toEqual([kind, 1]);
    expect(snapshot.artifacts[0]).toMatchObject({
      name: "web:1",
      creationTimestamp: [creationTimestamp],
      ...shown,
    });
  });

  it("covers every physical type", () => {
    expect(Object.keys(kinds).toSorted()).toEqual(
      environmentTypes.filter((type) => type !== "logical").toSorted(),
    );
  });

  it("refuses another kind and logical environments, naming both types", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "ECS" });
    await createEnvironment(org, "all", { type: "logical" });
    for (const [name, type] of [
      ["prod", "ECS"],
      ["all", "logical"],
    ] as const) {
      const answer = await reportServer(org, name, []);
      expect([answer.status, answer.json]).toEqual([
        400,
        { message: `Environment '${name}' is of type '${type}' and cannot take a report of type 'server'` },
      ]);
    }
  });

  it("is 404 for unknown and archived environments", async () => {
    const org = await app.org();
    const unknown = await reportServer(org, "nope", []);
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { message: `Environment named 'nope' does not exist for organization '${org.name}'` },
    ]);
    await createEnvironment(org, "old", { type: "server" });
    await org.member.put(`/environments/${org.name}/old/archive`);
    const archived = await reportServer(org, "old", []);
    expect([archived.status, archived.json]).toEqual([
      404,
      { message: `Environment named 'old' has been archived for organization '${org.name}'` },
    ]);
  });

  it("follows an environment to its new name", async () => {
    const org = await app.org();
    await createEnvironment(org, "old", { type: "server" });
    await org.member.put(`/environments/${org.name}/old/rename`, { new_name: "new" });
    expect((await reportServer(org, "old", ["a"])).status).toBe(201);
    expect((await getSnapshot(org, "new")).html_url).toContain("/environments/new/snapshots/1");
  });

  it("lets snapshotters report and readers not", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const path = `/environments/${org.name}/prod/report/server`;
    expect((await org.reader.put(path, { artifacts: [] })).status).toBe(403);
    expect((await org.snapshotter.put(path, { artifacts: [] })).status).toBe(201);
  });

  it.each(Object.entries(kinds))(
    "knows whether reports of %s may leave a digest out",
    async (kind, { item }) => {
      const org = await app.org();
      await createEnvironment(org, "prod", { type: kind });
      const report = (started: number) =>
        org.snapshotter.put(`/environments/${org.name}/prod/report/${kind}`, {
          artifacts: [{ ...item, digests: { web: "" }, creationTimestamp: started }],
        });
      const first = await report(creationTimestamp);
      if (!["ECS", "azure-apps", "cloud-run"].includes(kind)) {
        expect([first.status, Object.keys(first.json.errors)]).toEqual([400, ["artifacts[0].digests.web"]]);
        return;
      }
      expect(first.status).toBe(201);
      expect((await report(creationTimestamp + 60)).status).toBe(200);
      expect((await getSnapshot(org, "prod")).artifacts[0].fingerprint).toBe("");
    },
  );

  it.each<[string, Record<string, unknown>, string[]]>([
    ["K8S", {}, ["podName", "namespace"]],
    ["K8S", { podName: "p", namespace: "n", owners: [{ name: "x" }] }, ["owners[0].apiVersion"]],
    ["K8S", { podName: "p", namespace: "n", extra: 1 }, ["extra"]],
    ["ECS", {}, ["taskArn"]],
    ["ECS", { taskArn: "a", service_name: 7 }, ["service_name"]],
    ["azure-apps", { app_name: "a", app_kind: "k", digests_source: "guess" }, ["digests_source"]],
    ["azure-apps", {}, ["app_name", "app_kind", "digests_source"]],
    ["cloud-run", {}, ["kind"]],
    ["cloud-run", { kind: "function" }, ["kind"]],
    ["S3", { bucket: "b" }, ["bucket"]],
    ["lambda", { name: "f" }, ["name"]],
    ["docker", { image: "i" }, ["image"]],
  ])("refuses reports of %s with items like %j", async (kind, item, places) => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: kind });
    const artifacts = [{ ...item, digests, creationTimestamp }];
    const path = `/environments/${org.name}/prod/report/${kind}`;
    const { status, json } = await org.snapshotter.put(path, { artifacts });
    expect([status, json.message]).toEqual([400, "Input payload validation failed"]);
    expect(Object.keys(json.errors)).toEqual(
      expect.arrayContaining(places.map((place) => `artifacts[0].${place}`)),
    );
  });

  it("takes the moment that stands for an unknown one, pods without owners, and pods that run nothing yet", async () => {
    const org = await app.org();
    await createEnvironment(org, "run", { type: "cloud-run" });
    await createEnvironment(org, "pods", { type: "K8S" });
    const job = { kind: "job", jobName: "nightly", digests, creationTimestamp: -62_135_596_800 };
    const service = { kind: "service", serviceName: null, revisionName: null, jobName: null };
    const report = (name: string, kind: string, artifacts: object[]) =>
      org.snapshotter.put(`/environments/${org.name}/${name}/report/${kind}`, { artifacts });
    expect((await report("run", "cloud-run", [job, { ...job, ...service }])).status).toBe(201);
    const [shown] = (await getSnapshot(org, "run")).artifacts;
    expect(shown.creationTimestamp).toEqual([-62_135_596_800, -62_135_596_800]);
    const pod = { podName: "web-1", namespace: "shop", creationTimestamp };
    const pods = [
      { ...pod, digests, owners: null },
      { ...pod, podName: "web-2", digests: {} },
    ];
    expect((await report("pods", "K8S", pods)).status).toBe(201);
    expect((await getSnapshot(org, "pods")).artifacts).toMatchObject([
      { name: "web:1", pods: { "web-1": { namespace: "shop", creationTimestamp } } },
    ]);
  });

  it.each([
    [{}, "artifacts", "Field required [input: None]"],
    [{ artifacts: null }, "artifacts", "Input should be a valid list [input: None]"],
    [
      { artifacts: [7] },
      "artifacts[0]",
      "Input should be a valid dictionary or object to extract fields from [input: 7]",
    ],
    [{ artifacts: [], extra: 1 }, "extra", "Extra inputs are not permitted [input: 1]"],
    [{ artifacts: [], type: "K8S" }, "type", "Input should be 'server' [input: K8S]"],
    [{ artifacts: [{ digests }] }, "artifacts[0].creationTimestamp", "Field required [input: None]"],
    [
      { artifacts: [{ digests, creationTimestamp: 1.5 }] },
      "artifacts[0].creationTimestamp",
      "Input should be a valid integer [input: 1.5]",
    ],
    [
      { artifacts: [{ digests, creationTimestamp: 1e15 }] },
      "artifacts[0].creationTimestamp",
      "Input should be less than or equal to 253402300799 [input: 1000000000000000]",
    ],
    [
      { artifacts: [{ digests, creationTimestamp: -1e15 }] },
      "artifacts[0].creationTimestamp",
      "Input should be greater than or equal to -62135596800 [input: -1000000000000000]",
    ],
    [
      { artifacts: [{ digests: { a: "xyz" }, creationTimestamp }] },
      "artifacts[0].digests.a",
      "String should match pattern '^[a-f0-9]{64}$' [input: xyz]",
    ],
  ])("refuses %j", async (body, location, text) => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const answer = await org.snapshotter.put(`/environments/${org.name}/prod/report/server`, body);
    expect([answer.status, answer.json]).toEqual([
      400,
      { message: "Input payload validation failed", errors: { [location]: text } },
    ]);
  });

  const manyDigests = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`image:${at}`, digests["web:1"]]));

  it.each<[string, Record<string, unknown>, number]>([
    ["K8S", { podName: "p", namespace: "n", owners: [{ ...owner, extra: "x".repeat(400 * 1024) }] }, 164],
    ["ECS", { taskArn: "é".repeat(4096), cluster_name: "é".repeat(4096) }, 4096],
  ])("refuses a report of %s that would be stored many times as large as it is", async (kind, item, most) => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: kind });
    const report = (count: number) =>
      org.snapshotter.put(`/environments/${org.name}/prod/report/${kind}`, {
        artifacts: [{ ...item, digests: manyDigests(count), creationTimestamp }],
      });
    const refused = await report(most);
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      {
        artifacts: expect.stringMatching(
          /^Report should say where its artifacts run in at most 67108864 bytes, those of an item once for each of its digests \[input: 67\d{6}\]$/,
        ),
      },
    ]);
    expect((await org.reader.get(`/snapshots/${org.name}/prod/1`)).status).toBe(404);
    // The same bytes again, which are not read.
    expect((await report(most)).status).toBe(400);
    expect((await report(10)).status).toBe(201);
  });

  it("survives the earliest and the latest moments", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const started = [-62_135_596_800, 0, 253_402_300_799];
    const running = [{ name: "web", fingerprint: fingerprintOf("web"), started }];
    expect((await reportServer(org, "prod", running)).status).toBe(201);
    expect((await getSnapshot(org, "prod")).artifacts[0].creationTimestamp).toEqual(started);
  });
});

describe("reporters at the same time", () => {
  it("make one snapshot of fifty first reports that say the same", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => reportServer(org, "prod", ["a", "b"])),
    );
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([
      ...Array<number>(49).fill(200),
      201,
    ]);
    expect((await getSnapshot(org, "prod")).index).toBe(1);
  });

  it("number without gaps when they contradict each other", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const reports = Array.from({ length: 40 }, (_, at) =>
      reportServer(org, "prod", [at % 2 === 0 ? "a" : "b"]),
    );
    const made = (await Promise.all(reports)).filter(({ status }) => status === 201).length;
    expect(made).toBeGreaterThan(1);
    const list = await org.reader.get(`/snapshots/${org.name}/prod?per_page=100&reverse=true`);
    expect(list.json.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: made }, (_, at) => at + 1),
    );
    const times = list.json.map(({ from }: { from: number }) => from);
    expect(times).toEqual(times.toSorted((left: number, right: number) => left - right));
  });
});

describe("cost", () => {
  it("is a handful of statements for 800 artifacts", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const running = Array.from({ length: 800 }, (_, at) => `artifact-${at}`);
    expect((await reportServer(org, "prod", running)).status).toBe(201);
    // One statement finds out who is calling.
    const caller = 1;
    const unchanged = await statementsOf(app, () => reportServer(org, "prod", running));
    expect(unchanged.some((text) => text.includes("unchanged-report"))).toBe(true);
    expect(unchanged.length).toBeLessThanOrEqual(3 + caller);
    const first = await getSnapshot(org, "prod");
    const { annotation: _started, ...before } = first.artifacts.find(
      ({ name }: { name: string }) => name === running[0],
    );
    const changed = await statementsOf(app, () => reportServer(org, "prod", running.slice(1)));
    expect(changed.some((text) => text.includes("insert-snapshots"))).toBe(true);
    expect(changed.length).toBeLessThanOrEqual(12 + caller);
    const snapshot = await getSnapshot(org, "prod");
    expect([snapshot.artifacts.length, annotations(snapshot).at(-1)]).toEqual([
      800,
      "artifact-0: exited 1>0",
    ]);
    // What has not changed is not written again, and what has exited is shown as it was without a copy of that.
    expect(await countRows(app.deps.db, sql`snapshot_artifacts where org_id = ${org.id}`)).toBe(801);
    expect(await countRows(app.deps.db, sql`snapshot_documents where org_id = ${org.id}`)).toBe(800);
    const { annotation: _, ...exited } = snapshot.artifacts.at(-1);
    expect(exited).toEqual(before);
    // Of what runs on, flows know nothing new: it is not looked for.
    expect(changed.some((text) => text.includes("fresh-version-summaries"))).toBe(true);
    // Then it is remembered, and what the last snapshot brought is read.
    const again = await statementsOf(app, () => reportServer(org, "prod", running.slice(2)));
    expect(again.some((text) => text.includes("some-version-summaries"))).toBe(true);
    expect(again.some((text) => text.includes("fresh-version-summaries"))).toBe(false);
    expect(again.length).toBeLessThanOrEqual(13 + caller);
  });
});
