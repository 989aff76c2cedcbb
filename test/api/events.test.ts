import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { repoInfo } from "../support/artifacts.ts";
import { buildWeb, runningWeb } from "../support/builds-of-web.ts";
import { createEnvironment, listedNames } from "../support/environments.ts";
import { attachPolicies, createPolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Event {
  environment_name: string;
  snapshot_index: number;
  artifact_name: string;
  type: string;
  reported_at: number;
}
type Query = Record<string, string | number> | [string, string][];

function ask(org: TestOrg, query: Query = {}, headers: Record<string, string> = {}) {
  const search = new URLSearchParams(query as Record<string, string>);
  return org.reader.get(`/events/${org.name}?${search.toString()}`, { headers });
}

async function list(org: TestOrg, query: Query = {}) {
  const answer = await ask(org, query);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** `environment index artifact type` of each event. */
async function told(org: TestOrg, query: Query = {}): Promise<string[]> {
  const { data } = await list(org, query);
  return data.map(
    (event: Event) =>
      `${event.environment_name} ${event.snapshot_index} ${event.artifact_name} ${event.type}`,
  );
}

/** An organization in which everything has happened, in two environments and one around them. */
async function busyOrg(): Promise<TestOrg> {
  const org = await app.org();
  await createPolicy(org, "origin");
  await createEnvironment(org, "prod", { type: "server" });
  await org.member.patch(`/tags/${org.name}/environment/prod`, { set_tags: { stage: "prod" } });
  await createEnvironment(org, "test", { type: "server" });
  await createEnvironment(org, "all", { type: "logical", included_environments: ["prod", "test"] });
  await buildWeb(org, "1", { repo_info: repoInfo("shop") });
  await buildWeb(org, "2", { repo_info: repoInfo("other") }, "other-ci");
  await reportServer(org, "prod", [runningWeb("1"), "db"]);
  app.clock.advance(60);
  await reportServer(org, "test", [runningWeb("2", "new")]);
  app.clock.advance(60);
  await attachPolicies(org, "prod", "origin");
  app.clock.advance(60);
  await reportServer(org, "prod", [runningWeb("1")]);
  app.clock.advance(60);
  // Known to one more flow: neither a start nor an exit nor a verdict.
  await buildWeb(org, "1", { trail_name: "again" }, "deploy");
  await reportServer(org, "prod", [runningWeb("1"), runningWeb("2", "new")]);
  return org;
}

describe("the events of all environments", () => {
  it("are those of each environment's log, newest first, with its name", async () => {
    const org = await busyOrg();
    const { data } = await list(org, { per_page: 100 });
    const logs = await Promise.all(
      ["prod", "test"].map((name) => org.reader.get(`/environments/${org.name}/${name}/events?per_page=100`)),
    );
    const all = logs.flatMap(({ json }) => json as Event[]);
    expect(data).toEqual(expect.arrayContaining(all));
    expect(data).toHaveLength(all.length);
    const times = data.map(({ reported_at }: Event) => reported_at);
    expect(times).toEqual(times.toSorted((left: number, right: number) => right - left));
    for (const [at, log] of logs.entries())
      expect(data.filter((event: Event) => event.environment_name === ["prod", "test"][at])).toEqual(
        log.json,
      );
  });

  it("are counted by kind and by environment, and the counts are those of the lists they lead to", async () => {
    const org = await busyOrg();
    const { pagination, counts } = await list(org);
    expect(pagination).toEqual({ total: 8, page: 1, per_page: 15, page_count: 1 });
    expect(counts).toEqual({
      by_kind: { started: 4, exited: 1, changed: 1, verdict: 2 },
      by_environment: [
        { environment_name: "prod", count: 7 },
        { environment_name: "test", count: 1 },
      ],
    });
    for (const [kind, count] of Object.entries<number>(counts.by_kind)) {
      const answer = await list(org, { kind });
      expect([kind, answer.pagination.total, answer.data.length]).toEqual([kind, count, count]);
      expect(answer.counts.by_kind).toEqual(counts.by_kind);
      const sum = answer.counts.by_environment.reduce(
        (total: number, each: { count: number }) => total + each.count,
        0,
      );
      expect([kind, sum]).toEqual([kind, count]);
    }
    for (const { environment_name, count } of counts.by_environment)
      expect((await list(org, { environment: environment_name })).pagination.total).toBe(count);
  });

  it("are of the kinds asked for", async () => {
    const org = await busyOrg();
    expect(await told(org, { kind: "verdict" })).toEqual([
      "prod 2 web became-compliant",
      "prod 2 db became-non-compliant",
    ]);
    expect(await told(org, { kind: "exited" })).toEqual(["prod 3 db exited"]);
    expect(await told(org, { kind: "changed" })).toEqual(["prod 4 web updated-provenance"]);
    expect(
      await told(org, [
        ["kind", "exited"],
        ["kind", "changed"],
      ]),
    ).toHaveLength(2);
    expect(
      await told(org, [
        ["kind", "exited"],
        ["kind", "exited"],
      ]),
    ).toHaveLength(1);
  });

  it("are of the environments asked for: by name, tag or type", async () => {
    const org = await busyOrg();
    const inTest = ["test 1 new started-unknown"];
    expect(await told(org, { environment: "test" })).toEqual(inTest);
    expect(
      await told(org, [
        ["environment", "test"],
        ["environment", "none"],
      ]),
    ).toEqual(inTest);
    expect(await told(org, { environment: "none" })).toEqual([]);
    expect(new Set((await told(org, { tag: "stage" })).map((text) => text.split(" ")[0]))).toEqual(
      new Set(["prod"]),
    );
    expect(await told(org, { tag: "stage:test" })).toEqual([]);
    expect(await told(org, { type: "K8S" })).toEqual([]);
    expect(await told(org, { type: "server" })).toHaveLength(8);
    expect(await told(org, { type: "server", tag: "stage:prod", environment: "test" })).toEqual([]);
  });

  it("are those of logical environments only where these are asked for", async () => {
    const org = await busyOrg();
    const own = (await org.reader.get(`/environments/${org.name}/all/events?per_page=100`)).json;
    expect(own.length).toBeGreaterThan(0);
    expect((await list(org, { environment: "all" })).data).toEqual(own);
    expect((await list(org, { type: "logical" })).data).toEqual(own);
    expect((await told(org)).filter((text) => text.startsWith("all "))).toEqual([]);
    expect(
      await told(org, [
        ["type", "logical"],
        ["type", "server"],
        ["per_page", "100"],
      ]),
    ).toHaveLength(own.length + 8);
  });

  it("are of the flow or the repo that built the artifact", async () => {
    const org = await busyOrg();
    const other = ["prod 4 new started-compliant", "test 1 new started-unknown"];
    expect(await told(org, { flow: "other-ci" })).toEqual(other);
    expect(await told(org, { repo: "other" })).toEqual(other);
    expect(await told(org, { repo: "other", flow: "other-ci", kind: "started" })).toEqual(other);
    expect(await told(org, { repo: "other", flow: "web-ci" })).toEqual([]);
    expect(await told(org, { flow: "other-ci", environment: "test" })).toEqual(other.slice(1));
    expect(await told(org, { repo: "none" })).toEqual([]);
    expect(await told(org, { flow: "none" })).toEqual([]);
    const { pagination, counts } = await list(org, { repo: "shop", kind: "started" });
    expect(pagination.total).toBe(1);
    expect(counts.by_kind).toEqual({ started: 1, exited: 0, changed: 1, verdict: 1 });
    expect(counts.by_environment).toEqual([{ environment_name: "prod", count: 1 }]);
  });

  it("are of one organization", async () => {
    const [org, other] = [await busyOrg(), await busyOrg()];
    expect((await list(org, { per_page: 100 })).data).toHaveLength(8);
    expect((await other.reader.get(`/events/${org.name}`)).status).toBe(403);
  });

  it("stay when their environment is archived, under its archived name", async () => {
    const org = await busyOrg();
    await org.member.put(`/environments/${org.name}/all/archive`);
    await org.member.put(`/environments/${org.name}/test/archive`);
    const names = await listedNames(org.reader, org, "?archived=true");
    const past = names.find((name) => name.startsWith("test"))!;
    expect(await told(org, { environment: past })).toEqual([`${past} 1 new started-unknown`]);
    expect(await told(org, { environment: "test" })).toEqual([]);
    expect((await list(org)).counts.by_environment).toContainEqual({ environment_name: past, count: 1 });
  });
});

describe("the window of events", () => {
  it("is the last day unless said otherwise, both ends included", async () => {
    const org = await busyOrg();
    const first = (await list(org, { per_page: 100 })).data.at(-1) as Event;
    const at = first.reported_at;
    expect(await told(org, { start_ts: at, end_ts: at })).toHaveLength(2);
    expect(await told(org, { end_ts: at - 0.001 })).toEqual([]);
    app.clock.advance(24 * 3600 + 1);
    expect(await list(org)).toEqual({
      data: [],
      pagination: { total: 0, page: 1, per_page: 15, page_count: 0 },
      counts: { by_kind: { started: 0, exited: 0, changed: 0, verdict: 0 }, by_environment: [] },
    });
    expect(await told(org, { start_ts: at })).toHaveLength(8);
  });

  it.each<[Query, string]>([
    [{ start_ts: 20, end_ts: 10 }, "query.start_ts"],
    [{ start_ts: 0 }, "query.start_ts"],
    [{ start_ts: 1, end_ts: 7 * 24 * 3600 + 1.5 }, "query.start_ts"],
    [{ kind: "began" }, "query.kind[0]"],
    [{ type: "k8s" }, "query.type[0]"],
    [{ per_page: 101 }, "query.per_page"],
    [{ page: 0 }, "query.page"],
  ])("refuses %j", async (query, parameter) => {
    const org = await app.org();
    const answer = await ask(org, query);
    expect([answer.status, Object.keys(answer.json.errors)]).toEqual([400, [parameter]]);
  });

  it("may be a week long", async () => {
    const org = await app.org();
    expect((await ask(org, { start_ts: 1, end_ts: 7 * 24 * 3600 + 1 })).status).toBe(200);
  });
});

describe("pages of events", () => {
  /** Snapshots with one to six events each, some of them at the same moment. */
  async function longOrg(): Promise<TestOrg> {
    const org = await app.org();
    const names = ["a", "b", "c"];
    for (const name of names) await createEnvironment(org, name, { type: "server" });
    for (let round = 0; round < 18; round += 1) {
      const running = ["x", "y", "z"].filter(
        (_, at) => (Math.floor(round / 3) + at) % 3 !== 0 || round % 4 === 0,
      );
      await reportServer(org, names[round % 3]!, running);
      if (round % 2 === 0) app.clock.advance(1);
    }
    return org;
  }

  it("cut the whole list, whatever is asked for", async () => {
    const org = await longOrg();
    const filters: Query[] = [
      [],
      [["kind", "exited"]],
      [
        ["kind", "started"],
        ["kind", "exited"],
      ],
      [["environment", "b"]],
    ] as Query[];
    const wholes = await Promise.all(
      filters.map((filter) => told(org, [...(filter as []), ["per_page", "100"]])),
    );
    expect(wholes[0]!.length).toBeGreaterThan(20);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(3),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 30 }),
        async (which, per_page, page) => {
          const query = [...(filters[which] as []), ["per_page", `${per_page}`], ["page", `${page}`]];
          const { data, pagination } = await list(org, query as [string, string][]);
          const names = data.map(
            (event: Event) =>
              `${event.environment_name} ${event.snapshot_index} ${event.artifact_name} ${event.type}`,
          );
          expect(names).toEqual(wholes[which]!.slice((page - 1) * per_page, page * per_page));
          expect(pagination).toEqual({
            total: wholes[which]!.length,
            page,
            per_page,
            page_count: Math.ceil(wholes[which]!.length / per_page),
          });
        },
      ),
      { numRuns: amount(25, 60) },
    );
  });

  it("take two statements, whatever is on them", async () => {
    const org = await longOrg();
    const few = await statementsOf(app, () => list(org, { per_page: 1 }));
    const many = await statementsOf(app, () => list(org, { per_page: 100 }));
    expect(many).toHaveLength(few.length);
    expect(many.filter((text) => text.includes("snapshot_artifacts"))).toHaveLength(1);
  });
});

describe("events as CSV", () => {
  /** One snapshot with more events than are read at a time, and many with one. */
  async function fullOrg(): Promise<TestOrg> {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await createEnvironment(org, "test", { type: "server" });
    await reportServer(
      org,
      "prod",
      Array.from({ length: 450 }, (_, at) => `a${at}`),
    );
    for (let round = 0; round < 6; round += 1) await reportServer(org, "test", [`t${round}`]);
    await reportServer(
      org,
      "prod",
      Array.from({ length: 250 }, (_, at) => `a${at}`),
    );
    return org;
  }

  it("are all of the window, in the order of the list", async () => {
    const org = await fullOrg();
    await buildWeb(org, "1", { repo_info: repoInfo("shop") });
    await reportServer(org, "test", [runningWeb("1")]);
    for (const filter of [{}, { kind: "exited" }, { repo: "shop" }, { flow: "web-ci" }]) {
      const rows: string[] = [];
      for (let page = 1; ; page += 1) {
        const part = await told(org, { ...filter, page, per_page: 100 });
        rows.push(...part);
        if (part.length < 100) break;
      }
      const { status, text } = await ask(org, filter, { accept: "text/csv" });
      const lines = text.trim().split(/\r?\n/);
      expect(status).toBe(200);
      expect(lines[0]).toContain("reported_at,environment_name,snapshot_index,type,artifact_name,sha256");
      const listed = lines.slice(1).map((line) => {
        const [, environment, index, type, name] = line.split(",");
        return `${environment} ${index} ${name} ${type}`;
      });
      expect(listed).toEqual(rows);
      expect(rows.length).toBeGreaterThan(0);
    }
  });

  it("of a window that is too long are refused", async () => {
    const org = await app.org();
    expect((await ask(org, { start_ts: 0 }, { accept: "text/csv" })).status).toBe(400);
  });
});
