import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { finish } from "../../lib/steps.ts";
import { countPlaceBytes, flattenReport } from "./flatten.ts";
import type { K8sItem, Report } from "./report.ts";
import { logicalVerdict, uniteRunning } from "./union.ts";

const a = "a".repeat(64);
const b = "b".repeat(64);
const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "api", uid: "1", controller: true };

describe("flattenReport", () => {
  it.each<[string, Report, unknown[]]>([
    ["an empty report", { type: "K8S", artifacts: [] }, []],
    [
      "K8S: pods of one image, of two images, of none, and without owners",
      {
        type: "K8S",
        artifacts: [
          {
            podName: "api-2",
            namespace: "shop",
            digests: { "api:1": a },
            creationTimestamp: 20,
            owners: [owner],
          },
          {
            podName: "api-1",
            namespace: "shop",
            digests: { "api:1": a, "proxy:1": b },
            creationTimestamp: 10,
          },
          { podName: "idle", namespace: "shop", digests: {}, creationTimestamp: 5, owners: null },
        ],
      },
      [
        {
          name: "api:1",
          fingerprint: a,
          creationTimestamp: [10, 20],
          pods: {
            "api-1": { namespace: "shop", creationTimestamp: 10, owners: null },
            "api-2": { namespace: "shop", creationTimestamp: 20, owners: [owner] },
          },
        },
        {
          name: "proxy:1",
          fingerprint: b,
          creationTimestamp: [10],
          pods: { "api-1": { namespace: "shop", creationTimestamp: 10, owners: null } },
        },
      ],
    ],
    [
      "K8S: pods of one name in two namespaces",
      {
        type: "K8S",
        artifacts: [
          { podName: "web-0", namespace: "test", digests: { web: a }, creationTimestamp: 2 },
          { podName: "web-0", namespace: "prod", digests: { web: a }, creationTimestamp: 1 },
        ],
      },
      [
        {
          name: "web",
          fingerprint: a,
          creationTimestamp: [1, 2],
          pods: {
            "web-0": { namespace: "prod", creationTimestamp: 1, owners: null },
            "test/web-0": { namespace: "test", creationTimestamp: 2, owners: null },
          },
        },
      ],
    ],
    [
      "ECS: the context of the youngest task, and a task without a digest",
      {
        type: "ECS",
        artifacts: [
          {
            taskArn: "arn:2",
            cluster_name: "c",
            service_name: "s",
            digests: { api: a },
            creationTimestamp: 9,
          },
          { taskArn: "arn:1", digests: { api: a }, creationTimestamp: 3 },
          { taskArn: "arn:3", cluster_name: null, digests: { api: "" }, creationTimestamp: 4 },
        ],
      },
      [
        {
          name: "api",
          fingerprint: "",
          creationTimestamp: [4],
          pods: null,
          ecs_context: { task_arn: "arn:3", cluster_name: null, service_name: null },
        },
        {
          name: "api",
          fingerprint: a,
          creationTimestamp: [3, 9],
          pods: null,
          ecs_context: { task_arn: "arn:2", cluster_name: "c", service_name: "s" },
        },
      ],
    ],
    ...(["S3", "lambda", "server", "docker"] as const).map((type): [string, Report, unknown[]] => [
      `${type}: instances of one second count one by one`,
      {
        type,
        artifacts: [
          { digests: { x: a }, creationTimestamp: 7 },
          { digests: { x: a }, creationTimestamp: 7 },
          { digests: { x: b }, creationTimestamp: 6 },
        ],
      },
      [
        { name: "x", fingerprint: a, creationTimestamp: [7, 7], pods: null },
        { name: "x", fingerprint: b, creationTimestamp: [6], pods: null },
      ],
    ]),
    [
      "azure-apps",
      {
        type: "azure-apps",
        artifacts: [
          {
            app_name: "web",
            app_kind: "functionapp",
            digests_source: "acr",
            digests: { web: a },
            creationTimestamp: 0,
          },
        ],
      },
      [
        {
          name: "web",
          fingerprint: a,
          creationTimestamp: [0],
          pods: null,
          azure_apps_context: { app_name: "web", app_kind: "functionapp", digests_source: "acr" },
        },
      ],
    ],
    [
      "cloud-run: a service and a job, one with an unknown start",
      {
        type: "cloud-run",
        artifacts: [
          {
            kind: "service",
            serviceName: "api",
            revisionName: "api-1",
            digests: { api: a },
            creationTimestamp: 5,
          },
          { kind: "job", jobName: "tidy", digests: { tidy: b }, creationTimestamp: -62_135_596_800 },
        ],
      },
      [
        {
          name: "api",
          fingerprint: a,
          creationTimestamp: [5],
          pods: null,
          cloud_run_context: { kind: "service", service_name: "api", revision_name: "api-1", job_name: null },
        },
        {
          name: "tidy",
          fingerprint: b,
          creationTimestamp: [-62_135_596_800],
          pods: null,
          cloud_run_context: { kind: "job", service_name: null, revision_name: null, job_name: "tidy" },
        },
      ],
    ],
    [
      "names that objects treat specially",
      {
        type: "docker",
        artifacts: [{ digests: JSON.parse(`{"__proto__":"${a}","1":"${b}"}`), creationTimestamp: 1 }],
      },
      [
        { name: "1", fingerprint: b, creationTimestamp: [1], pods: null },
        { name: "__proto__", fingerprint: a, creationTimestamp: [1], pods: null },
      ],
    ],
  ])("%s", (_, report, artifacts) => {
    expect(finish(flattenReport(report))).toEqual(artifacts);
  });

  const pods: fc.Arbitrary<K8sItem[]> = fc.array(
    fc.record({
      podName: fc.constantFrom("p1", "p2", "p3"),
      namespace: fc.constantFrom("n1", "n2"),
      digests: fc.dictionary(fc.constantFrom("x", "y"), fc.constantFrom(a, b, "")),
      creationTimestamp: fc.integer({ min: 0, max: 3 }),
      owners: fc.constant(null),
    }),
    { maxLength: 8 },
  );

  it("counts every instance, in ascending order, whatever the order of the report", () => {
    fc.assert(
      fc.property(pods, fc.infiniteStream(fc.nat()), (artifacts, random) => {
        const flat = finish(flattenReport({ type: "K8S", artifacts }));
        const instances = artifacts.reduce((count, { digests }) => count + Object.keys(digests).length, 0);
        expect(flat.flatMap(({ creationTimestamp }) => creationTimestamp)).toHaveLength(instances);
        for (const { creationTimestamp } of flat)
          expect(creationTimestamp).toEqual(creationTimestamp.toSorted((left, right) => left - right));
        const keys = flat.map(({ fingerprint, name }) => `${name}/${fingerprint}`);
        expect(new Set(keys).size).toBe(keys.length);
        const shuffled = artifacts
          .map((item) => ({ item, place: random.next().value }))
          .sort((left, right) => left.place - right.place)
          .map(({ item }) => item);
        expect(finish(flattenReport({ type: "K8S", artifacts: shuffled }))).toEqual(flat);
      }),
    );
  });
});

describe("countPlaceBytes", () => {
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

  it("counts what is said of a pod once for each of its digests, in bytes", () => {
    const pod = { namespace: "n", creationTimestamp: 1, owners: [{ ...owner, note: "é".repeat(1000) }] };
    const item = { podName: "p", ...pod, digests: { x: a, y: b, z: a } };
    const idle = { ...item, podName: "idle", digests: {} };
    expect(finish(countPlaceBytes({ type: "K8S", artifacts: [item, idle] }))).toBe(3 * bytesOf({ p: pod }));
  });

  it("counts the contexts of other kinds", () => {
    const digests = { x: a, y: b };
    const task = { taskArn: "t".repeat(4096), digests, creationTimestamp: 1 };
    const context = { ecs_context: { task_arn: task.taskArn, cluster_name: null, service_name: null } };
    expect(finish(countPlaceBytes({ type: "ECS", artifacts: [task] }))).toBe(2 * bytesOf(context));
    const server: Report = { type: "server", artifacts: [{ digests, creationTimestamp: 1 }] };
    expect(finish(countPlaceBytes(server))).toBe(2 * bytesOf({}));
  });

  it("is no less than what the artifacts are stored with", () => {
    const items = fc.array(
      fc.record({
        namespace: fc.string({ unit: "binary" }),
        digests: fc.dictionary(fc.constantFrom("x", "y"), fc.constantFrom(a, b)),
        creationTimestamp: fc.integer({ min: 0, max: 3 }),
        owners: fc.option(
          fc.array(fc.record({ note: fc.string({ unit: "binary" }) }).map((more) => ({ ...owner, ...more }))),
        ),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(items, (pods) => {
        const artifacts = pods.map((pod, at) => ({ ...pod, podName: `pod-${at}` }));
        const flat = finish(flattenReport({ type: "K8S", artifacts }));
        const stored = flat.reduce((sum, { pods: written }) => sum + bytesOf(written), 0);
        expect(finish(countPlaceBytes({ type: "K8S", artifacts }))).toBeGreaterThanOrEqual(stored);
      }),
    );
  });

  it("counts in steps", () => {
    const artifacts = Array.from({ length: 5000 }, (_, at) => ({
      podName: `pod-${at}`,
      namespace: "n",
      creationTimestamp: 1,
      owners: [owner],
      digests: { x: a },
    }));
    expect([...countPlaceBytes({ type: "K8S", artifacts })].length).toBeGreaterThan(5);
  });
});

describe("uniteRunning", () => {
  it("shows each artifact once, with the instances and pods of all members", () => {
    const pod = (creationTimestamp: number) => ({ namespace: "n", creationTimestamp, owners: null });
    const members = [
      {
        environment: "one",
        artifacts: [
          { name: "api", fingerprint: a, creationTimestamp: [1, 5], pods: { p: pod(1), q: pod(5) } },
        ],
      },
      {
        environment: "two",
        artifacts: [
          { name: "web", fingerprint: b, creationTimestamp: [2], pods: null },
          { name: "api", fingerprint: a, creationTimestamp: [3], pods: { p: pod(3) } },
        ],
      },
      {
        environment: "three",
        artifacts: [
          {
            name: "api",
            fingerprint: a,
            creationTimestamp: [9],
            pods: null,
            ecs_context: { task_arn: "t", cluster_name: null, service_name: null },
          },
        ],
      },
    ];
    const united = finish(uniteRunning(members));
    expect(united).toEqual([
      {
        name: "api",
        fingerprint: a,
        creationTimestamp: [1, 3, 5, 9],
        pods: { p: pod(1), q: pod(5), "two/p": pod(3) },
        ecs_context: { task_arn: "t", cluster_name: null, service_name: null },
      },
      { name: "web", fingerprint: b, creationTimestamp: [2], pods: null },
    ]);
  });

  it("puts the pods of one artifact together in steps", () => {
    const pod = { namespace: "n", creationTimestamp: 1, owners: null };
    const members = ["one", "two"].map((environment) => {
      const pods = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`pod-${at}`, pod]));
      return { environment, artifacts: [{ name: "api", fingerprint: a, creationTimestamp: [1], pods }] };
    });
    const [united] = finish(uniteRunning(members));
    expect(Object.keys(united?.pods ?? {})).toHaveLength(10_000);
    expect([...uniteRunning(members)].length).toBeGreaterThan(20);
  });

  it("keeps pods apart whose names mean something to objects", () => {
    const pod = (namespace: string) => ({ namespace, creationTimestamp: 1, owners: null });
    const members = ["one", "two"].map((environment) => ({
      environment,
      artifacts: [
        {
          name: "api",
          fingerprint: a,
          creationTimestamp: [1],
          pods: Object.fromEntries(["__proto__", "constructor"].map((name) => [name, pod(environment)])),
        },
      ],
    }));
    const [united] = finish(uniteRunning(members));
    expect(Object.entries(united?.pods ?? {})).toEqual([
      ["__proto__", pod("one")],
      ["constructor", pod("one")],
      ["two/__proto__", pod("two")],
      ["two/constructor", pod("two")],
    ]);
  });

  it("is nothing without members, and a member itself when there is one", () => {
    expect(finish(uniteRunning([]))).toEqual([]);
    const artifacts = finish(
      flattenReport({
        type: "server",
        artifacts: [{ digests: { z: a, y: b }, creationTimestamp: 1 }],
      }),
    );
    expect(finish(uniteRunning([{ environment: "one", artifacts }]))).toEqual(artifacts);
  });
});

describe("logicalVerdict", () => {
  it.each<[(boolean | null)[], boolean | null, boolean | null]>([
    [[], null, null],
    [[true], null, true],
    [[true, true], null, true],
    [[true, null], null, null],
    [[null], null, null],
    [[true, false], null, false],
    [[null, false], null, false],
    [[], true, true],
    [[], false, false],
    [[true], false, false],
    [[false], true, false],
    [[null], true, true],
    [[true, null], true, true],
  ])("members %j, own %j: %j", (members, own, verdict) => {
    expect(logicalVerdict(members, own)).toBe(verdict);
  });
});
