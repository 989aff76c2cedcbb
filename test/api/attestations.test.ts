import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { text } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import type { AttestationStatus } from "../../src/domain/compliance/model.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const commit = commitOf("one");
const fingerprint = fingerprintOf("api");

function report(body: Record<string, unknown>, kind = "generic") {
  const own = kind === "generic" ? { is_compliant: true } : {};
  return attest(org.member, { org: org.name }, kind, { attestation_name: "unit", ...own, ...body });
}

function artifact(more: Record<string, unknown> = {}) {
  return org.member.post(
    `/artifacts/${org.name}/web-ci`,
    artifactBody({
      fingerprint,
      git_commit: commit,
      trail_name: "run",
      template_reference_name: "api",
      ...more,
    }),
  );
}

async function trail() {
  return (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
}

/** `name: status verdict`, with `!` for what is unexpected. */
function rows(statuses: AttestationStatus[]): string[] {
  return statuses.map(
    ({ attestation_name, status, is_compliant, unexpected }) =>
      `${unexpected ? "!" : ""}${attestation_name}: ${status} ${is_compliant}`,
  );
}

describe("where an attestation is bound", () => {
  it("to the trail, which is made with its flow when it is missing", async () => {
    const body = {
      git_commit_info: commitInfo(commit),
      repo_info: repoInfo("acme/web"),
      origin_url: "https://ci",
    };
    expect((await report(body)).status).toBe(201);
    const shown = await trail();
    expect(shown).toMatchObject({
      git_commit_info: { sha1: commit },
      repo_ids: [expect.any(String)],
      compliance_state: "COMPLIANT",
      template: { content: "version: 1\n" },
    });
    expect(rows(shown.compliance_status.attestations_statuses)).toEqual(["!unit: COMPLETE true"]);
    expect(shown.compliance_status.evaluated_at).toBe(shown.last_modified_at);
    const audited = await app.deps.db.all(query({ action: text, resource_type: text })`
      select action, resource_type from audit_log where org_id = ${org.id}`);
    expect(audited).toEqual([{ action: "post_generic_attestation", resource_type: "attestation" }]);
  });

  it.each([
    ["a fingerprint", {}],
    ["a fingerprint and a target", { target_artifacts: ["api"] }],
  ])("to the artifact on the trail: %s", async (_, more) => {
    await artifact();
    expect((await report({ artifact_fingerprint: fingerprint, is_compliant: false, ...more })).status).toBe(
      201,
    );
    const { compliance_status } = await trail();
    expect(compliance_status.attestations_statuses).toEqual([]);
    expect(compliance_status.artifacts_statuses.api.status).toBe("NON-COMPLIANT");
    const read = await org.reader.get(`/attestations/${org.name}/web-ci/artifact/${fingerprint}/unit`);
    expect(read.json).toMatchObject([{ artifact_fingerprint: fingerprint, target_artifacts: ["api"] }]);
  });

  it.each(["before", "after"])("to every artifact of the name and commit, made %s it", async (order) => {
    const pending = () => report({ target_artifacts: ["api"], git_commit_info: commitInfo(commit) });
    if (order === "after") await pending();
    await artifact();
    await artifact({ fingerprint: fingerprintOf("other"), template_reference_name: "other" });
    if (order === "before") await pending();
    const { compliance_status } = await trail();
    const { api, other } = compliance_status.artifacts_statuses;
    expect(rows(api.attestations_statuses)).toEqual(["!unit: COMPLETE true"]);
    expect(rows(other.attestations_statuses)).toEqual([]);
    await artifact({ fingerprint: fingerprintOf("newer"), git_commit: commitOf("two") });
    const later = (await trail()).compliance_status.artifacts_statuses.api;
    expect(rows(later.attestations_statuses)).toEqual([]);
  });

  it.each(["r1234", "A".repeat(40), "a".repeat(64)])(
    "to the artifacts of the commit %s, which is none that clients show",
    async (sha1) => {
      const git_commit_info = { ...commitInfo(commit), sha1 };
      await report({ is_compliant: false, target_artifacts: ["api"], git_commit_info });
      const before = (await trail()).compliance_status;
      expect(before.status).toBe("NON-COMPLIANT");
      await artifact({ git_commit: null, git_commit_info });
      const { status, artifacts_statuses } = (await trail()).compliance_status;
      expect([status, rows(artifacts_statuses.api.attestations_statuses)]).toEqual([
        "NON-COMPLIANT",
        ["!unit: COMPLETE false"],
      ]);
      const read = await org.reader.get(`/attestations/${org.name}/web-ci/artifact/${fingerprint}/unit`);
      expect(read.json).toHaveLength(1);
      await artifact({ fingerprint: fingerprintOf("newer"), git_commit: commit });
      const later = (await trail()).compliance_status.artifacts_statuses.api;
      expect(rows(later.attestations_statuses)).toEqual([]);
    },
  );

  it("to nothing, when neither fingerprint nor commit say which artifact is meant", async () => {
    const answer = await report({ target_artifacts: ["api"] });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain(
      "requires at least one of: artifact_fingerprint or git_commit_info.",
    );
    expect((await org.reader.get(`/flows/${org.name}`)).json).toEqual([]);
  });

  it("to nothing, when the artifact is not on the trail, and nothing is made for it", async () => {
    const message = `Artifact with fingerprint ${fingerprint} does not exist in trail "run" of flow "web-ci" belonging to organization "${org.name}"`;
    const answer = await report({ artifact_fingerprint: fingerprint });
    expect([answer.status, answer.json]).toEqual([404, { message }]);
    expect((await org.reader.get(`/flows/${org.name}`)).json).toEqual([]);
    await artifact({ trail_name: "another" });
    expect((await report({ artifact_fingerprint: fingerprint })).status).toBe(404);
  });

  it("each to its own, when many arrive at once and one is wrong", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `check-${index}`);
    const answers = await Promise.all([
      report({ artifact_fingerprint: fingerprint }),
      ...names.map((attestation_name) => report({ attestation_name })),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, ...names.map(() => 201)]);
    const { compliance_status, events } = await trail();
    expect(compliance_status.attestations_statuses).toHaveLength(names.length);
    expect(events).toHaveLength(names.length + 1);
  });
});

describe("names and types", () => {
  it("takes names that the template does not know, and other types under names that it does", async () => {
    const template = "version: 1\ntrail:\n  attestations:\n    - name: unit\n      type: junit\n";
    await putFlow(org.member, org.name, { name: "web-ci" }, template);
    expect((await report({ attestation_name: "lint" })).status).toBe(201);
    expect((await report({})).status).toBe(201);
    const { compliance_status } = await trail();
    expect(rows(compliance_status.attestations_statuses)).toEqual([
      "unit: MISSING null",
      "!lint: COMPLETE true",
    ]);
    expect(compliance_status.status).toBe("INCOMPLETE");
  });

  it("lets the newest of a name count, and keeps the older ones readable", async () => {
    for (const is_compliant of [false, true]) await report({ is_compliant });
    expect((await trail()).compliance_state).toBe("COMPLIANT");
    const { json } = await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/unit`);
    expect(json.map((one: { is_compliant: boolean }) => one.is_compliant)).toEqual([false, true]);
  });
});

describe("overrides", () => {
  const override = (new_compliance_status: boolean, more: Record<string, unknown> = {}) =>
    report(
      { reason: "agreed", new_compliance_status, original_attestation_type: "generic", ...more },
      "override",
    );
  const read = async (path = "trail/run") =>
    (await org.reader.get(`/attestations/${org.name}/web-ci/${path}/unit`)).json;

  it("replace the verdict in both directions, until a report comes after them", async () => {
    await report({ is_compliant: false });
    const [original] = await read();
    for (const verdict of [true, false, true]) {
      expect((await override(verdict)).status).toBe(200);
      const newest = (await read()).at(-1);
      expect(newest).toMatchObject({
        attestation_type: "generic",
        is_compliant: verdict,
        reason: "agreed",
        new_compliance_status: verdict,
        original_attestation_type: "generic",
        overridden_attestation_id: original.attestation_id,
      });
      const { compliance_status } = await trail();
      expect(compliance_status.is_compliant).toBe(verdict);
      expect(compliance_status.attestations_statuses).toMatchObject([
        {
          attestation_id: newest.attestation_id,
          overridden_attestation_id: original.attestation_id,
          is_compliant: verdict,
        },
      ]);
    }
    await report({ is_compliant: false });
    expect((await trail()).compliance_status.attestations_statuses).toMatchObject([
      { is_compliant: false, overridden_attestation_id: null },
    ]);
  });

  it("work where nothing was reported", async () => {
    expect((await override(false)).status).toBe(200);
    expect(await read()).toMatchObject([{ is_compliant: false, overridden_attestation_id: null }]);
    expect((await trail()).compliance_state).toBe("NON-COMPLIANT");
  });

  it("work on artifacts, for what was made before the artifact too", async () => {
    await report({ target_artifacts: ["api"], git_commit_info: commitInfo(commit), is_compliant: false });
    await artifact();
    expect((await trail()).compliance_state).toBe("NON-COMPLIANT");
    await override(true, { artifact_fingerprint: fingerprint });
    const { compliance_status } = await trail();
    expect(compliance_status.status).toBe("COMPLIANT");
    const [row] = compliance_status.artifacts_statuses.api.attestations_statuses;
    const [first, second] = await read(`artifact/${fingerprint}`);
    expect([row.overridden_attestation_id, row.attestation_id]).toEqual([
      first.attestation_id,
      second.attestation_id,
    ]);
    expect(second.overridden_attestation_id).toBe(first.attestation_id);
  });
});

describe("custom types", () => {
  const custom = (more: Record<string, unknown>) => report({ type_name: "coverage", ...more }, "custom");
  const schema = { type: "object", properties: { line: { type: "number" } }, required: ["line"] };

  beforeEach(async () => {
    const parts = partsOf({ name: "coverage", evaluator: jq(".line >= 80") }, schema);
    await org.member.request("POST", `/custom-attestation-types/${org.name}`, { parts });
  });

  it.each([
    [{ line: 92 }, true],
    [{ line: 12 }, false],
    ['{"line":92}', true],
  ])("judge %j by their rules: %s", async (attestation_data, verdict) => {
    expect((await custom({ attestation_data })).status).toBe(201);
    const { json } = await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/unit`);
    expect(json).toMatchObject([
      {
        attestation_type: "custom:coverage",
        is_compliant: verdict,
        attestation_data: typeof attestation_data === "string" ? { line: 92 } : attestation_data,
        type_version: 1,
      },
    ]);
  });

  it("refuse data that do not fit their schema", async () => {
    const answer = await custom({ attestation_data: { line: "x" } });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toBe("Input payload validation failed");
    expect(Object.keys(answer.json.errors)).toEqual(["attestation_data/line"]);
    expect((await org.reader.get(`/flows/${org.name}`)).json).toEqual([]);
  });

  it("have to exist and to be in use", async () => {
    const unknown = await custom({ type_name: "nope", attestation_data: {} });
    expect([unknown.status, unknown.json.message]).toEqual([
      404,
      `Custom attestation type 'nope' does not exist for org '${org.name}'`,
    ]);
    await org.member.put(`/custom-attestation-types/${org.name}/coverage/archive`);
    const archived = await custom({ attestation_data: { line: 92 } });
    expect([archived.status, archived.json.message]).toEqual([
      400,
      "Custom attestation type 'coverage' is archived",
    ]);
  });

  it("can be asked for in an older version", async () => {
    const parts = partsOf({ name: "coverage", evaluator: jq(".line >= 95") }, schema);
    await org.member.request("POST", `/custom-attestation-types/${org.name}`, { parts });
    await custom({ attestation_data: { line: 92 } });
    expect((await trail()).compliance_state).toBe("NON-COMPLIANT");
    await custom({ attestation_data: { line: 92 }, type_name: "coverage@v1" });
    expect((await trail()).compliance_state).toBe("COMPLIANT");
  });
});

describe("events of a trail", () => {
  it("tell everything in order", async () => {
    await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
    await report({ git_commit_info: commitInfo(commit), repo_info: repoInfo("acme/web") });
    await report({ is_compliant: false });
    await report({ target_artifacts: ["api", "cli"], git_commit_info: commitInfo(commit) });
    await artifact({ filename: "api:1" });
    await report({ artifact_fingerprint: fingerprint });
    await putTrail(org.member, `${org.name}/web-ci`, { name: "run", description: "new" });
    const { events } = await trail();
    const particular = events.map((event: Record<string, unknown>) => {
      const {
        org_id: _,
        flow_id: __,
        trail_id: ___,
        timestamp: ____,
        repo_info,
        git_commit_info,
        ...rest
      } = event;
      const {
        trail_data_json: _5,
        setting_user_id: _6,
        attestation_id: _7,
        artifact_id: _8,
        ...shown
      } = rest;
      return {
        ...shown,
        repo: (repo_info as { name?: string } | null)?.name,
        commit: git_commit_info !== null,
      };
    });
    const unit = { attestation_type: "generic", is_compliant: true, template_reference_name: "unit" };
    const plain = { repo: undefined, commit: false };
    const pending = { ...unit, type: "trail_attestation_for_artifact_reported", is_reattestation: false };
    expect(particular).toEqual([
      { type: "trail_reported", ...plain },
      {
        type: "trail_attestation_reported",
        ...unit,
        is_reattestation: false,
        repo: "acme/web",
        commit: true,
      },
      { type: "trail_attestation_reported", ...unit, is_compliant: false, is_reattestation: true, ...plain },
      { ...pending, ...plain, target_artifact: "api", commit: true },
      { ...pending, ...plain, target_artifact: "cli", commit: true },
      {
        type: "artifact_creation_reported",
        artifact_fingerprint: fingerprint,
        artifact_name: "api:1",
        template_reference_name: "api",
        git_commit: commit,
        ...plain,
      },
      {
        type: "artifact_attestation_reported",
        ...unit,
        is_reattestation: false,
        artifact_fingerprint: fingerprint,
        artifact_name: "api:1",
        target_artifact: "api",
        ...plain,
      },
      { type: "trail_updated", changes: ["description"], ...plain },
    ]);
    const times = events.map((event: { timestamp: number }) => event.timestamp);
    expect(times).toEqual(times.toSorted((a: number, b: number) => a - b));
  });
});
