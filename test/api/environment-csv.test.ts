import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { buildWeb, runningWeb, webOf } from "../support/builds-of-web.ts";
import { createEnvironment } from "../support/environments.ts";
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

function download(org: TestOrg, query: Record<string, string> = {}, environment = "prod") {
  return org.reader.get(
    `/environments/${org.name}/${environment}/auditlog?${new URLSearchParams(query).toString()}`,
  );
}

/** `snapshot event artifact` of each line below the headings. */
async function lines(org: TestOrg, query: Record<string, string> = {}): Promise<string[]> {
  const answer = await download(org, query);
  expect([answer.status, answer.json?.message]).toEqual([200, undefined]);
  return answer.text
    .trimEnd()
    .split("\r\n")
    .slice(1)
    .map((line) => {
      const cells = line.split(",");
      return `${cells[2]} ${cells[3]} ${cells[5]}`;
    });
}

const headings =
  "time,environment,snapshot,event,description,artifact,fingerprint,artifact_compliance,snapshot_compliance," +
  "flows,trails,commits,snapshot_url";

describe("GET /environments/{org}/{env_name}/auditlog", () => {
  it("is a file with a line for each movement, the oldest first", async () => {
    const org = await orgWith("prod");
    await buildWeb(org, "1");
    await buildWeb(org, "1", {}, "promote");
    await reportServer(org, "prod", [runningWeb("1")]);
    app.clock.advance(60);
    await reportServer(org, "prod", ["db"]);
    const answer = await download(org);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": expect.stringContaining('filename="prod-auditlog.csv"'),
      "x-content-type-options": "nosniff",
    });
    const time = async (index: string) =>
      new Date((await getSnapshot(org, "prod", index)).timestamp * 1000).toISOString();
    const built = `unknown,unknown,web-ci; promote,run-1,${commitOf("1")}`;
    const page = `http://waybill.test/${org.name}/environments/prod/snapshots`;
    const second = await time("2");
    expect(answer.text.split("\r\n")).toEqual([
      headings,
      `${await time("1")},prod,1,started-unknown,1 instance started running (from 0 to 1),web,${webOf("1")},${built},${page}/1`,
      `${second},prod,2,started-unknown,1 instance started running (from 0 to 1),db,${fingerprintOf("db")},unknown,unknown,,,,${page}/2`,
      `${second},prod,2,exited,1 instance stopped running (from 1 to 0),web,${webOf("1")},${built},${page}/2`,
      "",
    ]);
  });

  it("has headings alone where nothing happened", async () => {
    const org = await orgWith("prod");
    expect((await download(org)).text).toBe(`${headings}\r\n`);
  });

  it("runs nothing in a spreadsheet, and keeps quotes, commas and lines in their cells", async () => {
    const org = await orgWith("prod");
    await reportServer(org, "prod", [
      '=HYPERLINK("http://x","y")',
      "+1",
      "-1",
      "@SUM(A1)",
      'a "b", c',
      "two\nlines",
    ]);
    const { text } = await download(org);
    for (const cell of [
      `"'=HYPERLINK(""http://x"",""y"")"`,
      `"'+1"`,
      `"'-1"`,
      `"'@SUM(A1)"`,
      '"a ""b"", c"',
      '"two\nlines"',
    ])
      expect(text).toContain(`(from 0 to 1),${cell},`);
  });

  it("can be of some kinds, flows and repos", async () => {
    const org = await orgWith("prod");
    await buildWeb(org, "1", { repo_info: repoInfo("shop/web") });
    await buildWeb(org, "2", { repo_info: repoInfo("shop/api") }, "api-ci");
    await reportServer(org, "prod", [runningWeb("1", "web"), runningWeb("2", "api"), "db"]);
    await buildWeb(org, "1", {}, "promote");
    await reportServer(org, "prod", [runningWeb("1", "web"), "db"]);
    const started = ["1 started-unknown api", "1 started-unknown db", "1 started-unknown web"];
    const [changed, exited] = [["2 updated-provenance web"], ["2 exited api"]];
    const [web, api, database] = [
      ["1 started-unknown web", ...changed],
      ["1 started-unknown api", ...exited],
      ["1 started-unknown db"],
    ];
    const cases: [Record<string, string>, string[]][] = [
      [{}, [...started, ...changed, ...exited]],
      [{ event_types: "", flow_names: "", repo_names: "" }, [...started, ...changed, ...exited]],
      [{ event_types: "started" }, started],
      [{ event_types: "changed, exited" }, [...changed, ...exited]],
      [{ flow_names: "web-ci" }, web],
      [{ flow_names: "promote" }, changed],
      [{ flow_names: "no provenance" }, database],
      [{ flow_names: "api-ci,no provenance" }, [...api.slice(0, 1), ...database, ...exited]],
      [{ flow_names: "nothing-like-it" }, []],
      [{ repo_names: "shop/api" }, api],
      [{ repo_names: "shop/api,shop/web", event_types: "exited" }, exited],
    ];
    for (const [query, expected] of cases)
      expect([query, (await lines(org, query)).toSorted()]).toEqual([query, expected.toSorted()]);
  });

  it("finds renamed flows by both names", async () => {
    const org = await orgWith("prod");
    await buildWeb(org, "1");
    await reportServer(org, "prod", [runningWeb("1"), "db"]);
    await org.member.put(`/flows/${org.name}/web-ci/rename`, { new_name: "web-build" });
    for (const flow_names of ["web-ci", "web-build"])
      expect(await lines(org, { flow_names })).toEqual(["1 started-unknown web"]);
  });

  it("can be of a time, ends included", async () => {
    const org = await orgWith("prod");
    for (const name of ["a", "b", "c"]) {
      await reportServer(org, "prod", [name]);
      app.clock.advance(60);
    }
    const at = String((await getSnapshot(org, "prod", "2")).timestamp);
    const second = ["2 started-unknown b", "2 exited a"];
    expect(await lines(org, { from_timestamp: at, to_timestamp: at })).toEqual(second);
    expect(await lines(org, { to_timestamp: at })).toEqual(["1 started-unknown a", ...second]);
    expect(await lines(org, { from_timestamp: at })).toEqual([
      ...second,
      "3 started-unknown c",
      "3 exited b",
    ]);
    expect(await lines(org, { from_timestamp: "9999999999" })).toEqual([]);
    expect(await lines(org, { from_timestamp: at, to_timestamp: "1" })).toEqual([]);
  });

  it("is read in parts that neither repeat nor skip", async () => {
    const org = await orgWith("prod");
    const names = Array.from({ length: 600 }, (_, index) => `a${index}`);
    await reportServer(org, "prod", names);
    await reportServer(org, "prod", []);
    const all = await lines(org);
    expect([all.length, new Set(all).size]).toEqual([1200, 1200]);
    expect(all.slice(600).every((line) => line.startsWith("2 exited "))).toBe(true);
  });

  it("says what is wrong", async () => {
    const org = await orgWith("prod");
    const unknown = await download(org, {}, "nowhere");
    expect([unknown.status, unknown.json]).toEqual([
      404,
      { message: `Environment named 'nowhere' does not exist for organization '${org.name}'` },
    ]);
    const repo = await download(org, { repo_names: "shop/none" });
    expect([repo.status, repo.json]).toEqual([404, { message: "Repo 'shop/none' not found" }]);
    const kind = await download(org, { event_types: "started,scaled" });
    expect([kind.status, kind.json.errors]).toEqual([
      400,
      { "query.event_types": "Input should be 'started', 'exited' or 'changed' [input: started,scaled]" },
    ]);
    expect((await download(org, { from_timestamp: "soon" })).status).toBe(400);
  });
});
