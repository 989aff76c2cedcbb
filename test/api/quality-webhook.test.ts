import { randomBytes } from "node:crypto";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import {
  analysis,
  analysisWith,
  deliver,
  deliveriesOf,
  type Hook,
  type Json,
  newHook,
  pathOf,
  processed,
  rowsOf,
  signatureOf,
  taskId,
  type Webhook,
} from "../support/quality-server.ts";
import { amount } from "../support/thorough.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const unauthenticated = { message: "Invalid or missing credentials" };
const ours = "x-quality-webhook-hmac-sha256";
const theirs = "x-sonar-webhook-hmac-sha256";

function hook(settings: Json = {}): Promise<Hook> {
  return newHook(app, settings);
}

function process(webhook: Hook, payload: Json): Promise<Json> {
  return processed(app, webhook, payload);
}

function post(webhook: Webhook, body: string | Buffer, headers: Record<string, string> = {}) {
  return app.anonymous.request("POST", pathOf(webhook), {
    payload: body,
    headers: { "content-type": "application/json", ...headers },
  });
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
    expect(await deliveriesOf(org)).toMatchObject([
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
    expect(await deliveriesOf(org)).toEqual([]);
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
    expect(await deliveriesOf(org)).toEqual([]);
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
    const path = pathOf({ url });
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
    expect(await deliveriesOf(org)).toHaveLength(2);
  });

  it("is no use in another organization", async () => {
    const { url } = await hook();
    const other = await app.org();
    expect((await other.admin.post(pathOf({ url }), analysis())).status).toBe(401);
  });

  it("works as basic credentials", async () => {
    const { url, org } = await hook();
    const basic = Buffer.from(`${org.member.key}:`).toString("base64");
    const answer = await post({ url }, JSON.stringify(analysis()), { authorization: `Basic ${basic}` });
    expect(answer.status).toBe(200);
  });

  it("names its owner as the reporter", async () => {
    const { url, org } = await hook();
    await org.member.post(pathOf({ url }), analysis());
    await runPendingJobs(app);
    const [delivery] = await deliveriesOf(org);
    expect(delivery).toMatchObject({ status: "processed", authenticated_by: "api_key" });
    const [attestation] = await rowsOf(app, "attestations", org);
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
    for (const uid of ["nope", randomBytes(24).toString("base64url"), "a%2Fb", "x".repeat(2000)])
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
        expect(answer.status).toBe(404);
        expect(answer.json).toEqual({ message: "Webhook not found" });
      }
  });

  it("takes as long as a wrong signature", async () => {
    const { url } = await hook();
    // Nothing is read for an unknown hook: what is compared is the work on it, beside which a small body does not count.
    const body = JSON.stringify(analysis());
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
      expect(await deliveriesOf(org)).toEqual([]);
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

  it("of more than a mebibyte is refused, before anybody knows who sent it", async () => {
    const { url, secret, org } = await hook();
    const body = JSON.stringify(analysis({ padding: "x".repeat(1024 * 1024) }));
    expect((await post({ url }, body, { [ours]: signatureOf("another", body) })).status).toBe(413);
    const answer = await post({ url }, body, { [ours]: signatureOf(secret, body) });
    expect(answer.status).toBe(413);
    expect(answer.json).toEqual({ message: "Request body is too large" });
    expect(await deliveriesOf(org)).toEqual([]);
  });

  it("never leads to a fault, whatever it is", async () => {
    const runs = amount(100, 300);
    const { url, secret, org } = await hook();
    const key = fc.constantFrom(
      "taskId",
      "status",
      "revision",
      "project",
      "branch",
      "qualityGate",
      "properties",
      "x",
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
      { numRuns: runs },
    );
    await runPendingJobs(app);
    const left = await rowsOf(app, "quality_deliveries", org);
    expect(left.length).toBeGreaterThan(runs / 6);
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
    expect((await deliveriesOf(webhook.org)).map(({ status }) => status)).toEqual(["duplicate", "processed"]);
    expect(await rowsOf(app, "attestations", webhook.org)).toHaveLength(1);
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
    expect(await rowsOf(app, "attestations", webhook.org)).toHaveLength(1);
    expect(await deliveriesOf(webhook.org)).toHaveLength(50);
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
    expect(await rowsOf(app, "attestations", webhook.org)).toHaveLength(3);
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
    expect(await deliveriesOf(webhook.org)).toMatchObject([
      { status: "ignored", reason, attestation_id: null, flow_name: null, processed_at: expect.any(Number) },
    ]);
    expect(await rowsOf(app, "flows", webhook.org)).toEqual([]);
    expect(await rowsOf(app, "attestations", webhook.org)).toEqual([]);
  });

  it("an empty object is ignored", async () => {
    const webhook = await hook();
    expect((await deliver(app.anonymous, webhook, {})).json.status).toBe("ignored");
  });
});
