import { readFile } from "node:fs/promises";

import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";

import { nullable, text, texts, timestamp } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { mostSearched } from "../../src/modules/process/trails/search-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const template = `version: 1
trail:
  attestations: [{name: review, type: generic}]
  artifacts:
    - name: "2"
      attestations: [{name: scan, type: generic}, {name: unit, type: generic}]
    - name: "1"
`;

async function begin(path: string, more: Record<string, unknown> = {}): Promise<void> {
  const [flow, name] = path.split("/") as [string, string];
  expect((await putTrail(org.member, `${org.name}/${flow}`, { name, ...more })).status).toBe(201);
}

async function report(
  path: string,
  attestation_name: string,
  is_compliant = true,
  artifact_fingerprint?: string,
): Promise<void> {
  const [flow, trail] = path.split("/") as [string, string];
  const body = {
    attestation_name,
    is_compliant,
    ...(artifact_fingerprint === undefined ? {} : { artifact_fingerprint }),
  };
  expect((await attest(org.member, { org: org.name, flow, trail }, "generic", body)).status).toBe(201);
}

async function build(path: string, template_reference_name: string): Promise<string> {
  const [flow, trail_name] = path.split("/") as [string, string];
  const fingerprint = fingerprintOf(`${path} ${template_reference_name}`);
  const body = artifactBody({ trail_name, template_reference_name, fingerprint });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
  return fingerprint;
}

/** Trails of `web` in every state: `done` complies, `bad` fails, `open` lacks something, `new` everything. */
async function everyState(): Promise<void> {
  await putFlow(org.member, org.name, { name: "web" }, template);
  for (const name of ["done", "bad", "open", "new"]) {
    await begin(`web/${name}`, { git_commit_info: commitInfo(commitOf(name)) });
    if (name === "new") continue;
    const artifact = await build(`web/${name}`, "2");
    await build(`web/${name}`, "1");
    await report(`web/${name}`, "review", name !== "bad");
    await report(`web/${name}`, "scan", true, artifact);
    if (name !== "open") await report(`web/${name}`, "unit", true, artifact);
  }
}

async function found(path: string): Promise<string[]> {
  const answer = await org.reader.get(`/trails/${org.name}${path}`);
  expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
  return answer.json.data.map(({ name }: { name: string }) => name);
}

describe.each(["/web", ""])("searching GET /trails/{org}%s", (path) => {
  it("finds trails by their state, and by what is missing and failing", async () => {
    await everyState();
    const cases: [string, string[]][] = [
      ["state=COMPLIANT", ["done"]],
      ["state=NON-COMPLIANT", ["bad"]],
      ["state=INCOMPLETE", ["new", "open"]],
      ["state=INCOMPLETE&state=NON-COMPLIANT", ["new", "open", "bad"]],
      ["missing=unit", ["new", "open"]],
      ["missing=scan", ["new"]],
      ["missing=review", ["new"]],
      ["missing=nothing", []],
      ["missing=", []],
      ["failing=review", ["bad"]],
      ["failing=unit", []],
      ["failing=review&state=COMPLIANT", []],
    ];
    for (const [asked, names] of cases) expect(await found(`${path}?${asked}`), asked).toEqual(names);
  });

  it("finds trails by a part of the name in any case, and by the beginning of the commit", async () => {
    await begin("web/Release-7_1", { git_commit_info: commitInfo(commitOf("one")) });
    await begin("web/release-8", { git_commit_info: commitInfo(commitOf("two")) });
    await begin("web/abcd");
    const cases: [string, string[]][] = [
      ["RELEASE", ["release-8", "Release-7_1"]],
      ["7_1", ["Release-7_1"]],
      ["7%251", []],
      ["lease-8", ["release-8"]],
      ["", ["abcd", "release-8", "Release-7_1"]],
      [commitOf("one"), ["Release-7_1"]],
      [commitOf("one").slice(0, 6).toUpperCase(), ["Release-7_1"]],
      [commitOf("one").slice(0, 3), []],
      ["abcd", ["abcd"]],
    ];
    for (const [asked, names] of cases) expect(await found(`${path}?search=${asked}`), asked).toEqual(names);
  });

  it("finds trails by repo", async () => {
    await begin("web/a", { repo_info: repoInfo("team/shop") });
    await begin("web/b", { repo_info: repoInfo("team/other") });
    await begin("web/c");
    expect(await found(`${path}?repo=team/shop`)).toEqual(["a"]);
    expect(await found(`${path}?repo=nobody`)).toEqual([]);
    expect(await found(`${path}?repo=`)).toEqual([]);
  });

  it("finds trails by when they began, both ends included", async () => {
    await begin("web/a");
    await begin("web/b");
    await begin("web/c");
    const { json } = await org.reader.get(`/trails/${org.name}/web?per_page=3`);
    const [c, b, a] = json.data.map(({ created_at }: { created_at: number }) => created_at);
    expect(await found(`${path}?start_ts=${b}`)).toEqual(["c", "b"]);
    expect(await found(`${path}?end_ts=${b}`)).toEqual(["b", "a"]);
    expect(await found(`${path}?start_ts=${a}&end_ts=${c}`)).toEqual(["c", "b", "a"]);
    expect(await found(`${path}?start_ts=${c + 1}`)).toEqual([]);
  });

  it("is a page, counts what it found, and says how far it looked", async () => {
    await everyState();
    const { json } = await org.reader.get(`/trails/${org.name}${path}?missing=unit&per_page=1&page=2`);
    const oldest = (await org.reader.get(`/trails/${org.name}/web`)).json.at(-1);
    expect(json.data.map(({ name }: { name: string }) => name)).toEqual(["open"]);
    expect(json.pagination).toEqual({ total: 2, page: 2, per_page: 1, page_count: 2 });
    expect([json.truncated, json.searched_since]).toEqual([false, oldest.created_at]);
    // Each trail is shown as in the list that is not searched.
    const all = await org.reader.get(`/trails/${org.name}/web`);
    expect(json.data[0]).toEqual(all.json.find(({ name }: { name: string }) => name === "open"));
    const past = await org.reader.get(`/trails/${org.name}${path}?missing=unit&page=99`);
    expect([past.json.data, past.json.pagination.total]).toEqual([[], 2]);
  });

  it.each(["state=GREEN", "start_ts=x", "include=all", "start_ts=2&end_ts=1", "state=", "page=0&search=a"])(
    "refuses %s",
    async (asked) => {
      await begin("web/a");
      expect((await org.reader.get(`/trails/${org.name}${path}?${asked}`)).status).toBe(400);
    },
  );

  it("shows nobody else's trails", async () => {
    await everyState();
    const other = await app.org();
    await putTrail(other.member, `${other.name}/web`, { name: "theirs" });
    for (const asked of ["search=", "include=matrix", "state=INCOMPLETE"]) {
      const { json } = await other.reader.get(`/trails/${other.name}${path}?${asked}`);
      const names = json.data.map(({ name }: { name: string }) => name);
      expect(names).toEqual(asked === "state=INCOMPLETE" ? [] : ["theirs"]);
    }
  });
});

describe("searching across flows", () => {
  it("goes together with the other filters, and leaves archived flows out unless they are asked for", async () => {
    await begin("web/a");
    await begin("api/b");
    await begin("old/c");
    const fingerprint = await build("api/b", "x");
    await app.deps.db.pool.query(
      `update flows set tags = '{"team": "shop"}' where org_id = $1 and name = 'web'`,
      [org.id],
    );
    await org.member.put(`/flows/${org.name}/old/archive`);
    expect(await found("?search=")).toEqual(["b", "a"]);
    expect(await found("?search=&flow=web")).toEqual(["a"]);
    expect(await found("?search=&flow=nope")).toEqual([]);
    expect(await found("?search=&flow_tag=team=shop")).toEqual(["a"]);
    expect(await found("?search=&flow_tag=team")).toEqual(["a"]);
    expect(await found(`?search=b&fingerprint=${fingerprint.slice(0, 8)}`)).toEqual(["b"]);
    expect(await found(`?search=a&fingerprint=${fingerprint}`)).toEqual([]);
    const [archived] = (
      await app.deps.db.all(query({ name: text })`
        select name from flows where org_id = ${org.id} and archived_at is not null`)
    ).map(({ name }) => name);
    expect(await found(`?search=&flow=${archived}`)).toEqual(["c"]);
  });
});

describe("include=matrix", () => {
  it("shows what became of each attestation in the template's order, and little else", async () => {
    await everyState();
    await report("web/bad", "extra");
    const { json } = await org.reader.get(`/trails/${org.name}/web?include=matrix&search=bad`);
    const full = (await org.reader.get(`/trails/${org.name}/web/bad`)).json;
    const ids = full.compliance_status;
    const cell = (of: { attestation_name: string; attestation_id: string; is_compliant: boolean }) => ({
      attestation_name: of.attestation_name,
      attestation_id: of.attestation_id,
      status: "COMPLETE",
      is_compliant: of.is_compliant,
    });
    const { "2": two, "1": one } = ids.artifacts_statuses;
    expect(json.data).toEqual([
      {
        name: "bad",
        flow_name: "web",
        git_commit_info: full.git_commit_info,
        created_at: full.created_at,
        last_modified_at: full.last_modified_at,
        compliance_state: "NON-COMPLIANT",
        compliance_status: {
          attestations_statuses: [
            cell(ids.attestations_statuses[0]),
            { ...cell(ids.attestations_statuses[1]), unexpected: true },
          ],
          artifacts_statuses: {
            "2": {
              artifact_fingerprint: two.artifact_fingerprint,
              status: "COMPLIANT",
              attestations_statuses: two.attestations_statuses.map(cell),
            },
            "1": {
              artifact_fingerprint: one.artifact_fingerprint,
              status: "COMPLIANT",
              attestations_statuses: [],
            },
          },
        },
        html_url: full.html_url,
      },
    ]);
    const { text: written } = await org.reader.get(`/trails/${org.name}/web?include=matrix&search=bad`);
    expect(written.indexOf('"2":{')).toBeLessThan(written.indexOf('"1":{'));
    const fresh = (await org.reader.get(`/trails/${org.name}/web?include=matrix&search=new`)).json.data[0];
    expect(fresh.compliance_status).toEqual({
      attestations_statuses: [{ attestation_name: "review", status: "MISSING" }],
      artifacts_statuses: {
        "2": {
          status: "MISSING",
          attestations_statuses: [
            { attestation_name: "scan", status: "MISSING" },
            { attestation_name: "unit", status: "MISSING" },
          ],
        },
        "1": { status: "MISSING", attestations_statuses: [] },
      },
    });
  });

  it("names what an override replaced", async () => {
    await everyState();
    const answer = await attest(org.member, { org: org.name, flow: "web", trail: "bad" }, "override", {
      attestation_name: "review",
      reason: "seen",
      new_compliance_status: true,
      original_attestation_type: "generic",
    });
    expect(answer.status).toBe(200);
    const full = (await org.reader.get(`/trails/${org.name}/web/bad`)).json.compliance_status;
    expect(full.attestations_statuses[0].overridden_attestation_id).toEqual(expect.any(String));
    const { json } = await org.reader.get(`/trails/${org.name}?include=matrix&search=bad`);
    expect(json.data[0].compliance_status.attestations_statuses[0].overridden_attestation_id).toBe(
      full.attestations_statuses[0].overridden_attestation_id,
    );
    expect(await found("/web?failing=review")).toEqual([]);
  });

  it("shows the first line of a message, and trails without a commit", async () => {
    const message = `${"m".repeat(300)}\nmore`;
    await begin("web/a", { git_commit_info: { ...commitInfo(commitOf("a")), message } });
    await begin("web/b");
    const { json } = await org.reader.get(`/trails/${org.name}/web?include=matrix`);
    expect(
      json.data.map((row: { git_commit_info: { message: string } | null }) => row.git_commit_info),
    ).toEqual([null, { ...json.data[1].git_commit_info, message: "m".repeat(200) }]);
  });

  it("takes few statements, and few bytes for a large page", async () => {
    const names = Array.from({ length: 30 }, (_, index) => `attestation-${index}`);
    const wide = `version: 1\ntrail:\n  attestations:\n${names.map((name) => `    - {name: ${name}, type: generic}\n`).join("")}`;
    await putFlow(org.member, org.name, { name: "web" }, wide);
    for (let index = 0; index < 20; index += 1)
      await begin(`web/t${index}`, { user_data: { x: "y".repeat(999) } });
    const path = `/trails/${org.name}/web?include=matrix&per_page=50`;
    let size = 0;
    const texts = await statementsOf(app, async () => {
      size = (await org.reader.get(path)).text.length;
    });
    expect(texts.filter((statement) => !statement.includes("api_keys")).length).toBeLessThanOrEqual(3);
    expect(size).toBeLessThan(20 * 30 * 75);
  });
});

describe("what searches are answered from", () => {
  const outcome = {
    trail: text,
    state: text,
    reported: texts,
    failing: texts,
    missing: texts,
    since: nullable(timestamp),
  };
  const outcomes = () =>
    app.deps.db.all(query(outcome)`
      select t.name as trail, o.state, o.compliant_since as since,
        array(select unnest(o.reported_names) order by 1) as reported,
        array(select unnest(o.failing_names) order by 1) as failing,
        array(select unnest(o.missing_names) order by 1) as missing
      from trail_outcomes o join trails t on t.org_id = o.org_id and t.id = o.trail_id
      where o.org_id = ${org.id} order by t.name`);

  it("follows every report, and keeps since when a trail complies", async () => {
    await everyState();
    const rows = Object.fromEntries((await outcomes()).map((row) => [row.trail, row]));
    const all = ["review", "scan", "unit"];
    const none = { failing: [], missing: [], reported: [] };
    expect(rows["done"]).toMatchObject({ ...none, state: "COMPLIANT", reported: all });
    expect(rows["bad"]).toMatchObject({ ...none, reported: all, failing: ["review"], since: null });
    expect(rows["open"]).toMatchObject({ ...none, reported: ["review", "scan"], missing: ["unit"] });
    expect(rows["new"]).toMatchObject({ ...none, state: "INCOMPLETE", missing: all });
    const since = rows["done"]!.since;
    expect(since).toBe((await org.reader.get(`/trails/${org.name}/web/done`)).json.last_modified_at);
    const later = async () => (await outcomes()).find(({ trail }) => trail === "done")!.since;
    app.clock.advance(60);
    await report("web/done", "review");
    expect(await later()).toBe(since);
    await report("web/done", "review", false);
    expect(await later()).toBeNull();
    app.clock.advance(60);
    await report("web/done", "review");
    expect(await later()).toBeGreaterThan(since! + 100);
  });

  // Migrations of before there was `waybill admin distribute` run before it.
  it.skipIf(inject("cluster"))("is made for trails that were judged before there was any of it", async () => {
    await everyState();
    const before = await outcomes();
    const { pool } = app.deps.db;
    await pool.query("delete from trail_outcomes");
    const migration = await readFile(
      new URL("../../migrations/0049-trail-outcomes.sql", import.meta.url),
      "utf8",
    );
    await pool.query(migration.slice(migration.indexOf("insert into trail_outcomes")));
    expect(await outcomes()).toEqual(before);
  });

  it("looks at the newest trails and says when there are more", { timeout: 60_000 }, async () => {
    await putFlow(org.member, org.name, { name: "web" }, template);
    await begin("web/oldest");
    const { pool } = app.deps.db;
    // Copies of that trail, a second apart and after it.
    const copies = `select gen_random_uuid() as id, n from generate_series(1, ${mostSearched}) as n`;
    await pool.query(
      `with copies as (${copies}), made as (
         insert into trails (org_id, id, flow_id, name, template, template_id, created_at, created_by_name,
           last_modified_at)
         select t.org_id, c.id, t.flow_id, 'copy-' || c.n, t.template, t.template_id, t.created_at + c.n * interval '1 s',
           t.created_by_name, t.last_modified_at
         from trails t cross join copies c where t.org_id = $1), judged as (
         insert into trail_compliance (org_id, trail_id, state, own_state, artifact_states, status)
         select v.org_id, c.id, v.state, v.own_state, v.artifact_states, v.status
         from trail_compliance v cross join copies c where v.org_id = $1)
       insert into trail_outcomes select o.org_id, c.id, o.state, o.compliant_since, o.reported_names, o.failing_names,
         o.missing_names from trail_outcomes o cross join copies c where o.org_id = $1`,
      [org.id],
    );
    const oldest = (await org.reader.get(`/trails/${org.name}/web/oldest`)).json.created_at;
    for (const path of ["/web", ""]) {
      const { json } = await org.reader.get(`/trails/${org.name}${path}?missing=unit&per_page=1`);
      expect(json.pagination.total).toBe(mostSearched);
      expect([json.truncated, json.searched_since]).toEqual([true, oldest + 1]);
      expect(await found(`${path}?search=oldest`)).toEqual([]);
      // Older ones are found from there on.
      const further = await org.reader.get(
        `/trails/${org.name}${path}?search=oldest&end_ts=${json.searched_since}`,
      );
      expect(further.json).toMatchObject({ data: [{ name: "oldest" }], truncated: false });
      // A file has them all, each once.
      const accept = { headers: { accept: "text/csv" } };
      const csv = await org.reader.get(`/trails/${org.name}${path}?search=oldest`, accept);
      expect(csv.text.split("\r\n")).toHaveLength(3);
      const all = await org.reader.get(`/trails/${org.name}${path}?missing=unit`, accept);
      expect(new Set(all.text.trimEnd().split("\r\n")).size).toBe(mostSearched + 2);
      expect(all.text.trimEnd().split("\r\n")).toHaveLength(mostSearched + 2);
    }
  });

  it("says when more artifacts begin with a fingerprint than it looks at, and has them all in a file", async () => {
    await begin("web/first");
    await build("web/first", "1");
    await begin("web/second");
    await build("web/second", "1");
    // Many builds on the second trail, and one that sorts behind them on the first.
    await app.deps.db.pool.query(
      `insert into artifacts (org_id, id, flow_id, trail_id, fingerprint, filename, template_reference_name, commit_url,
         build_url, created_at, created_by_name)
       select t.org_id, gen_random_uuid(), t.flow_id, t.id, 'abcdabcdab' || lpad(n::text, 54, case t.name when 'first' then 'f' else '0' end),
         '1', '1', '', '', t.created_at, 'Ines Falk'
       from trails t cross join generate_series(1, ${mostSearched}) n
       where t.org_id = $1 and (t.name = 'second' or n = 1)`,
      [org.id],
    );
    const read = async (digits: string) =>
      (await org.reader.get(`/trails/${org.name}?fingerprint=${digits}&search=${encodeURIComponent("s")}`))
        .json;
    expect(await read("abcdabcdab")).toMatchObject({
      data: [{ name: "second" }],
      truncated: true,
      searched_since: null,
    });
    expect(await read("abcdabcdabf")).toMatchObject({ data: [{ name: "first" }], truncated: false });
    const accept = { headers: { accept: "text/csv" } };
    const csv = await org.reader.get(`/trails/${org.name}?fingerprint=abcdabcdab&search=s`, accept);
    expect(csv.text.trimEnd().split("\r\n")).toHaveLength(3);
  });
});
