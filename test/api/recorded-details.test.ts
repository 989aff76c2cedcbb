import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { reportServer } from "../support/snapshots.ts";

/** What answers say in detail, as clients recorded it, by the number of the recording. */

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
beforeAll(async () => {
  org = await app.org();
});
afterAll(() => app.close());

describe("a commit of which only the id is known", () => {
  it("recorded answer 16: has neither message nor author in a trail's events", async () => {
    const git_commit_info = { sha1: commitOf("bare") };
    await putTrail(org.member, `${org.name}/bare`, { name: "run", git_commit_info });
    await org.member.post(
      `/artifacts/${org.name}/bare`,
      artifactBody({ trail_name: "run", git_commit: git_commit_info.sha1, git_commit_info }),
    );
    const body = { attestation_name: "unit", is_compliant: true, git_commit_info };
    await attest(org.member, { org: org.name, flow: "bare" }, "generic", body);
    const { json } = await org.reader.get(`/trails/${org.name}/bare/run`);
    const types = json.events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(["trail_reported", "artifact_creation_reported", "trail_attestation_reported"]);
    const nothing = { ...git_commit_info, message: null, author: null };
    for (const event of json.events) expect(event.git_commit_info).toMatchObject(nothing);
    expect(json.events[0].trail_data_json.git_commit_info).toMatchObject(nothing);
    const [attestation] = (await org.reader.get(`/attestations/${org.name}/bare/trail/run/unit`)).json;
    expect(attestation.git_commit_info).toMatchObject(nothing);
    // Clients print that of the trail itself without looking.
    expect(json.git_commit_info).toMatchObject({ ...git_commit_info, message: "", author: "" });
  });
});

describe("the deprecated way of creating a flow", () => {
  const put = (body: Record<string, unknown>) =>
    org.member.put(`/flows/${org.name}`, { name: "older", description: "", ...body });
  const shown = async () => {
    const single = (await org.reader.get(`/flows/${org.name}/older`)).json.repo_url;
    for (const query of ["", "per_page=50", "sort=latest_activity&per_page=50", "search_by_name=older"]) {
      const { json } = await org.reader.get(`/flows/${org.name}?${query}`);
      const listed = (json.data ?? json).find(({ name }: { name: string }) => name === "older");
      expect(listed.repo_url, query).toBe(single);
    }
    return single;
  };

  it("recorded answer 18: keeps repo_url and shows it", async () => {
    const repo_url = "https://git.example.com/acme/older";
    expect([(await put({ repo_url })).status, await shown()]).toEqual([201, repo_url]);
    expect([(await put({})).status, await shown()]).toEqual([200, repo_url]);
    expect([(await put({ repo_url: null })).status, await shown()]).toEqual([200, repo_url]);
    await putFlow(org.member, org.name, { name: "older", description: "new" }, "version: 1\n");
    expect(await shown()).toBe(repo_url);
    await org.member.post(`/artifacts/${org.name}/older`, artifactBody({ repo_url: "https://other.test/r" }));
    expect(await shown()).toBe(repo_url);
    expect([(await put({ repo_url: "not a URL" })).status, await shown()]).toEqual([200, "not a URL"]);
    expect([(await put({ repo_url: "" })).status, await shown()]).toEqual([200, "https://other.test/r"]);
  });

  it("recorded answer 18: refuses one that is no text", async () => {
    const answer = await put({ repo_url: 7 });
    expect([answer.status, answer.json.errors]).toEqual([
      400,
      { repo_url: "Input should be a valid string [input: 7]" },
    ]);
  });
});

describe("names of attestations in templates", () => {
  const pattern = "String should match pattern '^[a-zA-Z0-9\\-_,]+$'";
  const templateOf = (name: string): string =>
    `trail: {attestations: [{name: fine, type: junit}, {name: ${JSON.stringify(name)}, type: junit}]}`;

  it.each(["a\0b", "\ud800", "a b/!", "a.b", "ä"])("recorded answer 23: a flow refuses %j", async (name) => {
    const answer = await putFlow(org.member, org.name, { name: "odd" }, templateOf(name));
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual({
      "template_file.trail.attestations[1].name": expect.stringContaining(`${pattern} [input: `),
    });
    expect((await org.reader.get(`/flows/${org.name}/odd`)).status).toBe(404);
  });

  it("recorded answer 23: so it does below an artifact, and a trail in one text", async () => {
    const nested = `trail: {artifacts: [{name: web, attestations: [{name: "a b", type: junit}]}]}`;
    const flow = await putFlow(org.member, org.name, { name: "odd" }, nested);
    expect(flow.json.errors).toEqual({
      "template_file.trail.artifacts[0].attestations[0].name": `${pattern} [input: a b]`,
    });
    const trail = await putTrail(org.member, `${org.name}/odd`, { name: "t" }, nested);
    expect([trail.status, trail.json.message]).toEqual([
      400,
      `Template is not valid: 1 validation errors for Template\ntrail.artifacts[0].attestations[0].name\n  ${pattern}`,
    ]);
  });

  it("recorded answer 23: a template stored before expects what it expected", async () => {
    await putFlow(org.member, org.name, { name: "kept" }, templateOf("later"));
    const older = templateOf("a b/!");
    await app.deps.db.pool.query("update flows set template = $1 where org_id = $2 and name = 'kept'", [
      older,
      org.id,
    ]);
    expect((await putTrail(org.member, `${org.name}/kept`, { name: "run" })).status).toBe(201);
    const { json } = await org.reader.get(`/trails/${org.name}/kept/run`);
    expect(json.template).toMatchObject({ content: older });
    const names = json.template.trail.attestations.map((one: { name: string }) => one.name);
    expect(names).toEqual(["fine", "a b/!"]);
    const statuses = json.compliance_status.attestations_statuses;
    expect(statuses.map((one: { attestation_name: string }) => one.attestation_name)).toEqual(names);
  });
});

describe("GET /search/{org}/sha/{search_value}", () => {
  it("recorded answer 13: a history starts with the commit, and the artifacts known longest come first", async () => {
    const here = await app.org();
    const commit = commitOf("searched");
    const timestamp = app.clock.now() - 3600;
    const git_commit_info = { sha1: commit, timestamp };
    const reported = { git_commit: commit, git_commit_info };
    const [web, api] = [fingerprintOf("web"), fingerprintOf("api")];
    for (const [flow, fingerprint] of [
      ["one", web],
      ["two", web],
      ["two", api],
      ["one", web],
    ] as const) {
      const body = artifactBody({ ...reported, fingerprint });
      expect((await here.member.post(`/artifacts/${here.name}/${flow}`, body)).status).toBe(201);
      app.clock.advance(60);
    }
    await createEnvironment(here, "prod", { type: "server" });
    await reportServer(here, "prod", ["web"]);
    for (const [value, expected] of [
      [
        commit,
        [
          ["one", web],
          ["two", web],
          ["two", api],
        ],
      ],
      [
        web,
        [
          ["one", web],
          ["two", web],
        ],
      ],
    ] as const) {
      const { artifacts } = (await here.reader.get(`/search/${here.name}/sha/${value}`)).json;
      expect(
        artifacts.map((one: { flow: string; fingerprint: string }) => [one.flow, one.fingerprint]),
      ).toEqual(expected);
      expect(artifacts[0].history).toEqual([
        { event: `Commit ${commit.slice(0, 7)}`, timestamp },
        { event: "Artifact created", timestamp: expect.any(Number) },
        { event: "Started running in prod#1 environment", timestamp: expect.any(Number) },
      ]);
    }
  });

  it("recorded answer 13: a commit of which no time is known has no entry", async () => {
    const here = await app.org();
    const body = artifactBody({ git_commit: commitOf("timeless") });
    await here.member.post(`/artifacts/${here.name}/one`, body);
    const { artifacts } = (await here.reader.get(`/search/${here.name}/sha/${commitOf("timeless")}`)).json;
    expect(artifacts[0].history.map(({ event }: { event: string }) => event)).toEqual(["Artifact created"]);
  });
});

describe("the moment of a trail's verdict", () => {
  const template = `trail:
  attestations: [{name: review, type: generic}]
  artifacts: [{name: web, attestations: [{name: unit, type: generic}, {name: scan, type: generic}]}]`;
  const fingerprint = fingerprintOf("judged");

  it("recorded answer 17: artifact attestations that change nothing of the trail leave it", async () => {
    const here = await app.org();
    const place = { org: here.name, flow: "judged" };
    const vouch = (name: string, more: object = {}) =>
      attest(here.member, place, "generic", { attestation_name: name, is_compliant: true, ...more });
    const ofArtifact = { artifact_fingerprint: fingerprint };
    const report = artifactBody({ fingerprint, trail_name: "run", template_reference_name: "web" });
    await putFlow(here.member, here.name, { name: "judged" }, template);
    const steps: [what: string, act: () => Promise<{ status: number }>, status: string, anew: boolean][] = [
      ["beginning", () => putTrail(here.member, `${here.name}/judged`, { name: "run" }), "INCOMPLETE", true],
      ["artifact", () => here.member.post(`/artifacts/${here.name}/judged`, report), "INCOMPLETE", true],
      ["one of two", () => vouch("unit", ofArtifact), "INCOMPLETE", false],
      ["of the trail", () => vouch("review"), "INCOMPLETE", true],
      ["the last one", () => vouch("scan", ofArtifact), "COMPLIANT", true],
      ["again", () => vouch("scan", ofArtifact), "COMPLIANT", false],
      ["unexpected", () => vouch("more", ofArtifact), "COMPLIANT", false],
      ["failing", () => vouch("scan", { ...ofArtifact, is_compliant: false }), "NON-COMPLIANT", true],
      ["failing more", () => vouch("unit", { ...ofArtifact, is_compliant: false }), "NON-COMPLIANT", false],
      [
        "an update",
        () => putTrail(here.member, `${here.name}/judged`, { name: "run", description: "d" }),
        "NON-COMPLIANT",
        true,
      ],
      ["of the trail, again", () => vouch("review"), "NON-COMPLIANT", true],
    ];
    let before = 0;
    for (const [what, act, status, anew] of steps) {
      app.clock.advance(60);
      expect([200, 201]).toContain((await act()).status);
      const { json } = await here.reader.get(`/trails/${here.name}/judged/run`);
      const { evaluated_at, artifacts_statuses } = json.compliance_status;
      expect([what, json.compliance_status.status]).toEqual([what, status]);
      expect([what, evaluated_at]).toEqual([what, anew ? json.last_modified_at : before]);
      if (what !== "beginning") expect(artifacts_statuses.web.evaluated_at).toBe(json.last_modified_at);
      const list = await here.reader.get(`/trails/${here.name}/judged`);
      expect(list.json[0].compliance_status.evaluated_at).toBe(evaluated_at);
      const explained = await here.reader.get(`/trails/${here.name}/judged/run/explain`);
      expect(explained.json.evaluated_at).toBe(evaluated_at);
      before = evaluated_at;
    }
  });

  it("recorded answer 17: of attestations that are written together, one for each trail", async () => {
    const here = await app.org();
    await putFlow(here.member, here.name, { name: "many" }, template);
    const runs = Array.from({ length: 10 }, (_, index) => `run-${index}`);
    for (const trail_name of runs)
      await here.member.post(
        `/artifacts/${here.name}/many`,
        artifactBody({ fingerprint, trail_name, template_reference_name: "web" }),
      );
    app.clock.advance(60);
    const answers = await Promise.all(
      runs.map((trail, index) =>
        attest(here.member, { org: here.name, flow: "many", trail }, "generic", {
          attestation_name: index % 2 === 0 ? "unit" : "review",
          is_compliant: true,
          ...(index % 2 === 0 ? { artifact_fingerprint: fingerprint } : {}),
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const { json } = await here.reader.get(`/trails/${here.name}/many`);
    for (const trail of json as {
      name: string;
      last_modified_at: number;
      compliance_status: { evaluated_at: number };
    }[]) {
      const isAnew = trail.compliance_status.evaluated_at === trail.last_modified_at;
      expect([trail.name, isAnew]).toEqual([trail.name, runs.indexOf(trail.name) % 2 === 1]);
    }
  });
});
