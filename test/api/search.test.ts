import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment, listedNames } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const web = fingerprintOf("web");
const commit = commitOf("web");

async function report(org: TestOrg, flow: string, more: Record<string, unknown>): Promise<void> {
  const body = artifactBody({ trail_name: "run", ...more });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

async function find(org: TestOrg, value: string) {
  const answer = await org.reader.get(`/search/${org.name}/sha/${value}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

function events(artifact: { history: { event: string }[] }): string[] {
  return artifact.history.map(({ event }) => event);
}

describe("search", () => {
  it("resolves a fingerprint or its beginning, with where it ran", async () => {
    const org = await app.org();
    await report(org, "web-ci", { fingerprint: web, git_commit: commit, filename: "web:1" });
    for (const name of ["prod", "stage"]) await createEnvironment(org, name, { type: "server" });
    await reportServer(org, "prod", ["web"]);
    await reportServer(org, "stage", ["web"]);
    await reportServer(org, "stage", []);
    for (const value of [web, web.slice(0, 5), web.slice(0, 12).toUpperCase()]) {
      const { resolved_to, artifacts } = await find(org, value);
      expect(resolved_to).toEqual({
        type: "fingerprint",
        full_match: web,
        fingerprints: { type: "fingerprint", count: 1, matches: [web] },
        commits: { type: "commit", count: 0, matches: [] },
      });
      expect(artifacts).toEqual([
        {
          fingerprint: web,
          name: "web:1",
          has_provenance: true,
          git_commit: commit,
          pipeline: "web-ci",
          flow: "web-ci",
          trail: "run",
          template_reference_name: "artifact",
          build_url: "https://ci.example.com/7",
          commit_url: "https://git.example.com/c/1",
          compliance_state: "COMPLIANT",
          running_in: ["prod"],
          exited_from: ["stage"],
          html_url: expect.stringContaining(`/${org.name}/flows/web-ci/artifacts/${web}?artifact_id=`),
          api_url: `http://waybill.test/api/v2/artifacts/${org.name}/web-ci/fingerprint/${web}`,
          history: expect.any(Array),
        },
      ]);
      expect(events(artifacts[0])).toEqual([
        "Artifact created",
        "Started running in prod#1 environment",
        "Started running in stage#1 environment",
        "No longer running in stage#2 environment",
      ]);
    }
  });

  it("shows the latest report in each flow, created with the first", async () => {
    const org = await app.org();
    await report(org, "web-ci", { fingerprint: web, git_commit: commit, filename: "web:1", trail_name: "a" });
    const { created_at } = (await org.reader.get(`/artifacts/${org.name}/web-ci/fingerprint/${web}`)).json;
    app.clock.advance(60);
    await report(org, "web-ci", { fingerprint: web, git_commit: commit, filename: "web:2", trail_name: "b" });
    for (const value of [web, commit]) {
      const { artifacts } = await find(org, value);
      expect(artifacts).toMatchObject([
        { name: "web:2", trail: "b", history: [{ event: "Artifact created", timestamp: created_at }] },
      ]);
    }
  });

  it("resolves a commit to all artifacts built from it, in every flow", async () => {
    const org = await app.org();
    await report(org, "web-ci", { fingerprint: web, git_commit: commit });
    await report(org, "api-ci", { fingerprint: web, git_commit: commit });
    await report(org, "web-ci", { fingerprint: fingerprintOf("other"), git_commit: commit });
    const { resolved_to, artifacts } = await find(org, commit.slice(0, 7));
    expect([resolved_to.type, resolved_to.full_match, resolved_to.commits.count]).toEqual([
      "commit",
      commit,
      1,
    ]);
    expect(artifacts.map(({ flow, fingerprint }: Record<string, string>) => [flow, fingerprint])).toEqual([
      ["web-ci", web],
      ["api-ci", web],
      ["web-ci", fingerprintOf("other")],
    ]);
  });

  it("counts several matches of both kinds", async () => {
    const org = await app.org();
    const beginning = "abcde";
    const fingerprints = ["1", "2"].map((end) => beginning + end.repeat(59));
    const twin = beginning + "3".repeat(35);
    for (const fingerprint of fingerprints) await report(org, "web-ci", { fingerprint, git_commit: twin });
    const { resolved_to, artifacts } = await find(org, beginning);
    expect(resolved_to).toEqual({
      type: "multiple",
      full_match: fingerprints[0],
      fingerprints: { type: "fingerprint", count: 2, matches: fingerprints },
      commits: { type: "commit", count: 1, matches: [twin] },
    });
    expect(artifacts).toHaveLength(2);
  });

  it("finds what only ran somewhere", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", ["bought"]);
    const { resolved_to, artifacts } = await find(org, fingerprintOf("bought").slice(0, 8));
    expect(resolved_to.type).toBe("fingerprint");
    expect(artifacts).toMatchObject([
      {
        name: "bought",
        has_provenance: false,
        flow: "",
        git_commit: "",
        running_in: ["prod"],
        exited_from: [],
      },
    ]);
    expect(events(artifacts[0])).toEqual(["Started running in prod#1 environment"]);
  });

  it("finds nothing running in archived environments, where it stays in what was", async () => {
    const org = await app.org();
    for (const name of ["prod", "stage"]) await createEnvironment(org, name, { type: "server" });
    for (const [name, member] of [
      ["all", "prod"],
      ["rest", "stage"],
    ] as const)
      await createEnvironment(org, name, { type: "logical", included_environments: [member] });
    for (const name of ["prod", "stage"]) await reportServer(org, name, ["web"]);
    for (const name of ["prod", "rest"])
      expect((await org.member.put(`/environments/${org.name}/${name}/archive`)).status).toBe(200);
    const places = async () => {
      const [artifact] = (await find(org, web)).artifacts;
      return [artifact.running_in, artifact.exited_from];
    };
    const archived = await listedNames(org.reader, org, "?archived=true");
    expect(await places()).toEqual([["stage"], expect.arrayContaining([...archived, "all"])]);
    const [prod] = archived;
    expect((await org.member.put(`/environments/${org.name}/${prod}/unarchive`)).status).toBe(200);
    expect((await places())[0]).toEqual(["prod", "stage"]);
  });

  it("refuses what is no beginning, and says when there is nothing", async () => {
    const org = await app.org();
    const other = await app.org();
    await report(other, "web-ci", { fingerprint: web });
    for (const value of ["abcd", "xyzzy1", "a".repeat(65), "abc%20de"]) {
      const { status, json } = await org.reader.get(`/search/${org.name}/sha/${value}`);
      expect([status, json.message]).toEqual([400, "Input payload validation failed"]);
    }
    const { status, json } = await org.reader.get(`/search/${org.name}/sha/${web}`);
    expect([status, json.message]).toEqual([404, `No matches for '${web}'.`]);
  });

  it("steps through an index", async () => {
    const org = await app.org();
    await report(org, "web-ci", { fingerprint: web, git_commit: commit });
    const { rows } = await app.deps.db.pool.query<{ "QUERY PLAN": string }>(
      `explain select git_commit from artifacts where org_id = '${org.id}' and git_commit >= 'abcde'
       and git_commit < 'abcdeg' order by git_commit limit 1`,
    );
    expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("artifacts_commit");
  });
});
