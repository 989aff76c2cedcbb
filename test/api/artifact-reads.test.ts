import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactTemplate as template, one, report, vouch } from "../support/artifact-reads.ts";
import { commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { commitInfo } from "../support/attestations.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const commit = commitOf("one");

function noSuch(what: string, org: TestOrg, flow = "web-ci") {
  return {
    message: `Artifact with ${what} does not exist in flow '${flow}' belonging to organization '${org.name}'`,
  };
}

describe("GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}", () => {
  it("shows everything that was reported of the artifact", async () => {
    const org = await app.org();
    const flow = { name: "web-ci", tags: {} };
    const body = {
      fingerprint: fingerprintOf("a"),
      git_commit: commit,
      git_commit_info: { ...commitInfo(commit), parents: [commitOf("zero")], verified: true },
      repo_info: repoInfo("acme/web", { description: "shop", namespace_path: ["acme"] }),
      repo_url: "https://git.example.com/acme/web",
      description: "the client",
      external_urls: { sbom: { href: "https://x.example.com", fingerprint: "a".repeat(64) } },
      annotations: { team: "shop", n: 1 },
      user_data: [1, { a: null }],
    };
    await report(org, body);
    const { status, json } = await one(org, "a");
    expect(status).toBe(200);
    const page = `http://waybill.test/${org.name}/flows/web-ci/artifacts/${fingerprintOf("a")}`;
    expect(json).toEqual({
      id: expect.stringMatching(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/),
      flow_name: "web-ci",
      flow,
      trail_name: "run",
      template_reference_name: "cli",
      fingerprint: fingerprintOf("a"),
      filename: "web:1.4",
      description: "the client",
      git_commit: commit,
      git_commit_info: {
        ...body.git_commit_info,
        url: null,
        author_username: null,
        signature_state: null,
      },
      repo_info: {
        name: "acme/web",
        id: "id-of-acme/web",
        url: "https://git.example.com/acme/web",
        description: "shop",
        provider: "gitlab",
        namespace_path: ["acme"],
        additional_info: null,
      },
      commit_url: "https://git.example.com/c/1",
      build_url: "https://ci.example.com/7",
      repo_url: "https://git.example.com/acme/web",
      html_url: `${page}?artifact_id=${json.id}`,
      api_url: `http://waybill.test/api/v2/artifacts/${org.name}/web-ci/fingerprint/${fingerprintOf("a")}`,
      created_at: expect.any(Number),
      last_modified_at: json.created_at,
      created_by: expect.any(String),
      user_data: [1, { a: null }],
      external_urls: body.external_urls,
      annotations: body.annotations,
      state: "COMPLIANT",
      evidence: {},
      template: [],
      state_info: "Nothing is missing and nothing failed",
      running: [],
      exited: [],
      history: [{ event: "cli reported", timestamp: json.created_at }],
      commit_lead_times: {},
      build_lead_times: {},
    });
    const trail = await org.reader.get(`/trails/${org.name}/web-ci/run`);
    const event = trail.json.events.at(-1);
    expect([event.artifact_id, event.timestamp]).toEqual([json.id, json.created_at]);
  });

  it("has empty texts and nulls for what was not said", async () => {
    const org = await app.org();
    await report(org, { fingerprint: fingerprintOf("a") });
    expect((await one(org, "a")).json).toMatchObject({
      git_commit: "",
      git_commit_info: null,
      repo_info: null,
      repo_url: null,
      description: null,
      user_data: {},
      external_urls: null,
      annotations: null,
    });
  });

  it("has the state of its own attestations and its trail's, evidence and a history in words", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web-ci" }, template);
    const onCli = { artifact_fingerprint: fingerprintOf("a") };
    const seen = async () => {
      const { json } = await one(org, "a");
      expect(json.last_modified_at).toBeGreaterThanOrEqual(json.created_at);
      return [json.state, json.state_info];
    };
    const pending = { target_artifacts: ["cli"], git_commit_info: commitInfo(commit) };
    await vouch(org, { attestation_name: "bar", ...pending });
    app.clock.advance(1);
    await report(org, { fingerprint: fingerprintOf("a"), git_commit: commit });
    expect(await seen()).toEqual(["INCOMPLETE", "Missing: ticket, cli.foo"]);
    app.clock.advance(1);
    await vouch(org, {
      attestation_name: "foo",
      ...onCli,
      is_compliant: false,
      description: "why",
      origin_url: "https://ci.example.com/8",
    });
    expect(await seen()).toEqual(["NON-COMPLIANT", "Not compliant: cli.foo. Missing: ticket"]);
    app.clock.advance(1);
    await vouch(org, { attestation_name: "ticket" });
    await vouch(
      org,
      {
        attestation_name: "foo",
        ...onCli,
        reason: "accepted",
        original_attestation_type: "generic",
        new_compliance_status: true,
      },
      "override",
    );
    expect(await seen()).toEqual(["COMPLIANT", "Nothing is missing and nothing failed"]);
    const { json } = await one(org, "a");
    expect(json.template).toEqual(["foo", "bar"]);
    expect(json.history.map((event: { event: string }) => event.event)).toEqual([
      "'generic' attestation reported for cli.bar",
      "cli reported",
      "'generic' attestation reported for cli.foo",
      "'generic' attestation overridden for cli.foo",
    ]);
    expect(json.last_modified_at).toBe(json.history.at(-1).timestamp);
    const row = (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json.compliance_status
      .artifacts_statuses.cli.attestations_statuses[0];
    expect(json.evidence).toMatchObject({
      foo: {
        attestation_id: row.attestation_id,
        evidence_type: "generic",
        is_compliant: true,
        created_at: json.history.at(-1).timestamp,
        description: null,
        build_url: null,
        evidence_archive_fingerprint: null,
        has_audit_package: false,
      },
      bar: { is_compliant: true, created_at: json.history[0].timestamp },
    });
  });

  it("shows the file that came with evidence, its description and where it was made", async () => {
    const org = await app.org();
    await report(org, { fingerprint: fingerprintOf("a") });
    const data = {
      attestation_name: "scan",
      artifact_fingerprint: fingerprintOf("a"),
      is_compliant: true,
      user_data: {},
      description: "why",
      origin_url: "https://ci.example.com/8",
    };
    const sent = await org.member.request("POST", `/attestations/${org.name}/web-ci/trail/run/generic`, {
      parts: { data_json: JSON.stringify(data), attachment_file: { filename: "a.txt", content: "hello" } },
    });
    expect(sent.status).toBe(201);
    expect((await one(org, "a")).json.evidence.scan).toMatchObject({
      description: "why",
      build_url: "https://ci.example.com/8",
      evidence_archive_fingerprint: fingerprintOf("hello"),
      has_audit_package: true,
    });
  });

  it("answers the newest report, or the one on the trail asked for, with the history of both or of that trail", async () => {
    const org = await app.org();
    const fingerprint = fingerprintOf("a");
    await putTrail(org.member, `${org.name}/web-ci`, { name: "strict" }, template);
    await report(org, { fingerprint, trail_name: "strict", filename: "old" });
    await vouch(org, { attestation_name: "foo", artifact_fingerprint: fingerprint }, "generic", "strict");
    app.clock.advance(1);
    await report(org, { fingerprint, trail_name: "run", filename: "new", template_reference_name: "web" });
    await report(org, { fingerprint, trail_name: "elsewhere" }, "other");
    const texts = (answer: { json: { history: { event: string }[] } }) =>
      answer.json.history.map(({ event }) => event);

    const newest = await one(org, "a");
    expect(newest.json).toMatchObject({ filename: "new", trail_name: "run", state: "COMPLIANT" });
    const foo = "'generic' attestation reported for cli.foo";
    expect(texts(newest)).toEqual(["cli reported", foo, "web reported"]);

    const strict = await one(org, "a", "?trail=strict");
    expect(strict.json).toMatchObject({ filename: "old", trail_name: "strict", state: "INCOMPLETE" });
    expect(texts(strict)).toEqual(["cli reported", foo]);
    const { json } = await org.reader.get(`/attestations/${org.name}/web-ci/artifact/${fingerprint}/foo`);
    expect((await one(org, "a", `?attestation_id=${json[0].attestation_id}`)).json).toEqual(strict.json);

    expect((await one(org, "a", "?trail=&")).json.trail_name).toBe("run");
    const otherTrail = `?attestation_id=${json[0].attestation_id}&trail=run`;
    for (const query of ["?trail=nowhere", otherTrail, `?attestation_id=${newest.json.id}`]) {
      const none = await one(org, "a", query);
      expect([none.status, none.json]).toEqual([404, noSuch(`fingerprint '${fingerprint}'`, org)]);
    }
  });

  it("answers a report by its id, also when there is a newer one, with the whole history", async () => {
    const org = await app.org();
    const fingerprint = fingerprintOf("a");
    await putTrail(org.member, `${org.name}/web-ci`, { name: "strict" }, template);
    await report(org, { fingerprint, trail_name: "strict", filename: "old", git_commit: commitOf("old") });
    const older = await one(org, "a");
    app.clock.advance(1);
    await report(org, { fingerprint, trail_name: "run", filename: "new", git_commit: commit });
    const newest = await one(org, "a");
    expect((await one(org, "a", `?artifact_id=${newest.json.id}`)).json).toEqual(newest.json);

    const asked = `?artifact_id=${older.json.id}`;
    expect((await one(org, "a", asked)).json).toEqual({ ...older.json, history: newest.json.history });
    expect(older.json).toMatchObject({ filename: "old", state: "INCOMPLETE", git_commit: commitOf("old") });
    const why = `/artifacts/${org.name}/web-ci/fingerprint/${fingerprint}/explain`;
    const explained = async (query: string) => (await org.reader.get(`${why}${query}`)).json;
    expect(await explained(asked)).toMatchObject({
      artifact_id: older.json.id,
      trail_name: "strict",
      status: "INCOMPLETE",
      html_url: older.json.html_url,
    });
    expect((await explained("")).artifact_id).toBe(newest.json.id);

    const short = await org.reader.get(
      `/artifacts/${org.name}/web-ci/fingerprint/${fingerprint.slice(0, 7)}${asked}`,
    );
    expect(short.json).toEqual((await one(org, "a", asked)).json);
    await report(org, { fingerprint: fingerprintOf("b") });
    await report(org, { fingerprint }, "other");
    const elsewhere = [
      (await one(org, "b")).json.id,
      (await one(org, "a", "", "other")).json.id,
      `${older.json.id}&trail=run`,
      "00000000-0000-0000-0000-00000000",
    ];
    for (const id of elsewhere)
      for (const end of ["", "/explain"]) {
        const none = await org.reader.get(
          `/artifacts/${org.name}/web-ci/fingerprint/${fingerprint}${end}?artifact_id=${id}`,
        );
        expect([none.status, none.json]).toEqual([404, noSuch(`fingerprint '${fingerprint}'`, org)]);
      }
    const stranger = await app.org();
    await report(stranger, { fingerprint });
    expect((await one(stranger, "a", asked)).status).toBe(404);
    const bad = await one(org, "a", "?artifact_id=x");
    expect([bad.status, Object.keys(bad.json.errors)]).toEqual([400, ["query.artifact_id"]]);
  });

  it("judges an artifact by its own reports when another one took its name", async () => {
    const org = await app.org();
    for (const text of ["a", "b"]) await report(org, { fingerprint: fingerprintOf(text) });
    await vouch(org, {
      attestation_name: "foo",
      artifact_fingerprint: fingerprintOf("a"),
      is_compliant: false,
    });
    expect((await one(org, "a")).json.state).toBe("NON-COMPLIANT");
    expect((await one(org, "b")).json.state).toBe("COMPLIANT");
  });

  it("takes the beginning of a fingerprint, and of several the newest", async () => {
    const org = await app.org();
    const [first, second] = ["0", "1"].map((end) => `abcde${"0".repeat(58)}${end}`);
    await report(org, { fingerprint: first });
    await report(org, { fingerprint: second });
    const get = (text: string) => org.reader.get(`/artifacts/${org.name}/web-ci/fingerprint/${text}`);
    expect((await get("abcde")).json.fingerprint).toBe(second);
    expect((await get(first!)).json.fingerprint).toBe(first);
    expect((await get("abcde1")).json).toEqual(noSuch("fingerprint 'abcde1'", org));
    for (const bad of ["abcd", "ABCDE", "abcdeg", `${first}0`]) {
      const answer = await get(bad);
      expect(answer.status).toBe(400);
      expect(answer.json.errors["path.fingerprint"]).toBe(
        `String should match pattern '^[a-f0-9]{5,64}$' [input: ${bad}]`,
      );
    }
  });

  it("says in the contract's words what does not exist", async () => {
    const org = await app.org();
    await report(org, { fingerprint: fingerprintOf("a") });
    const other = await app.org();
    for (const [where, flow] of [
      [org, "no-such-flow"],
      [other, "web-ci"],
    ] as const) {
      const answer = await where.reader.get(
        `/artifacts/${where.name}/${flow}/fingerprint/${fingerprintOf("a")}`,
      );
      expect([answer.status, answer.json]).toEqual([
        404,
        noSuch(`fingerprint '${fingerprintOf("a")}'`, where, flow),
      ]);
    }
    const bad = await one(org, "a", "?attestation_id=x");
    expect([bad.status, Object.keys(bad.json.errors)]).toEqual([400, ["query.attestation_id"]]);
    expect((await one(org, "a", "?trail=%00")).status).toBe(400);
  });

  it("finds it under the flow's former name, with the name that the flow has now", async () => {
    const org = await app.org();
    await report(org, { fingerprint: fingerprintOf("a") });
    await org.admin.put(`/flows/${org.name}/web-ci/rename`, { new_name: "shop-ci" });
    expect((await one(org, "a")).json).toMatchObject({ flow_name: "shop-ci" });
  });

  it("is for every role, and for anybody when the organization is public", async () => {
    const org = await app.org({ public: true });
    await report(org, { fingerprint: fingerprintOf("a") });
    const path = `/artifacts/${org.name}/web-ci/fingerprint/${fingerprintOf("a")}`;
    for (const client of [org.admin, org.snapshotter, org.reader, app.anonymous])
      expect((await client.get(path)).status).toBe(200);
  });
});

describe("GET /artifacts/{org}/{flow_name}/commit_sha/{commit_sha}", () => {
  it("lists the artifacts of the commit, each once, newest first, by a short commit too", async () => {
    const org = await app.org();
    for (const text of ["a", "b", "a"])
      await report(org, { fingerprint: fingerprintOf(text), git_commit: commit });
    await report(org, { fingerprint: fingerprintOf("c"), git_commit: commitOf("two") });
    await report(org, { fingerprint: fingerprintOf("d"), git_commit: commit, trail_name: "late" });
    await report(org, { fingerprint: fingerprintOf("e"), git_commit: commit }, "other");
    const get = (sha: string, query = "") =>
      org.reader.get(`/artifacts/${org.name}/web-ci/commit_sha/${sha}${query}`);
    const { status, json } = await get(commit);
    expect(status).toBe(200);
    expect(json.map((item: { fingerprint: string }) => item.fingerprint)).toEqual(
      ["d", "a", "b"].map((text) => fingerprintOf(text)),
    );
    expect(json[1]).toEqual((await one(org, "a")).json);
    expect(json[1].history).toHaveLength(2);
    expect((await get(commit.slice(0, 7))).json).toEqual(json);
    expect((await get(commit, "?trail=late")).json).toEqual([json[0]]);
    for (const [sha, query] of [
      [commitOf("three"), ""],
      [commit, "?trail=nowhere"],
    ] as const) {
      const none = await get(sha, query);
      expect([none.status, none.json]).toEqual([404, noSuch(`commit sha '${sha}'`, org)]);
    }
    const nowhere = await org.reader.get(`/artifacts/${org.name}/nope/commit_sha/${commit}`);
    expect(nowhere.json).toEqual(noSuch(`commit sha '${commit}'`, org, "nope"));
    for (const bad of ["abcd", "HEAD~1", "x".repeat(40)])
      expect((await get(bad)).json.errors).toHaveProperty(["path.commit_sha"]);
  });
});
