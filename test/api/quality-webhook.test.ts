import { randomBytes } from "node:crypto";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import {
  analysis,
  analysisWith,
  commitSha,
  deliver,
  type Json,
  signatureOf,
  switchOn,
  taskId,
  type Webhook,
} from "../support/quality-server.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unauthenticated = { message: "Invalid or missing credentials" };
const ours = "x-quality-webhook-hmac-sha256";
const theirs = "x-sonar-webhook-hmac-sha256";

interface Hook extends Required<Webhook> {
  org: TestOrg;
}

async function hook(settings: Json = {}): Promise<Hook> {
  const org = await app.org();
  return { org, ...(await switchOn(org, settings)) };
}

function post(webhook: Webhook, body: string | Buffer, headers: Record<string, string> = {}) {
  return app.anonymous.request("POST", new URL(webhook.url).pathname, {
    payload: body,
    headers: { "content-type": "application/json", ...headers },
  });
}

async function deliveries(org: TestOrg): Promise<Json[]> {
  const { json } = await org.member.get(`/integrations/${org.name}/quality/deliveries?per_page=100`);
  return json.deliveries;
}

async function rowsOf(table: string, org: TestOrg): Promise<Json[]> {
  const { rows } = await app.deps.db.pool.query(`select * from ${table} where org_id = $1 order by id`, [
    org.id,
  ]);
  return rows;
}

/** Delivers and lets the job run; the delivery as it is listed afterwards. */
async function process(webhook: Hook, payload: Json): Promise<Json> {
  expect((await deliver(app.anonymous, webhook, payload)).json).toEqual({ status: "accepted" });
  await runPendingJobs(app);
  return (await deliveries(webhook.org))[0]!;
}

describe("signature", () => {
  it.each([
    ["our header", ours, "quality"],
    ["the senders' header", theirs, "quality"],
    ["our header, the senders' path", ours, "sonar"],
    ["the senders' header and path", theirs, "sonar"],
  ])("is read from %s", async (_name, header, path) => {
    const { url, secret, org } = await hook();
    const body = JSON.stringify(analysis());
    const answer = await post({ url: url.replace("/quality/", `/${path}/`) }, body, {
      [header]: signatureOf(secret, body),
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ status: "accepted" });
    expect(await deliveries(org)).toMatchObject([
      { status: "accepted", authenticated_by: "signature", reported_by: "Quality webhook" },
    ]);
  });

  it("is over the bytes as sent", async () => {
    const { url, secret } = await hook();
    const compact = JSON.stringify(analysis());
    const pretty = JSON.stringify(JSON.parse(compact), null, 2);
    expect((await post({ url }, pretty, { [ours]: signatureOf(secret, compact) })).status).toBe(401);
    expect((await post({ url }, pretty, { [ours]: signatureOf(secret, pretty) })).status).toBe(200);
    const unicode = JSON.stringify(analysis({ project: { key: "ü", name: "日本", url: "x" } }));
    expect((await post({ url }, unicode, { [ours]: signatureOf(secret, unicode) })).status).toBe(200);
  });

  it("does not depend on the content type", async () => {
    const { url, secret } = await hook();
    for (const type of [
      "text/plain",
      "application/json; charset=latin1",
      "application/x-www-form-urlencoded",
    ]) {
      const body = JSON.stringify(analysis());
      const headers = { "content-type": type, [ours]: signatureOf(secret, body) };
      expect((await post({ url }, body, headers)).status).toBe(200);
    }
  });

  it.each<[string, (secret: string, body: string) => string]>([
    ["of another secret", (_secret, body) => signatureOf("another", body)],
    ["of another body", (secret) => signatureOf(secret, "{}")],
    ["in capitals", (secret, body) => signatureOf(secret, body).toUpperCase()],
    ["with a prefix", (secret, body) => `sha256=${signatureOf(secret, body)}`],
    ["cut short", (secret, body) => signatureOf(secret, body).slice(0, 63)],
    ["that is no hex", () => "x".repeat(64)],
    ["that is empty", () => ""],
  ])("%s is refused", async (_name, sign) => {
    const { url, secret, org } = await hook();
    const body = JSON.stringify(analysis());
    const answer = await post({ url }, body, { [ours]: sign(secret, body) });
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual(unauthenticated);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(await deliveries(org)).toEqual([]);
  });

  it("that is wrong is refused whatever else was sent", async () => {
    const { url, secret, org } = await hook();
    const body = JSON.stringify(analysis());
    const right = signatureOf(secret, body);
    const wrong = signatureOf("another", body);
    const key = { authorization: `Bearer ${org.admin.key}` };
    expect((await post({ url }, body, { ...key, [ours]: wrong })).status).toBe(401);
    expect((await post({ url }, body, { ...key, [theirs]: wrong })).status).toBe(401);
    expect((await post({ url }, body, { [ours]: right, [theirs]: wrong })).status).toBe(401);
    expect((await post({ url }, body, { [ours]: wrong, [theirs]: right })).status).toBe(401);
    expect((await post({ url }, "not json", { [ours]: wrong })).status).toBe(401);
    expect(await deliveries(org)).toEqual([]);
  });

  it("that is right is enough, in both headers and beside a bad key", async () => {
    const { url, secret } = await hook();
    const body = JSON.stringify(analysis());
    const right = signatureOf(secret, body);
    expect((await post({ url }, body, { [ours]: right, [theirs]: right })).status).toBe(200);
    const basic = { authorization: `Basic ${Buffer.from("user:password").toString("base64")}` };
    expect((await post({ url }, body, { ...basic, [theirs]: right })).status).toBe(200);
  });
});

describe("key instead of a signature", () => {
  it("needs the role of a member in the hook's organization", async () => {
    const { url, org } = await hook();
    const path = new URL(url).pathname;
    for (const client of [org.admin, org.member])
      expect((await client.post(path, analysis())).status).toBe(200);
    for (const client of [
      org.snapshotter,
      org.reader,
      (await app.user()).client,
      app.as("bogus"),
      app.anonymous,
    ]) {
      const answer = await client.post(path, analysis());
      expect(answer.status).toBe(401);
      expect(answer.json).toEqual(unauthenticated);
    }
    expect(await deliveries(org)).toHaveLength(2);
  });

  it("is no use in another organization", async () => {
    const { url } = await hook();
    const other = await app.org();
    expect((await other.admin.post(new URL(url).pathname, analysis())).status).toBe(401);
  });

  it("works as basic credentials", async () => {
    const { url, org } = await hook();
    const basic = Buffer.from(`${org.member.key}:`).toString("base64");
    const answer = await post({ url }, JSON.stringify(analysis()), { authorization: `Basic ${basic}` });
    expect(answer.status).toBe(200);
  });

  it("names its owner as the reporter", async () => {
    const { url, org } = await hook();
    await org.member.post(new URL(url).pathname, analysis());
    await runPendingJobs(app);
    const [delivery] = await deliveries(org);
    expect(delivery).toMatchObject({ status: "processed", authenticated_by: "api_key" });
    const [attestation] = await rowsOf("attestations", org);
    expect(attestation!["created_by_name"]).toBe(delivery!["reported_by"]);
    const { rows } = await app.deps.db.pool.query(
      "select actor_kind, actor_name from audit_log where org_id = $1 and action = 'quality_webhook'",
      [org.id],
    );
    expect(rows).toEqual([{ actor_kind: "user", actor_name: delivery!["reported_by"] }]);
  });
});

describe("unknown hook", () => {
  it("is not found, with whatever credentials", async () => {
    const { secret, org } = await hook();
    const body = JSON.stringify(analysis());
    for (const uid of ["nope", randomBytes(24).toString("base64url"), "%00", "a%2Fb", "x".repeat(2000)])
      for (const headers of [
        { [ours]: signatureOf(secret, body) },
        { authorization: `Bearer ${org.admin.key}` },
        {},
      ]) {
        const answer = await post(
          { url: `http://waybill.test/api/v2/webhooks/quality/${uid}` },
          body,
          headers,
        );
        expect(answer.status).toBe(uid === "%00" ? 400 : 404);
        if (uid !== "%00") expect(answer.json).toEqual({ message: "Webhook not found" });
      }
  });

  it("takes as long as a wrong signature", async () => {
    const { url } = await hook();
    const body = JSON.stringify(analysis({ padding: "x".repeat(200_000) }));
    const wrong = { [ours]: signatureOf("another", body) };
    const unknown = { url: `${url.slice(0, -1)}${url.endsWith("A") ? "B" : "A"}` };
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let round = 0; round < 40; round += 1)
      for (const [kind, target] of [
        ["known", { url }],
        ["unknown", unknown],
      ] as const) {
        const start = performance.now();
        await post(target, body, wrong);
        times[kind].push(performance.now() - start);
      }
    const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
    const ratio = median(times.known) / median(times.unknown);
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });
});

describe("body", () => {
  it.each(["", "   ", "{", "nonsense", "{}x", '{"a":"\\u0000"}', '{"a":"\\ud800"}', '{"__proto__":1}'])(
    "that is no JSON is refused: %s",
    async (body) => {
      const { url, secret, org } = await hook();
      const answer = await post({ url }, body, { [ours]: signatureOf(secret, body) });
      expect(answer.status).toBe(400);
      expect(answer.json.message).toMatch(/^Request body /);
      expect(await deliveries(org)).toEqual([]);
    },
  );

  it.each(["null", "5", '"text"', "[]", "[{}]", "true"])("that is no object is refused: %s", async (body) => {
    const { url, secret } = await hook();
    const answer = await post({ url }, body, { [ours]: signatureOf(secret, body) });
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ message: "Request body must be a JSON object" });
  });

  it("in broken UTF-8, and nested without end, is refused", async () => {
    const { url, secret } = await hook();
    const bodies = [
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.from(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`),
    ];
    for (const body of bodies)
      expect(
        (await post({ url }, body, { [ours]: signatureOf(secret, body.toString("latin1")) })).status,
      ).toBe(body.length === 7 ? 401 : 400);
    const broken = bodies[0]!;
    expect((await post({ url }, broken, { [ours]: signatureOf(secret, broken) })).status).toBe(400);
  });

  it("of more than a mebibyte is refused, but only from a genuine sender", async () => {
    const { url, secret, org } = await hook();
    const body = JSON.stringify(analysis({ padding: "x".repeat(1024 * 1024) }));
    expect((await post({ url }, body, { [ours]: "wrong" })).status).toBe(401);
    const answer = await post({ url }, body, { [ours]: signatureOf(secret, body) });
    expect(answer.status).toBe(413);
    expect(answer.json).toEqual({ message: "Request body is too large" });
    expect(await deliveries(org)).toEqual([]);
  });

  it("never leads to a fault, whatever it is", async () => {
    const { url, secret, org } = await hook();
    const key = fc.constantFrom(
      ...["taskId", "status", "revision", "project", "branch", "qualityGate", "properties", "x"],
    );
    const objects = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })).map((changes) => analysis(changes));
    const bodies = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.json().map((text) => Buffer.from(text)),
      objects.map((value) => Buffer.from(JSON.stringify(value))),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const answer = await post({ url }, body, { [ours]: signatureOf(secret, body) });
        expect([200, 400]).toContain(answer.status);
      }),
      { numRuns: 300 },
    );
    await runPendingJobs(app);
    const left = await rowsOf("quality_deliveries", org);
    expect(left.length).toBeGreaterThan(50);
    expect(left.filter(({ status }) => status === "accepted")).toEqual([]);
  });
});

describe("duplicates", () => {
  it("of a task are answered and listed as such, and come to nothing", async () => {
    const webhook = await hook();
    const payload = analysis();
    await process(webhook, payload);
    const again = await deliver(app.anonymous, webhook, payload);
    expect(again.status).toBe(200);
    expect(again.json).toEqual({
      status: "duplicate",
      reason: `Analysis ${String(payload["taskId"])} was delivered before`,
    });
    await runPendingJobs(app);
    expect((await deliveries(webhook.org)).map(({ status }) => status)).toEqual(["duplicate", "processed"]);
    expect(await rowsOf("attestations", webhook.org)).toHaveLength(1);
  });

  it("sent at the same moment count once", async () => {
    const webhook = await hook();
    const payload = analysis();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => deliver(app.anonymous, webhook, payload)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    const said = answers.map(({ json }) => json.status);
    expect(said.filter((status) => status === "accepted")).toHaveLength(1);
    expect(said.filter((status) => status === "duplicate")).toHaveLength(49);
    await runPendingJobs(app);
    expect(await rowsOf("attestations", webhook.org)).toHaveLength(1);
    expect(await deliveries(webhook.org)).toHaveLength(50);
  });

  it("are told by the task, not by the content", async () => {
    const webhook = await hook();
    const payload = analysis();
    await deliver(app.anonymous, webhook, payload);
    const changed = { ...payload, qualityGate: { status: "ERROR" } };
    expect((await deliver(app.anonymous, webhook, changed)).json.status).toBe("duplicate");
    const other = { ...payload, taskId: taskId() };
    expect((await deliver(app.anonymous, webhook, other)).json.status).toBe("accepted");
  });

  it("exist within an organization only", async () => {
    const [one, other] = [await hook(), await hook()];
    const payload = analysis();
    expect((await deliver(app.anonymous, one, payload)).json.status).toBe("accepted");
    expect((await deliver(app.anonymous, other, payload)).json.status).toBe("accepted");
  });

  it.each([undefined, null, ""])("do not exist without a task id: %j", async (id) => {
    const webhook = await hook();
    const payload = analysis({ taskId: id });
    for (let times = 0; times < 3; times += 1)
      expect((await deliver(app.anonymous, webhook, payload)).json).toEqual({ status: "accepted" });
    await runPendingJobs(app);
    expect(await rowsOf("attestations", webhook.org)).toHaveLength(3);
  });

  it("do not exist of what came to nothing", async () => {
    const webhook = await hook();
    const payload = analysisWith({ trail: "not valid" });
    expect((await deliver(app.anonymous, webhook, payload)).json.status).toBe("ignored");
    expect((await deliver(app.anonymous, webhook, payload)).json.status).toBe("ignored");
    const mended = { ...payload, properties: {} };
    expect((await deliver(app.anonymous, webhook, mended)).json.status).toBe("accepted");
  });
});

describe("analyses without a result", () => {
  it.each<[string, Json, string]>([
    ["a failed task", { status: "FAILED" }, "The analysis ended with status 'FAILED'"],
    ["no status", { status: undefined }, "The analysis has no status"],
    ["no revision", { revision: undefined }, "The analysis has no revision and no trail is named"],
    ["a revision that is no trail name", { revision: "a b" }, "Trail name 'a b' is not valid"],
    ["no project", { project: undefined }, "Field project.key is missing and no flow is named"],
    ["a field of the wrong kind", { qualityGate: "OK" }, "Field qualityGate should be an object"],
  ])("%s: ignored with the reason", async (_name, changes, reason) => {
    const webhook = await hook();
    const answer = await deliver(app.anonymous, webhook, analysis(changes));
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ status: "ignored", reason });
    await runPendingJobs(app);
    expect(await deliveries(webhook.org)).toMatchObject([
      { status: "ignored", reason, attestation_id: null, flow_name: null, processed_at: expect.any(Number) },
    ]);
    expect(await rowsOf("flows", webhook.org)).toEqual([]);
    expect(await rowsOf("attestations", webhook.org)).toEqual([]);
  });

  it("an empty object is ignored", async () => {
    const webhook = await hook();
    expect((await deliver(app.anonymous, webhook, {})).json.status).toBe("ignored");
  });
});

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
    const [flow] = await rowsOf("flows", webhook.org);
    expect(flow).toMatchObject({ name: "shop-api", description: "", created_by_name: "Quality webhook" });
    const [trail] = await rowsOf("trails", webhook.org);
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
    expect(await rowsOf("flows", webhook.org)).toMatchObject([{ name: "ci", description: "All builds" }]);
    expect(await rowsOf("trails", webhook.org)).toMatchObject([{ name: "run-1", description: "The first" }]);
  });

  it("uses the flow and trail that are there and does not change them", async () => {
    const webhook = await hook();
    const first = { flow: "ci", flow_description: "old", trail: "run", trail_description: "old" };
    await process(webhook, analysisWith(first));
    const before = [await rowsOf("flows", webhook.org), await rowsOf("trails", webhook.org)];
    const second = { ...first, flow_description: "new", trail_description: "new" };
    await process(webhook, analysisWith(second));
    const after = [await rowsOf("flows", webhook.org), await rowsOf("trails", webhook.org)];
    const still = (rows: Json[]) => rows.map(({ last_modified_at: _at, ...rest }) => rest);
    expect(after.map(still)).toEqual(before.map(still));
    expect(await rowsOf("attestations", webhook.org)).toHaveLength(2);
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
    expect(await deliveries(webhook.org)).toMatchObject([
      { status: "processed", flow_name: "early-shop-api" },
    ]);
    expect(await rowsOf("flows", webhook.org)).toMatchObject([{ name: "early-shop-api" }]);
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
      expect(await rowsOf(table, webhook.org)).toEqual([]);
    await report(webhook, { fingerprint, trail_name: "another", git_commit: commitSha() });
    expect(await process(webhook, payload)).toMatchObject({ status: "refused", reason });
    await report(webhook, { fingerprint, git_commit: commitSha() });
    expect(await process(webhook, payload)).toMatchObject({ status: "processed" });
  });

  it.each(["before", "after"])("named with a commit are attested %s they exist", async (order) => {
    const webhook = await hook();
    const fingerprint = randomBytes(32).toString("hex");
    const sha = commitSha();
    const artifact = { fingerprint, git_commit: sha };
    if (order === "after") await report(webhook, artifact);
    const parameters = { flow: "ci", trail: "run", attestation: "backend.quality", git_commit: sha };
    await process(webhook, analysisWith(parameters));
    const base = `/attestations/${webhook.org.name}/ci`;
    if (order === "before") {
      const waiting = await webhook.org.reader.get(`${base}/trail/run/quality`);
      expect(waiting.json).toMatchObject([{ target_artifacts: ["backend"], artifact_fingerprint: null }]);
      await report(webhook, artifact);
    }
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
    const parameters = { flow: "ci", trail: "run", attestation: "backend.quality", git_commit: sha };
    await process(webhook, analysisWith(parameters));
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
