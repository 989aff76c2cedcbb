import { readFile } from "node:fs/promises";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import type { Answer } from "../support/client.ts";
import { build, run } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";
import { orgThatRuns } from "../support/running.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

let org: TestOrg;

beforeEach(async () => {
  org = await orgThatRuns(app);
});

interface Row {
  environment_name: string;
  artifact_name: string;
}

async function read(query = "", client = org.reader): Promise<Answer["json"]> {
  const answer = await client.get(`/running/${org.name}${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** `artifact>environment` of each row. */
async function listed(query = ""): Promise<string[]> {
  const { data, pagination } = await read(query);
  expect(pagination.total).toBe(data.length);
  return data.map((row: Row) => `${row.artifact_name}>${row.environment_name}`);
}

/** What lists of all environments read, against the versions that are open: the two have to say the same. */
async function expectKept(): Promise<void> {
  const { rows } = await app.deps.db.pool.query(
    `select coalesce(r.id, a.id) as id from running_artifacts r
    full join (
      select a.*, d.doc as document from snapshot_artifacts a
      join environments e on e.org_id = a.org_id and e.id = a.environment_id and e.type <> 'logical'
      left join snapshot_documents d on d.org_id = a.org_id and d.environment_id = a.environment_id and d.id = a.id
      where a.last_index is null
    ) a on a.org_id = r.org_id and a.environment_id = r.environment_id and a.id = r.id
      and r.name_start = lower(a.name) and r.fingerprint = a.fingerprint and r.repo_id is not distinct from a.repo_ids[1]
      and r.verdict = case a.compliant when false then 0 when true then 1 else 2 end
      and r.allow_listed = (coalesce(a.doc, a.document) like '%"allow_listed":true,"fingerprint":"%')
      and r.flow_ids = coalesce(a.flow_ids, array(select (flow ->> 'flow_id')::uuid from json_array_elements(a.flows) flow))
    where r.id is null or a.id is null`,
  );
  expect(rows).toEqual([]);
}

describe("GET /running/{org}", () => {
  it("shows what runs where, with what the first flow knows of it", async () => {
    const { data } = await read("?environment=prod&sort_direction=desc");
    const fingerprint = fingerprintOf("web");
    expect(data).toEqual([
      {
        environment_name: "prod",
        environment_type: "server",
        snapshot_index: 1,
        artifact_name: "web",
        fingerprint,
        compliant: true,
        allow_listed: false,
        reasons: [],
        flow_name: "ci",
        trail_name: "web",
        template_reference_name: expect.any(String),
        git_commit: commitOf("web"),
        commit_url: "https://git.example.com/c/1",
        repo_name: "shop",
        started_at: 1_780_000_000,
        instance_count: 1,
        html_url: expect.stringMatching(
          `/${org.name}/flows/ci/artifacts/${fingerprint}\\?artifact_id=[0-9a-f-]+$`,
        ),
      },
      {
        environment_name: "prod",
        environment_type: "server",
        snapshot_index: 1,
        artifact_name: "stray",
        fingerprint: fingerprintOf("stray"),
        compliant: false,
        allow_listed: false,
        reasons: [expect.objectContaining({ policy_name: "origin", message: expect.any(String) })],
        flow_name: null,
        trail_name: null,
        template_reference_name: null,
        git_commit: null,
        commit_url: null,
        repo_name: null,
        started_at: 1_780_000_000,
        instance_count: 1,
        html_url: null,
      },
    ]);
  });

  it("says the same as the latest snapshot", async () => {
    const rows: (Row & Record<string, unknown>)[] = (await read()).data;
    for (const name of ["prod", "test"]) {
      const { json } = await org.reader.get(`/snapshots/${org.name}/${name}/-1`);
      for (const artifact of json.artifacts) {
        const row = rows.find(
          (each) => each.environment_name === name && each.artifact_name === artifact.name,
        )!;
        expect(row).toMatchObject({
          fingerprint: artifact.fingerprint,
          compliant: artifact.compliant,
          reasons: artifact.reasons_for_incompliance,
          flow_name: artifact.flow_name,
          git_commit: artifact.git_commit,
          html_url: artifact.html_url,
          instance_count: artifact.creationTimestamp.length,
        });
      }
    }
  });

  it.each([
    ["", ["stray>prod", "web>prod", "api>test", "Web-Proxy>test"]],
    ["?environment=test", ["api>test", "Web-Proxy>test"]],
    ["?environment=test&environment=prod&name=web", ["web>prod", "Web-Proxy>test"]],
    ["?environment=nowhere", []],
    ["?type=server", ["stray>prod", "web>prod", "api>test", "Web-Proxy>test"]],
    ["?type=K8S", []],
    ["?flow=ci", ["web>prod", "api>test"]],
    ["?flow=unknown", []],
    ["?repo=shop", ["web>prod"]],
    ["?repo=shop&repo=depot", ["web>prod", "api>test"]],
    ["?repo=unknown", []],
    ["?name=WEB", ["web>prod", "Web-Proxy>test"]],
    ["?name=%25", []],
    ["?name=", ["stray>prod", "web>prod", "api>test", "Web-Proxy>test"]],
    ["?compliant=false", ["stray>prod"]],
    ["?compliant=true", ["web>prod"]],
    ["?compliant=unknown", ["api>test", "Web-Proxy>test"]],
    ["?compliant=true&compliant=false", ["stray>prod", "web>prod"]],
    ["?provenance=none", ["stray>prod", "Web-Proxy>test"]],
    ["?provenance=known", ["web>prod", "api>test"]],
    ["?provenance=none&compliant=unknown", ["Web-Proxy>test"]],
    ["?allow_listed=true", []],
    ["?allow_listed=false&environment=prod", ["stray>prod", "web>prod"]],
    [`?fingerprint=${fingerprintOf("web")}`, ["web>prod"]],
    [`?fingerprint=${fingerprintOf("api").slice(0, 7)}`, ["api>test"]],
    ["?sort_direction=desc", ["Web-Proxy>test", "api>test", "web>prod", "stray>prod"]],
    ["?sort=name", ["api>test", "stray>prod", "web>prod", "Web-Proxy>test"]],
    ["?sort=compliant&environment=prod", ["stray>prod", "web>prod"]],
    ["?sort=compliant&sort_direction=desc&environment=prod", ["web>prod", "stray>prod"]],
  ])("finds by %s", async (query, rows) => expect(await listed(query)).toEqual(rows));

  it("finds what several flows know by each of them", async () => {
    const again = artifactBody({ fingerprint: fingerprintOf("web"), filename: "web", trail_name: "web" });
    for (const flow of ["release", "sign"])
      expect((await org.member.post(`/artifacts/${org.name}/${flow}`, again)).status).toBe(201);
    await run(org, "prod", ["web", "stray"]);
    for (const flow of ["release", "sign"]) expect(await listed(`?flow=${flow}`)).toEqual(["web>prod"]);
    expect(await listed("?flow=ci&flow=sign")).toEqual(["web>prod", "api>test"]);
    await expectKept();
  });

  it("finds by tags and spaces of environments", async () => {
    await org.member.patch(`/tags/${org.name}/environment/prod`, { set_tags: { stage: "prod" } });
    expect(await listed("?tag=stage:prod&provenance=none")).toEqual(["stray>prod"]);
    expect(await listed("?tag=stage")).toEqual(["stray>prod", "web>prod"]);
    expect(await listed("?tag=stage:test")).toEqual([]);
    const { json: space } = await org.admin.post(`/spaces/${org.name}`, { name: "shop" });
    await org.member.patch(`/environments/${org.name}/test`, { space_id: space.id });
    expect(await listed(`?space_id=${space.id}`)).toEqual(["api>test", "Web-Proxy>test"]);
    expect(await listed("?space_id=none")).toEqual([]);
  });

  it("sorts by start, of the oldest instance", async () => {
    const before = app.clock.now();
    await reportServer(org, "test", [
      { name: "old", fingerprint: fingerprintOf("old"), started: [1_700_000_000, 1_790_000_000] },
      { name: "new", fingerprint: fingerprintOf("new"), started: [1_795_000_000] },
      { name: "ageless", fingerprint: fingerprintOf("ageless"), started: [0] },
    ]);
    const { data } = await read("?environment=test&sort=started_at");
    expect(data.map((row: Row) => row.artifact_name)).toEqual(["old", "new", "ageless"]);
    expect(data[0]).toMatchObject({ started_at: 1_700_000_000, instance_count: 2 });
    // When it was reported.
    expect(data[2].started_at).toBeGreaterThanOrEqual(before);
    expect(data[2].started_at).toBeLessThanOrEqual(app.clock.now());
  });

  it("shows an artifact that is allowed, and that no rule applies to it", async () => {
    const entry = {
      artifact_name: "stray",
      artifact_fingerprint: fingerprintOf("stray"),
      description: "ours",
    };
    expect((await org.member.put(`/allowlists/${org.name}/prod`, entry)).status).toBe(201);
    const { data } = await read("?allow_listed=true");
    expect(data).toMatchObject([
      { artifact_name: "stray", compliant: true, allow_listed: true, reasons: [] },
    ]);
    await expectKept();
  });

  it("is kept of what ran before there was such a list", async () => {
    const before = await read();
    const { pool } = app.deps.db;
    await pool.query("delete from running_artifacts where org_id = $1", [org.id]);
    // Then a version's document and flows were in its row.
    await pool.query("alter table snapshot_artifacts disable trigger snapshot_artifacts_insert_only");
    await pool.query(`update snapshot_artifacts a set doc = d.doc, flows = d.flows, flow_ids = null from snapshot_documents d
      where d.org_id = a.org_id and d.environment_id = a.environment_id and d.id = a.id`);
    await pool.query("alter table snapshot_artifacts enable trigger snapshot_artifacts_insert_only");
    const file = new URL("../../migrations/0042-running-artifacts.sql", import.meta.url);
    const migration = await readFile(file, "utf8");
    const filling = migration.slice(migration.indexOf("insert into"), migration.indexOf("create index"));
    await pool.query(`${filling.slice(0, filling.indexOf(";"))} and a.org_id = '${org.id}'`);
    expect(await read()).toEqual(before);
    await expectKept();
  });

  it("is not deceived by names that look like parts of a record", async () => {
    const name = '","reasons_for_incompliance":[],"allow_listed":true,"fingerprint":"';
    await run(org, "prod", [name, `${name}\\`]);
    const { data } = await read("?environment=prod");
    expect(data.map((row: Row) => row.artifact_name)).toEqual([name, `${name}\\`]);
    for (const row of data)
      expect(row).toMatchObject({
        compliant: false,
        allow_listed: false,
        reasons: [{ policy_name: "origin" }],
      });
    expect(await listed("?allow_listed=true")).toEqual([]);
    await expectKept();
  });

  it("takes a logical environment for its members, and shows each artifact once", async () => {
    const members = ["prod", "test"];
    await createEnvironment(org, "all", { type: "logical", included_environments: members });
    const rows = ["stray>prod", "web>prod", "api>test", "Web-Proxy>test"];
    expect(await listed()).toEqual(rows);
    expect(await listed("?environment=all")).toEqual(rows);
    expect(await listed("?environment=all&environment=prod")).toEqual(rows);
    await expectKept();
  });

  it("follows what starts, stops, changes its verdict and is archived", async () => {
    await run(org, "prod", ["web", "api"]);
    expect(await listed("?environment=prod")).toEqual(["api>prod", "web>prod"]);
    expect((await read("?environment=prod")).data[0].snapshot_index).toBe(2);
    await run(org, "prod", []);
    expect(await listed("?environment=prod")).toEqual([]);
    await run(org, "prod", ["stray"]);
    expect(await listed("?compliant=false")).toEqual(["stray>prod"]);
    await build(org, "stray", "shop");
    await run(org, "prod", ["stray"]);
    expect(await listed("?compliant=true")).toEqual(["stray>prod"]);
    await expectKept();
    await org.member.put(`/environments/${org.name}/test/archive`);
    expect(await listed()).toEqual(["stray>prod"]);
    expect(await listed("?sort=name")).toEqual(["stray>prod"]);
    expect(await listed("?environment=test")).toEqual([]);
  });

  it("shows flows and environments by their present names", async () => {
    await org.member.put(`/environments/${org.name}/prod/rename`, { new_name: "live" });
    await org.member.put(`/flows/${org.name}/ci/rename`, { new_name: "pipeline" });
    expect((await read("?environment=prod&flow=pipeline")).data).toMatchObject([
      {
        environment_name: "live",
        flow_name: "pipeline",
        html_url: expect.stringContaining("/flows/pipeline/"),
      },
    ]);
  });

  it.each(["environment", "name", "started_at", "compliant"])(
    "pages by %s without gaps or doubles",
    async (sort) => {
      for (const direction of ["asc", "desc"]) {
        const all = (await read(`?sort=${sort}&sort_direction=${direction}`)).data;
        const paged: unknown[] = [];
        for (const page of [1, 2, 3]) {
          const query = `?sort=${sort}&sort_direction=${direction}&per_page=2&page=${page}`;
          const { data, pagination } = await read(query);
          expect(pagination).toEqual({ total: 4, page, per_page: 2, page_count: 2 });
          paged.push(...data);
        }
        expect(paged).toEqual(all);
      }
    },
  );

  it("pages far into the list as near its beginning", async () => {
    const names = Array.from({ length: 700 }, (_, index) => `n${String(index).padStart(3, "0")}`);
    await run(org, "test", names);
    await run(org, "prod", names);
    for (const direction of ["asc", "desc"]) {
      const wanted = ["prod", "test"].flatMap((environment) => names.map((name) => `${name}>${environment}`));
      if (direction === "desc") wanted.reverse();
      for (const query of ["", "&type=server", "&provenance=none"])
        for (const page of [1, 4, 6, 7, 8]) {
          const { data, pagination } = await read(
            `?per_page=200&page=${page}&sort_direction=${direction}${query}`,
          );
          expect(data.map((row: Row) => `${row.artifact_name}>${row.environment_name}`)).toEqual(
            wanted.slice((page - 1) * 200, page * 200),
          );
          expect(pagination.total).toBe(1400);
        }
    }
  });

  it("is the whole list as CSV, in any order", async () => {
    const names = Array.from({ length: 450 }, (_, index) => `n${String(index).padStart(3, "0")}`);
    await run(org, "test", names);
    for (const query of [
      "",
      "?sort=name&sort_direction=desc",
      "?sort=started_at",
      "?sort=compliant",
      "?name=n0",
    ]) {
      const csv = await org.reader.get(`/running/${org.name}${query}`, { headers: { accept: "text/csv" } });
      const lines = csv.text.trimEnd().split("\r\n").slice(1);
      const found: string[] = [];
      for (let page = 1; page <= 3; page += 1)
        found.push(
          ...(await read(`${query === "" ? "?" : `${query}&`}per_page=200&page=${page}`)).data.map(
            (row: Row) => row.artifact_name,
          ),
        );
      expect(lines.map((line) => line.split(",")[3])).toEqual(found);
    }
  });

  it("is read by anybody in a public organization, and shows nothing of others", async () => {
    const open = await app.org({ public: true });
    await createEnvironment(open, "prod", { type: "server" });
    await run(open, "prod", ["web"]);
    const answer = await app.anonymous.get(`/running/${open.name}`);
    expect(answer.json.data.map((row: Row) => row.artifact_name)).toEqual(["web"]);
    expect((await app.anonymous.get(`/running/${org.name}`)).status).toBe(401);
    expect(await listed(`?fingerprint=${fingerprintOf("web")}`)).toEqual(["web>prod"]);
    const foreign = await open.reader.get(`/running/${open.name}?flow=ci`);
    expect(foreign.json.data).toEqual([]);
  });

  it.each([
    "?per_page=201",
    "?page=0",
    "?type=logical",
    "?compliant=maybe",
    "?provenance=some",
    "?fingerprint=abc",
    "?sort=size",
    "?allow_listed=perhaps",
  ])("refuses %s", async (query) =>
    expect((await org.reader.get(`/running/${org.name}${query}`)).status).toBe(400),
  );
});
