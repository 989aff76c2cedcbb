import { randomBytes } from "node:crypto";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import {
  analysis,
  analysisWith,
  commitSha,
  deliver,
  deliveriesOf,
  type Hook,
  type Json,
  newHook,
  processed,
  rowsOf,
} from "../support/quality-server.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function hook(settings: Json = {}): Promise<Hook> {
  return newHook(app, settings);
}

function process(webhook: Hook, payload: Json): Promise<Json> {
  return processed(app, webhook, payload);
}

describe("what a delivery brings about", () => {
  it("flow, trail and attestation by default", async () => {
    const webhook = await hook();
    const payload = analysis();
    const delivery = await process(webhook, payload);
    const { properties: _properties, ...results } = payload;
    expect(delivery).toMatchObject({
      status: "processed",
      reason: null,
      task_id: payload["taskId"],
      project_key: "shop-api",
      flow_name: "shop-api",
      trail_name: payload["revision"],
    });
    const path = `/attestations/${webhook.org.name}/shop-api/trail/${String(payload["revision"])}/sonar`;
    const { json } = await webhook.org.reader.get(path);
    expect(json).toHaveLength(1);
    expect(json[0]).toMatchObject({
      attestation_id: delivery["attestation_id"],
      attestation_name: "sonar",
      attestation_type: "sonar",
      is_compliant: true,
      artifact_fingerprint: null,
      target_artifacts: null,
      git_commit_info: { sha1: payload["revision"], branch: "main" },
      sonar_results: results,
      flow_name: "shop-api",
      trail_name: payload["revision"],
      reported_by: "Quality webhook",
    });
    const [flow] = await rowsOf(app, "flows", webhook.org);
    expect(flow).toMatchObject({ name: "shop-api", description: "", created_by_name: "Quality webhook" });
    const [trail] = await rowsOf(app, "trails", webhook.org);
    expect(trail).toMatchObject({ name: payload["revision"], description: "" });
  });

  it.each(["waybill", "kosli"])("what the scanner's %s parameters say", async (prefix) => {
    const webhook = await hook({ flow_name_prefix: "unused-" });
    const sha = commitSha();
    const parameters = {
      flow: "ci",
      flow_description: "All builds",
      trail: "run-1",
      trail_description: "The first",
      attestation: "code-quality",
      git_commit: sha,
    };
    await process(webhook, analysisWith(parameters, {}, prefix));
    const { json } = await webhook.org.reader.get(
      `/attestations/${webhook.org.name}/ci/trail/run-1/code-quality`,
    );
    expect(json).toMatchObject([{ attestation_name: "code-quality", git_commit_info: { sha1: sha } }]);
    expect(await rowsOf(app, "flows", webhook.org)).toMatchObject([
      { name: "ci", description: "All builds" },
    ]);
    expect(await rowsOf(app, "trails", webhook.org)).toMatchObject([
      { name: "run-1", description: "The first" },
    ]);
  });

  it("uses the flow and trail that are there and does not change them", async () => {
    const webhook = await hook();
    const first = { flow: "ci", flow_description: "old", trail: "run", trail_description: "old" };
    await process(webhook, analysisWith(first));
    const before = [await rowsOf(app, "flows", webhook.org), await rowsOf(app, "trails", webhook.org)];
    const second = { ...first, flow_description: "new", trail_description: "new" };
    await process(webhook, analysisWith(second));
    const after = [await rowsOf(app, "flows", webhook.org), await rowsOf(app, "trails", webhook.org)];
    const still = (rows: Json[]) => rows.map(({ last_modified_at: _at, ...rest }) => rest);
    expect(after.map(still)).toEqual(before.map(still));
    expect(await rowsOf(app, "attestations", webhook.org)).toHaveLength(2);
  });

  it("names the flow as the settings say", async () => {
    const webhook = await hook({
      flow_name_base: "name",
      flow_name_prefix: "team a/",
      flow_name_suffix: "-quality",
    });
    expect((await process(webhook, analysis()))["flow_name"]).toBe("team-a-Shop-API-quality");
  });

  it("goes by the settings in force when it came", async () => {
    const webhook = await hook({ flow_name_prefix: "early-" });
    await deliver(app.anonymous, webhook, analysis());
    await webhook.org.member.put(`/integrations/${webhook.org.name}/quality`, { flow_name_prefix: "late-" });
    await webhook.org.member.delete(`/integrations/${webhook.org.name}/quality`);
    await runPendingJobs(app);
    expect(await deliveriesOf(webhook.org)).toMatchObject([
      { status: "processed", flow_name: "early-shop-api" },
    ]);
    expect(await rowsOf(app, "flows", webhook.org)).toMatchObject([{ name: "early-shop-api" }]);
  });

  it.each<[string, unknown, boolean, string | null]>([
    ["passed", { status: "OK" }, true, null],
    ["failed", { status: "ERROR", conditions: [] }, false, null],
    ["warned", { status: "WARN" }, false, null],
    ["missing", undefined, false, "The analysis has no quality gate"],
  ])("takes the verdict from the gate: %s", async (_name, qualityGate, is_compliant, description) => {
    const webhook = await hook();
    const revision = commitSha();
    await process(webhook, analysis({ qualityGate, revision }));
    const { json } = await webhook.org.reader.get(
      `/attestations/${webhook.org.name}/shop-api/trail/${revision}/sonar`,
    );
    expect(json).toMatchObject([{ is_compliant, description }]);
  });

  it("adds an attestation when a person changes an issue later: no task id, same revision", async () => {
    const webhook = await hook();
    const revision = commitSha();
    await process(webhook, analysis({ revision, qualityGate: { status: "ERROR" } }));
    await process(webhook, analysis({ revision, taskId: undefined }));
    const { json } = await webhook.org.reader.get(
      `/attestations/${webhook.org.name}/shop-api/trail/${revision}/sonar`,
    );
    expect(json.map(({ is_compliant }: Json) => is_compliant)).toEqual([false, true]);
  });
});

describe("artifacts", () => {
  function report(webhook: Hook, artifact: Json) {
    return webhook.org.member.post(`/artifacts/${webhook.org.name}/ci`, {
      filename: "backend.tar",
      build_url: "https://ci.example.org/1",
      commit_url: "https://git.example.org/1",
      template_reference_name: "backend",
      trail_name: "run",
      ...artifact,
    });
  }

  it("known on the trail are attested by fingerprint", async () => {
    const webhook = await hook();
    const fingerprint = randomBytes(32).toString("hex");
    expect((await report(webhook, { fingerprint, git_commit: commitSha() })).status).toBe(201);
    const parameters = { flow: "ci", trail: "run", artifact_fingerprint: fingerprint };
    expect(await process(webhook, analysisWith(parameters))).toMatchObject({ status: "processed" });
    const base = `/attestations/${webhook.org.name}/ci`;
    const byArtifact = await webhook.org.reader.get(`${base}/artifact/${fingerprint}/sonar`);
    expect(byArtifact.json).toMatchObject([
      { artifact_fingerprint: fingerprint, target_artifacts: ["backend"], trail_name: "run" },
    ]);
    expect((await webhook.org.reader.get(`${base}/trail/run/sonar`)).json).toEqual([]);
  });

  it("not known on the trail lead to a refusal that says so, and to nothing else", async () => {
    const webhook = await hook();
    const fingerprint = randomBytes(32).toString("hex");
    const parameters = { flow: "ci", trail: "run", artifact_fingerprint: fingerprint };
    const reason = `Artifact with fingerprint ${fingerprint} does not exist in trail "run" of flow "ci" belonging to organization "${webhook.org.name}"`;
    const payload = analysisWith(parameters);
    expect(await process(webhook, payload)).toMatchObject({
      status: "refused",
      reason,
      flow_name: "ci",
      trail_name: "run",
      attestation_id: null,
      processed_at: expect.any(Number),
    });
    for (const table of ["flows", "trails", "attestations"])
      expect(await rowsOf(app, table, webhook.org)).toEqual([]);
    await report(webhook, { fingerprint, trail_name: "another", git_commit: commitSha() });
    expect(await process(webhook, payload)).toMatchObject({ status: "refused", reason });
    await report(webhook, { fingerprint, git_commit: commitSha() });
    expect(await process(webhook, payload)).toMatchObject({ status: "processed" });
  });

  const target = { flow: "ci", trail: "run", attestation: "backend.quality" };

  it("named with a commit are attested before they exist", async () => {
    const webhook = await hook();
    const fingerprint = randomBytes(32).toString("hex");
    const sha = commitSha();
    await process(webhook, analysisWith({ ...target, git_commit: sha }));
    const base = `/attestations/${webhook.org.name}/ci`;
    const waiting = await webhook.org.reader.get(`${base}/trail/run/quality`);
    expect(waiting.json).toMatchObject([{ target_artifacts: ["backend"], artifact_fingerprint: null }]);
    await report(webhook, { fingerprint, git_commit: sha });
    const { json } = await webhook.org.reader.get(`${base}/artifact/${fingerprint}/quality`);
    expect(json).toMatchObject([{ target_artifacts: ["backend"], git_commit_info: { sha1: sha } }]);
    expect((await webhook.org.reader.get(`${base}/trail/run/quality`)).json).toEqual([]);
  });

  it("named with a commit are attested after they exist", async () => {
    const webhook = await hook();
    const fingerprint = randomBytes(32).toString("hex");
    const sha = commitSha();
    await report(webhook, { fingerprint, git_commit: sha });
    await process(webhook, analysisWith({ ...target, git_commit: sha }));
    const base = `/attestations/${webhook.org.name}/ci`;
    const { json } = await webhook.org.reader.get(`${base}/artifact/${fingerprint}/quality`);
    expect(json).toMatchObject([{ target_artifacts: ["backend"], git_commit_info: { sha1: sha } }]);
    expect((await webhook.org.reader.get(`${base}/trail/run/quality`)).json).toEqual([]);
  });

  it("of another commit or name are not meant", async () => {
    const webhook = await hook();
    const [one, other] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
    const sha = commitSha();
    await report(webhook, { fingerprint: one, git_commit: commitSha() });
    await report(webhook, { fingerprint: other, git_commit: sha, template_reference_name: "frontend" });
    await process(webhook, analysisWith({ ...target, git_commit: sha }));
    const base = `/attestations/${webhook.org.name}/ci`;
    for (const fingerprint of [one, other])
      expect((await webhook.org.reader.get(`${base}/artifact/${fingerprint}/quality`)).json).toEqual([]);
    expect((await webhook.org.reader.get(`${base}/trail/run/quality`)).json).toHaveLength(1);
  });
});

describe("audit", () => {
  it("names the integration, for the delivery and for what came of it", async () => {
    const webhook = await hook();
    const delivery = await process(webhook, analysis());
    const { rows } = await app.deps.db.pool.query(
      `select actor_kind, actor_name, action, resource_type, resource from audit_log
       where org_id = $1 and action <> 'put_quality_integration' order by seq`,
      [webhook.org.id],
    );
    const actor = { actor_kind: "integration", actor_name: "Quality webhook" };
    const ofDelivery = { resource_type: "quality_delivery", resource: delivery["id"] };
    expect(rows).toEqual([
      { ...actor, ...ofDelivery, action: "quality_webhook" },
      { ...actor, ...ofDelivery, action: "process_quality_delivery" },
      {
        ...actor,
        action: "process_quality_delivery",
        resource_type: "attestation",
        resource: delivery["attestation_id"],
      },
    ]);
  });
});
