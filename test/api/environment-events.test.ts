import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { buildWeb, runningWeb, webOf } from "../support/builds-of-web.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy } from "../support/policies.ts";
import { countEvents, getSnapshot, reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Event {
  snapshot_index: number;
  artifact_name: string;
  type: string;
}

async function orgWith(...environments: string[]): Promise<TestOrg> {
  const org = await app.org();
  for (const name of environments) await createEnvironment(org, name, { type: "server" });
  return org;
}

function log(org: TestOrg, query: Record<string, string> | [string, string][] = {}, environment = "prod") {
  return org.reader.get(
    `/environments/${org.name}/${environment}/events?${new URLSearchParams(query).toString()}`,
  );
}

/** `index name type` of each event. */
async function told(
  org: TestOrg,
  query: Record<string, string> | [string, string][] = {},
  environment?: string,
) {
  const answer = await log(org, query, environment);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  const events: Event[] = answer.json;
  return events.map(
    ({ snapshot_index, artifact_name, type }) => `${snapshot_index} ${artifact_name} ${type}`,
  );
}

/** Five snapshots, an hour apart: one artifact replaces the other in each. */
async function orgWithHistory(): Promise<TestOrg> {
  const org = await orgWith("prod");
  for (const name of ["a", "b", "c", "d", "e"]) {
    await reportServer(org, "prod", [name]);
    app.clock.advance(3600);
  }
  return org;
}

function indexes(events: string[]): number[] {
  return [...new Set(events.map((event) => Number(event.split(" ")[0])))];
}

describe("an event", () => {
  it("tells what happened to which artifact, with links", async () => {
    const org = await orgWith("prod");
    await buildWeb(org, "1");
    await buildWeb(org, "2");
    await reportServer(org, "prod", [runningWeb("1")]);
    await reportServer(org, "prod", [runningWeb("2")]);
    const { json } = await log(org);
    const { timestamp } = await getSnapshot(org, "prod");
    const host = "http://waybill.test";
    const snapshot = {
      self: `${host}/api/v2/snapshots/${org.name}/prod/2`,
      html: `${host}/${org.name}/environments/prod/snapshots/2`,
    };
    const page = `${host}/${org.name}/flows/web-ci/artifacts/${webOf("2")}`;
    const compare = `https://git.example.com/shop/web/compare/${commitOf("1")}...${commitOf("2")}`;
    expect(json).toHaveLength(3);
    expect(json[1]).toEqual({
      environment_name: "prod",
      snapshot_index: 2,
      artifact_name: "web",
      sha256: webOf("2"),
      description: "1 instance started running (from 0 to 1)",
      reported_at: timestamp,
      pipeline: "web-ci",
      deployments: [],
      flows: [{ flow_name: "web-ci", deployments: null }],
      artifact_compliance: null,
      snapshot_compliance: false,
      type: "started-unknown",
      code_diff: compare,
      _links: {
        artifact: {
          self: `${host}/api/v2/artifacts/${org.name}/web-ci/fingerprint/${webOf("2")}`,
          html: expect.stringMatching(new RegExp(`^${page}\\?artifact_id=[0-9a-f-]{32}$`)),
        },
        snapshot,
      },
    });
    expect(json[0]).toMatchObject({
      type: "exited",
      sha256: webOf("1"),
      description: "1 instance stopped running (from 1 to 0)",
      code_diff: null,
      _links: { snapshot },
    });
    // What made way for nothing has nothing to be compared with.
    await reportServer(org, "prod", []);
    const last = (await org.reader.get(`/environments/${org.name}/prod/events`)).json[0];
    expect(last).toMatchObject({ type: "exited", sha256: webOf("2"), pipeline: "web-ci", code_diff: null });
  });

  it("has texts, not nulls, where no flow knows the artifact and no digest is known", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "ECS" });
    const task = { taskArn: "arn:1", digests: { "web:1": "" }, creationTimestamp: 1 };
    await org.snapshotter.put(`/environments/${org.name}/prod/report/ECS`, { artifacts: [task] });
    const [event] = (await log(org)).json;
    expect(event).toMatchObject({ pipeline: "", flows: [], sha256: "", artifact_name: "web:1" });
    expect(Object.keys(event._links)).toEqual(["snapshot"]);
    for (const key of ["snapshot_index", "artifact_name", "sha256", "description", "pipeline", "reported_at"])
      expect([key, event[key]]).not.toEqual([key, null]);
  });

  it("is made by every change but none of a number of instances", async () => {
    const org = await orgWith("prod");
    const web = (started: number[]) => ({ ...runningWeb("1"), started });
    await reportServer(org, "prod", [web([1])]);
    await reportServer(org, "prod", [web([1, 2, 3]), "db"]);
    await buildWeb(org, "1");
    await reportServer(org, "prod", [web([1]), "db"]);
    await reportServer(org, "prod", []);
    const events: (Event & { description: string })[] = (await log(org, { reverse: "true" })).json;
    expect(events.map((event) => `${event.snapshot_index} ${event.type}: ${event.description}`)).toEqual([
      "1 started-unknown: 1 instance started running (from 0 to 1)",
      "2 started-unknown: 1 instance started running (from 0 to 1)",
      "3 updated-provenance: 1 instance changed",
      "4 exited: 1 instance stopped running (from 1 to 0)",
      "4 exited: 1 instance stopped running (from 1 to 0)",
    ]);
  });
});

describe("the order and the pages of a log", () => {
  it("is the newest first, reversed exactly the other way round", async () => {
    const org = await orgWithHistory();
    const newest = await told(org);
    expect(newest).toEqual([
      "5 d exited",
      "5 e started-unknown",
      "4 c exited",
      "4 d started-unknown",
      "3 b exited",
      "3 c started-unknown",
      "2 a exited",
      "2 b started-unknown",
      "1 a started-unknown",
    ]);
    expect(await told(org, { reverse: "true" })).toEqual(newest.toReversed());
  });

  it("tells where a page stands and where the others are", async () => {
    const org = await orgWithHistory();
    const all = await told(org);
    const pages = await Promise.all(["1", "2", "3", "4"].map((page) => told(org, { page, per_page: "3" })));
    expect(pages.flat()).toEqual(all);
    expect(pages[3]).toEqual([]);
    const { headers } = await log(org, { interval: "", page: "2", per_page: "4", reverse: "false" });
    expect(headers).toMatchObject({
      "x-total-count": "9",
      "x-per-page": "4",
      "x-current-page": "2",
      "x-total-pages": "3",
    });
    const at = (page: number) =>
      `<http://waybill.test/api/v2/environments/${org.name}/prod/events?interval=&page=${page}&per_page=4&reverse=false>`;
    expect(headers["link"]).toBe(
      [`${at(1)}; rel="first"`, `${at(1)}; rel="prev"`, `${at(3)}; rel="next"`, `${at(3)}; rel="last"`].join(
        ", ",
      ),
    );
  });

  it("has no links when there is one page, and nothing where nothing happened", async () => {
    const org = await orgWith("prod", "idle");
    await reportServer(org, "prod", ["web"]);
    const one = await log(org);
    expect([one.headers["x-total-pages"], one.headers["link"]]).toEqual(["1", undefined]);
    const none = await log(org, {}, "idle");
    expect([none.json, none.headers["x-total-count"], none.headers["x-total-pages"]]).toEqual([[], "0", "0"]);
  });
});

describe("the part of a log that is asked for", () => {
  it("is named by interval, start and end, in every form", async () => {
    const org = await orgWithHistory();
    const third = (await getSnapshot(org, "prod", "3")).timestamp;
    const cases: [Record<string, string>, number[]][] = [
      [{ interval: "" }, [5, 4, 3, 2, 1]],
      [{ interval: "2..3" }, [3, 2]],
      [{ interval: "~1..NOW" }, [5, 4]],
      [{ interval: "..2" }, [2, 1]],
      [{ interval: "4.." }, [5, 4]],
      [{ interval: "-2" }, [4]],
      [{ interval: "NOW" }, [5]],
      [{ interval: "9..12" }, []],
      [{ interval: "4..2" }, []],
      [{ start: "4" }, [5, 4]],
      [{ start: "-2", end: "-1" }, [5, 4]],
      [{ end: "2" }, [2, 1]],
      [{ start: "NOW" }, [5]],
      [{ start: "150mins" }, [5, 4]],
      [{ end: "3hours" }, [3, 2, 1]],
      [{ start: "1w", end: "90mins" }, [4, 3, 2, 1]],
      [{ start: String(third), end: String(third) }, [3]],
      [{ start_ts: String(third) }, [5, 4, 3]],
      [{ end_ts: String(third) }, [3, 2, 1]],
      [{ end_ts: String(third - 0.001) }, [2, 1]],
      [{ start_ts: "1" }, [5, 4, 3, 2, 1]],
      [{ start_ts: "9999999999" }, []],
    ];
    for (const [query, expected] of cases)
      expect([query, indexes(await told(org, query))]).toEqual([query, expected]);
  });

  it("goes by the moment before the other bound, and by any bound before the interval (R7)", async () => {
    const org = await orgWithHistory();
    const third = (await getSnapshot(org, "prod", "3")).timestamp;
    expect(indexes(await told(org, { interval: "1..2", start: "4" }))).toEqual([5, 4]);
    expect(indexes(await told(org, { interval: "1..2", end_ts: String(third) }))).toEqual([3, 2, 1]);
    expect(indexes(await told(org, { start: "5", start_ts: String(third) }))).toEqual([5, 4, 3]);
    expect(indexes(await told(org, { start_ts: String(third), end: "4" }))).toEqual([4, 3]);
  });

  it("can be what happened to artifacts of some repos", async () => {
    const org = await orgWith("prod");
    await buildWeb(org, "1", { repo_info: repoInfo("shop/web") });
    await buildWeb(org, "2", { repo_info: repoInfo("shop/api") });
    await reportServer(org, "prod", [runningWeb("1", "web"), runningWeb("2", "api"), "db"]);
    await reportServer(org, "prod", ["db"]);
    expect(await told(org, { repo_name: "shop/web" })).toEqual(["2 web exited", "1 web started-unknown"]);
    const both = await log(org, [
      ["repo_name", "shop/web"],
      ["repo_name", "shop/api"],
      ["per_page", "1"],
    ]);
    expect(both.headers["x-total-count"]).toBe("4");
    expect(await told(org, { repo_name: "shop/api", interval: "1" })).toEqual(["1 api started-unknown"]);
  });
});

describe("a log by name", () => {
  it("follows renamed environments", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", ["web"]);
    await org.member.put(`/environments/${org.name}/prod/rename`, { new_name: "live" });
    const [event] = (await log(org, {}, "prod")).json;
    expect([event.environment_name, event._links.snapshot.self]).toEqual([
      "live",
      `http://waybill.test/api/v2/snapshots/${org.name}/live/1`,
    ]);
  });

  it("is one of its own in a logical environment (R5)", async () => {
    const org = await orgWith("a", "b");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["a", "b"] });
    await reportServer(org, "a", ["web"]);
    await reportServer(org, "b", ["web", "db"]);
    expect(await told(org, { reverse: "true" }, "all")).toEqual([
      "1 web started-unknown",
      "2 db started-unknown",
    ]);
  });
});

describe("what is wrong", () => {
  it("is said in the public words", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", ["web"]);
    const cases: [[string, string], number, string][] = [
      [["start", ""], 400, "Invalid interval value: "],
      [["end", ""], 400, "Invalid interval value: "],
      [["start", "soon"], 400, "Invalid interval value: soon"],
      [["start", "0"], 400, "Invalid interval value: 0"],
      [["end", "2 fortnights"], 400, "Invalid interval value: 2 fortnights"],
      [["interval", "1..2..3"], 400, "Invalid interval value: 1..2..3"],
      [["interval", "x..2"], 400, "x is not a valid snapshot index"],
      [["interval", "0"], 400, "0 is not a valid snapshot index"],
      [["repo_name", "shop/none"], 404, "Repo 'shop/none' not found"],
      [["repo_name", ""], 404, "Repo '' not found"],
    ];
    for (const [query, status, message] of cases) {
      const answer = await log(org, [query]);
      expect([query, answer.status, answer.json]).toEqual([query, status, { message }]);
    }
    const unknown = await log(org, { repo_name: "x" }, "nowhere");
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { message: `Environment named 'nowhere' does not exist for organization '${org.name}'` },
    ]);
  });

  it("is refused before anything is read", async () => {
    const org = await orgWith("prod");
    const number = "Input should be a valid number, unable to parse string as a number";
    const cases: [string, string, string][] = [
      ["page", "0", "Input should be greater than or equal to 1 [input: 0]"],
      ["page", "1000001", "Input should be less than or equal to 1000000 [input: 1000001]"],
      ["per_page", "0", "Input should be greater than or equal to 1 [input: 0]"],
      ["per_page", "101", "Input should be less than or equal to 100 [input: 101]"],
      ["reverse", "", "Input should be a valid boolean, unable to interpret input [input: ]"],
      ["start_ts", "1e", `${number} [input: 1e]`],
      ["end_ts", "", `${number} [input: ]`],
    ];
    for (const [key, value, reason] of cases) {
      const answer = await log(org, { [key]: value });
      expect([answer.status, answer.json]).toEqual([
        400,
        { message: "Input payload validation failed", errors: { [`query.${key}`]: reason } },
      ]);
    }
  });
});

describe("numbers of events", () => {
  /** How many the log says there are. */
  async function totalOf(org: TestOrg, environment: string): Promise<number> {
    return Number((await log(org, {}, environment)).headers["x-total-count"]);
  }

  it("are those that counting gives, whatever made the snapshots", async () => {
    const org = await orgWith("a", "b");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["a", "b"] });
    await buildWeb(org, "1");
    await reportServer(org, "a", [runningWeb("1"), "db"]);
    await reportServer(org, "b", ["db"]);
    await createPolicy(org, "known");
    await attachPolicies(org, "a", "known");
    await attachPolicies(org, "all", "known");
    await reportServer(org, "a", [{ ...runningWeb("1"), started: [1, 2] }, "db", "new"]);
    const trusted = { artifact_name: "db", artifact_fingerprint: fingerprintOf("db"), description: "" };
    expect((await org.member.put(`/allowlists/${org.name}/a`, trusted)).status).toBeLessThan(300);
    await org.member.patch(`/environments/${org.name}/all`, { included_environments: ["b"] });
    await reportServer(org, "a", []);
    const counted = await countEvents(app, org);
    expect(Object.values(counted).every((count) => count > 0)).toBe(true);
    for (const name of ["a", "b", "all"]) expect(await totalOf(org, name)).toBe(counted[name]);
  });

  it("have no gaps when reports come at once", async () => {
    const org = await orgWith("a", "b");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["a", "b"] });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => reportServer(org, at % 2 === 0 ? "a" : "b", [`artifact-${at}`])),
    );
    expect(answers.map(({ status }) => status).filter((status) => status !== 201)).toEqual([]);
    // The first one starts an artifact, each of the others replaces it.
    expect(await countEvents(app, org)).toEqual({ a: 11, b: 11, all: 22 });
    expect(await totalOf(org, "all")).toBe(22);
  });
});

describe("a long log", () => {
  it("is read by its index, at its end as at its beginning", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", ["web"]);
    const { pool } = app.deps.db;
    const { rows } = await pool.query<{ id: string }>("select id from environments where org_id = $1", [
      org.id,
    ]);
    const environment = rows[0]!.id;
    await pool.query(
      `insert into snapshots (org_id, environment_id, index, created_at, compliant, type, cause, event_count,
        artifact_compliance_count, applied_policies, artifacts)
      select s.org_id, s.environment_id, n, s.created_at + make_interval(secs => n), s.compliant,
        s.type, s.cause, n, s.artifact_compliance_count, s.applied_policies, array[n]
      from snapshots s, generate_series(2, 10000) n where s.org_id = $1`,
      [org.id],
    );
    await pool.query(
      `insert into snapshot_artifacts (org_id, id, environment_id, first_index, last_index, created_at, name, fingerprint,
        type, event_number, was, now, compliant, running, flow_ids, provenance, repo_ids, digest, facts, follows,
        decisions_digest, repeats)
      select a.org_id, n, a.environment_id, n, n, a.created_at + make_interval(secs => n), a.name, a.fingerprint,
        'started-unknown', n, 0, 1, a.compliant, a.running, a.flow_ids, a.provenance, a.repo_ids, a.digest,
        a.facts, a.follows, a.decisions_digest, a.id
      from snapshot_artifacts a, generate_series(2, 10000) n where a.org_id = $1`,
      [org.id],
    );
    await pool.query(
      "update environment_reports set snapshot_count = 10000, artifact_count = 10000 where environment_id = $1",
      [environment],
    );
    const last = await log(org, { page: "10000", per_page: "1" });
    expect([last.json[0].snapshot_index, last.headers["x-total-count"]]).toEqual([1, "10000"]);
    // A plan of Citus names shards.
    if (inject("cluster")) return;
    await pool.query("vacuum analyze snapshot_artifacts");
    const explained = async (text: string, values: unknown[]): Promise<string> => {
      const plan = await pool.query<Record<string, string>>(`explain ${text}`, values);
      return plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    };
    const page = await explained(
      `select event_number from snapshot_artifacts
      where org_id = $1 and environment_id = $2 and event_number between 9000 and 9014
      order by event_number limit 100`,
      [org.id, environment],
    );
    expect(page).toMatch(/^Limit[^]*-> {2}Index (Only )?Scan using snapshot_artifacts_events/);
    expect(page).toContain("(event_number >= 9000)");
  });
});
