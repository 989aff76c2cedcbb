import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putTrail } from "../support/flows.ts";

/** Answers of the public interface as clients recorded them, by the number of the recording. */

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

const invalid = "Input payload validation failed";
const noDictionary = "Input should be a valid dictionary";
const noObject = `${noDictionary} or object to extract fields from`;

function refusal(errors: Record<string, string>) {
  return [400, { message: invalid, errors }];
}

describe("texts where other values belong", () => {
  it.each([
    ["include_scaling", ""],
    ["include_scaling", "maybe"],
    ["require_provenance", ""],
    ["require_provenance", "maybe"],
  ])("recorded answer 1: a boolean in %s: %j", async (field, text) => {
    const body = { name: "e", type: "K8S", description: "", [field]: text };
    const answer = await org.admin.put(`/environments/${org.name}`, body);
    const reason = `Input should be a valid boolean, unable to interpret input [input: ${text}]`;
    expect([answer.status, answer.json]).toEqual(refusal({ [field]: reason }));
  });

  it("recorded answer 1: a boolean in a form field", async () => {
    const answer = await attest(org.member, { org: org.name }, "generic", {
      attestation_name: "a",
      is_compliant: "maybe",
    });
    const reason = "Input should be a valid boolean, unable to interpret input [input: maybe]";
    expect([answer.status, answer.json]).toEqual(refusal({ is_compliant: reason }));
  });

  it.each(["", "soon", "1.5"])("recorded answer 2: an integer: %j", async (text) => {
    await org.admin.post(`/service-accounts/${org.name}`, { name: "bot" });
    const body = { description: "x", expires_at: text };
    const answer = await org.admin.post(`/service-accounts/${org.name}/bot/api-keys`, body);
    const reason = `Input should be a valid integer, unable to parse string as an integer [input: ${text}]`;
    expect([answer.status, answer.json]).toEqual(refusal({ expires_at: reason }));
  });

  it("recorded answer 2: an integer in a list in a form field", async () => {
    const suite = { name: "s", failures: "", errors: 0, skipped: 0, total: 1, duration: 1 };
    const answer = await attest(org.member, { org: org.name }, "junit", {
      attestation_name: "a",
      junit_results: [suite],
    });
    const reason = "Input should be a valid integer, unable to parse string as an integer [input: ]";
    expect([answer.status, answer.json]).toEqual(refusal({ "junit_results[0].failures": reason }));
  });

  it("recorded answer 3: an object with fields of its own", async () => {
    const body = artifactBody({ git_commit_info: "", repo_info: "x", user_data: "", annotations: "" });
    const answer = await org.member.post(`/artifacts/${org.name}/web`, body);
    expect([answer.status, answer.json]).toEqual(
      refusal({
        git_commit_info: `${noObject} [input: ]`,
        repo_info: `${noObject} [input: x]`,
        user_data: `${noDictionary} [input: ]`,
        annotations: `${noDictionary} [input: ]`,
      }),
    );
  });

  it("recorded answer 3: such an object in a list, or in a form field", async () => {
    await createEnvironment(org, "box", { type: "docker" });
    const report = await org.snapshotter.put(`/environments/${org.name}/box/report/docker`, {
      artifacts: [""],
    });
    expect([report.status, report.json]).toEqual(refusal({ "artifacts[0]": `${noObject} [input: ]` }));
    const trail = await putTrail(org.member, `${org.name}/web`, {
      name: "t",
      git_commit_info: "",
      external_urls: { a: "" },
      user_data: "",
    });
    expect([trail.status, trail.json]).toEqual(
      refusal({
        git_commit_info: `${noObject} [input: ]`,
        "external_urls.a": `${noObject} [input: ]`,
        user_data: `${noDictionary} [input: ]`,
      }),
    );
  });
});

describe("filters without a value", () => {
  beforeAll(async () => {
    await putTrail(org.member, `${org.name}/web`, { name: "run" });
    await org.member.post(`/artifacts/${org.name}/web`, artifactBody({ trail_name: "run" }));
  });

  it("recorded answer 4: GET /trails/{org}?flow= is 404", async () => {
    const answer = await org.reader.get(`/trails/${org.name}?flow=`);
    const message = `Flow named '' does not exist for organization '${org.name}'`;
    expect([answer.status, answer.json]).toEqual([404, { message }]);
    expect((await org.reader.get(`/trails/${org.name}?flow=no-such`)).json.data).toEqual([]);
  });

  it.each(["fingerprint=", "flow_tag=", "flow=web&flow_tag=", "flow=web&fingerprint="])(
    "recorded answer 5: GET /trails/{org}?%s has no trails",
    async (query) => {
      expect((await org.reader.get(`/trails/${org.name}`)).json.data).not.toEqual([]);
      const { status, json } = await org.reader.get(`/trails/${org.name}?${query}`);
      expect([status, json.data, json.pagination.total]).toEqual([200, [], 0]);
    },
  );

  it.each(["", "a b", "-a", "a/b", "ä"])(
    "recorded answer 6: GET /artifacts/{org}?flow_name=%s is no flow's name",
    async (name) => {
      const answer = await org.reader.get(`/artifacts/${org.name}?flow_name=${encodeURIComponent(name)}`);
      const reason = `String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$' [input: ${name}]`;
      expect([answer.status, answer.json]).toEqual(refusal({ "query.flow_name": reason }));
    },
  );

  it("recorded answer 7: GET /flows/{org}?search_by_name= is 400", async () => {
    const message = "Empty string is not allowed for flow names.";
    for (const query of ["search_by_name=", "search_by_name=&case_sensitive=false&per_page=5"]) {
      const answer = await org.reader.get(`/flows/${org.name}?${query}`);
      expect([answer.status, answer.json]).toEqual([400, { message }]);
    }
  });
});

describe("URLs", () => {
  const suite = { name: "s", failures: 0, errors: 0, skipped: 0, total: 1, duration: 1 };
  it.each([
    ["generic", { is_compliant: true }],
    ["junit", { junit_results: [suite] }],
    ["jira", { jira_results: [] }],
    ["pull_request", { git_provider: "github", pull_requests: [] }],
    ["snyk", { snyk_results: { tool: { name: "scanner", version: "1" }, results: [] } }],
    ["sonar", { sonar_results: { analysedAt: "now", revision: "r", project: { key: "k", url: "u" } } }],
    ["custom", { type_name: "plain", attestation_data: {} }],
    ["system", { type_name: "decision", attestation_data: { is_compliant: true } }],
    ["override", { reason: "r", new_compliance_status: true, original_attestation_type: "generic" }],
  ])("recorded answer 9: the origin of an attestation of kind %s has to be one", async (kind, body) => {
    for (const [origin_url, reason] of [
      ["", "input is empty"],
      ["build 7", "relative URL without a base"],
      ["http://", "empty host"],
    ]) {
      const data = { attestation_name: "origin", ...body, origin_url };
      const answer = await attest(org.member, { org: org.name }, kind, data);
      const text = `Input should be a valid URL, ${reason} [input: ${origin_url}]`;
      expect([answer.status, answer.json]).toEqual(refusal({ origin_url: text }));
    }
  });

  it("recorded answer 9: one is kept as it is written", async () => {
    for (const origin_url of [null, "HTTPS://CI.example.com/My Project/7?a=b"]) {
      const body = { attestation_name: "origin", is_compliant: true, origin_url };
      expect((await attest(org.member, { org: org.name }, "generic", body)).status).toBe(201);
      const { json } = await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/origin`);
      expect(json.some((one: { origin_url: string | null }) => one.origin_url === origin_url)).toBe(true);
    }
  });
});

describe("statuses and bodies", () => {
  it("recorded answer 8: an override is 200", async () => {
    const answer = await attest(org.member, { org: org.name }, "override", {
      attestation_name: "scan",
      reason: "looked at by hand",
      new_compliance_status: true,
      original_attestation_type: "generic",
    });
    expect([answer.status, answer.json]).toEqual([200, "OK"]);
  });

  it("recorded answer 15: an artifact is 201 with a message", async () => {
    const answer = await org.member.post(`/artifacts/${org.name}/web`, artifactBody());
    expect([answer.status, answer.json]).toEqual([201, { message: "OK" }]);
  });

  it("recorded answer 10: members of a physical environment have to exist, and have no effect", async () => {
    await createEnvironment(org, "member", { type: "ECS" });
    await createEnvironment(org, "group", { type: "logical" });
    const put = (included_environments: string[]) =>
      org.admin.put(`/environments/${org.name}`, {
        name: "single",
        type: "K8S",
        description: "",
        included_environments,
      });
    for (const name of ["no-such", ""]) {
      const answer = await put(["member", name]);
      const message = `Environment named '${name}' does not exist for organization '${org.name}'`;
      expect([answer.status, answer.json]).toEqual([404, { message }]);
    }
    expect((await org.reader.get(`/environments/${org.name}/single`)).status).toBe(404);
    for (const names of [["member"], ["member", "group"], ["single"], []]) {
      const answer = await put(names);
      expect([answer.status, answer.json]).toEqual([201, "OK"]);
      const shown = await org.reader.get(`/environments/${org.name}/single`);
      expect(shown.json).toMatchObject({ type: "K8S", included_environments: null });
    }
  });
});

describe("custom attestation types", () => {
  const post = (name: string, more: object = {}) =>
    org.member.request("POST", `/custom-attestation-types/${org.name}`, {
      parts: { data_json: JSON.stringify({ name, ...more }) },
    });

  it("recorded answer 12: the evaluator of one without rules is the default", async () => {
    await post("plain");
    const read = () => org.reader.get(`/custom-attestation-types/${org.name}/plain`);
    const evaluator = { content_type: "default" };
    expect((await read()).json.versions[0].evaluator).toEqual(evaluator);
    await post("plain", { evaluator: { content_type: "jq", rules: [".a"] } });
    await post("plain");
    const versions = (await read()).json.versions as { evaluator: { content_type: string } }[];
    expect(versions.map((version) => version.evaluator.content_type)).toEqual(["default", "jq", "default"]);
    const one = await org.reader.get(`/custom-attestation-types/${org.name}/plain?version=1`);
    expect(one.json.versions[0].evaluator).toEqual(evaluator);
  });

  it("recorded answer 14: the list has the newest first and no archived ones", async () => {
    const other = await app.org();
    const path = `/custom-attestation-types/${other.name}`;
    const make = (name: string) =>
      other.member.request("POST", path, { parts: { data_json: JSON.stringify({ name }) } });
    const names = async () => (await other.reader.get(path)).json.map(({ name }: { name: string }) => name);
    for (const name of ["b", "c", "a"]) {
      await make(name);
      app.clock.advance(1);
    }
    expect(await names()).toEqual(["a", "c", "b"]);
    await other.member.put(`${path}/c/archive`);
    expect(await names()).toEqual(["a", "b"]);
    expect((await other.reader.get(`${path}/c`)).json).toMatchObject({ name: "c", archived: true });
    await make("c");
    expect(await names()).toEqual(["a", "c", "b"]);
  });
});

describe("numbers in the query", () => {
  it.each(["1e3", ".5", "1.", "+1", "1E-2"])("recorded answer 24: %s is a number", async (text) => {
    const number = encodeURIComponent(text);
    const paths = [
      `/builds/${org.name}?start_ts=${number}`,
      `/audit-log/${org.name}?from_timestamp=${number}`,
      `/membership-audit-log/${org.name}?from_timestamp=${number}`,
    ];
    for (const path of paths) expect((await org.admin.get(path)).status, path).toBe(200);
  });

  it("recorded answer 24: an exponent means what it says", async () => {
    const total = async (query: string) =>
      (await org.reader.get(`/builds/${org.name}?${query}`)).json.total_count;
    await org.member.post(`/artifacts/${org.name}/web`, artifactBody({ fingerprint: fingerprintOf() }));
    expect(await total("start_ts=1e9")).toBeGreaterThan(0);
    expect(await total("end_ts=1e9")).toBe(0);
  });

  it.each(["NaN", "Infinity", "1_000", "0x10", ""])("recorded answer 24: %j is none", async (text) => {
    const { status, json } = await org.reader.get(`/builds/${org.name}?start_ts=${text}`);
    const reason = `Input should be a valid number, unable to parse string as a number [input: ${text}]`;
    expect([status, json]).toEqual(refusal({ "query.start_ts": reason }));
  });
});
