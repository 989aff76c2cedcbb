import { randomBytes } from "node:crypto";

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { ActionFixtures, putEnv } from "../support/actions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { readMetrics } from "../support/metrics.ts";
import { happen, inProd, watchFlow } from "../support/notifications.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { type Collector, type ReceivedSpan, startCollector } from "../support/traces.ts";

const credentials = {
  accessKey: "known-access",
  secretKey: "a-secret-of-the-bucket",
  region: "eu-central-1",
};
const collectorToken = "a-token-for-the-collector";

let collector: Collector;
let receiver: Receiver;
let bucket: S3Server;
let app: TestApp;
let org: TestOrg;

beforeAll(async () => {
  [collector, receiver, bucket] = await Promise.all([
    startCollector(),
    startReceiver(),
    startS3Server(credentials),
  ]);
  app = await startTestApp({
    ...collector.settings,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${collectorToken}`,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test%20one",
    WAYBILL_ALLOW_PRIVATE_TARGETS: "1",
    WAYBILL_EVIDENCE_S3_ENDPOINT: bucket.endpoint,
    WAYBILL_EVIDENCE_S3_BUCKET: bucket.bucket,
    WAYBILL_EVIDENCE_S3_REGION: credentials.region,
    WAYBILL_EVIDENCE_S3_ACCESS_KEY: credentials.accessKey,
    WAYBILL_EVIDENCE_S3_SECRET_KEY: credentials.secretKey,
  });
});
afterAll(async () => {
  await app.close();
  await Promise.all([collector.stop(), receiver.stop(), bucket.stop()]);
});
beforeEach(async () => {
  org = await app.org();
});

/** What a caller sends whose own trace is recorded, or is not. */
function caller(flags = "01") {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

const named =
  (name: string, traceId: string) =>
  (span: ReceivedSpan): boolean =>
    span.name === name && span.traceId === traceId;

/** All spans of a trace, once this one of them has come: what came before it has been exported with it or before. */
async function traceOf(traceId: string, last: string): Promise<ReceivedSpan[]> {
  await collector.wait(named(last, traceId));
  return collector.spans().filter((span) => span.traceId === traceId);
}

interface Line {
  msg: string;
  trace_id?: string;
  operation?: string;
}

const linesOf = (traceId: string): Line[] =>
  app
    .logged()
    .split("\n")
    .filter((line) => line.includes(traceId))
    .map((line) => JSON.parse(line) as Line);

describe("the trace of a request", () => {
  it("goes on with the caller's, and names operation, route and statements", async () => {
    const { traceId, spanId, headers } = caller();
    const path = `/flows/${org.name}`;
    expect((await org.reader.request("GET", path, { headers })).status).toBe(200);
    const spans = await traceOf(traceId, "get_flows");
    const server = spans.find(({ name }) => name === "get_flows")!;
    expect(server).toMatchObject({ kind: 2, parentSpanId: spanId, status: 0, links: [] });
    expect(server.attributes).toEqual({
      "http.request.method": "GET",
      "http.route": "/api/v2/flows/:org",
      "http.response.status_code": 200,
    });
    const parts = spans.filter((span) => span !== server);
    expect(parts.every(({ parentSpanId }) => parentSpanId === server.spanId)).toBe(true);
    expect(parts.map(({ name }) => name)).toContain("authorize");
    const statements = parts.filter(({ kind }) => kind === 3);
    expect(statements.length).toBeGreaterThan(0);
    for (const { name, attributes, ms } of statements) {
      expect(attributes).toEqual({
        "db.system.name": "postgresql",
        "db.query.summary": name,
        "db.response.returned_rows": expect.any(Number),
      });
      expect(name).toMatch(/^[a-z0-9-]+$/);
      expect(ms).toBeGreaterThan(0);
    }
  });

  it("shows a transaction with its statements", async () => {
    const { traceId, headers } = caller();
    const json = { name: "traced", type: "server", description: "" };
    const path = `/environments/${org.name}`;
    expect((await org.snapshotter.request("PUT", path, { headers, json })).status).toBe(201);
    const spans = await traceOf(traceId, "create_env");
    const transaction = spans.find(({ name }) => name === "transaction")!;
    const within = spans.filter(({ parentSpanId }) => parentSpanId === transaction.spanId);
    const names = within.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["begin", "commit"]));
    expect(names.length).toBeGreaterThan(2);
    expect(within.every(({ ms }) => ms <= transaction.ms)).toBe(true);
  });

  it("shows what is written together with others' reports, and links these", async () => {
    const callers = Array.from({ length: 12 }, () => caller());
    const answers = await Promise.all(
      callers.map(({ headers }, index) =>
        org.member.request("POST", `/artifacts/${org.name}/web`, {
          headers,
          json: artifactBody({ trail_name: `run-${index}` }),
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const ids = new Set(callers.map(({ traceId }) => traceId));
    await collector.wait(...callers.map(({ traceId }) => named("create_artifact", traceId)));
    const spans = collector.spans().filter(({ traceId }) => ids.has(traceId));
    expect(spans.filter(({ name }) => name === "reports written together")).toHaveLength(callers.length);
    const written = spans.filter(({ name }) => name === "write reports");
    // Each report is in one batch: as the one that it is part of, or linked.
    const shown = written.flatMap(({ traceId, links }) => [traceId, ...links.map((link) => link.traceId)]);
    expect(new Set(shown)).toEqual(ids);
    expect(written.length).toBeLessThan(callers.length);
    const inside = spans.filter(({ parentSpanId }) => written.some(({ spanId }) => spanId === parentSpanId));
    expect(inside.length).toBeGreaterThanOrEqual(written.length);
  });

  it("is named in the log, in each of its lines", async () => {
    const { traceId, headers } = caller("00");
    await org.reader.request("GET", `/flows/${org.name}`, { headers });
    expect(linesOf(traceId)).toMatchObject([{ msg: "request", operation: "get_flows", trace_id: traceId }]);
  });

  it("is not exported where the caller's is not", async () => {
    const [not, marker] = [caller("00"), caller()];
    await org.reader.request("GET", `/flows/${org.name}`, { headers: not.headers });
    await org.reader.request("GET", `/flows/${org.name}`, { headers: marker.headers });
    await traceOf(marker.traceId, "get_flows");
    expect(collector.spans().filter(({ traceId }) => traceId === not.traceId)).toEqual([]);
  });

  it.each([
    "",
    "00-0",
    `00-${"0".repeat(32)}-${"1".repeat(16)}-01`,
    `ff-${"1".repeat(32)}-${"1".repeat(16)}-01`,
    `00-${"1".repeat(32)}-${"1".repeat(16)}-01-x`,
    "x".repeat(4000),
  ])("begins anew for a caller that sends %j", async (traceparent) => {
    const known = new Set(collector.spans().map((span) => span.spanId));
    const headers = { traceparent, tracestate: "planted=by-a-stranger" };
    expect((await org.reader.request("GET", `/flows/${org.name}`, { headers })).status).toBe(200);
    const [span] = await collector.wait((one) => one.name === "get_flows" && !known.has(one.spanId));
    expect(span!.parentSpanId).toBeUndefined();
    expect(span!.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  });

  it("says that it failed, and which statement did, without what the error says", async () => {
    const { traceId, headers } = caller();
    const { pool } = app.deps.db;
    await pool.query("alter table flows rename to hidden_flows");
    const url = `/api/v2/flows/${org.name}`;
    const sent = { ...headers, authorization: `Bearer ${org.reader.key}` };
    const answer = await app.server.inject({ url, headers: sent });
    await pool.query("alter table hidden_flows rename to flows");
    expect(answer.statusCode).toBe(500);
    const spans = await traceOf(traceId, "get_flows");
    expect(spans.find(({ name }) => name === "get_flows")).toMatchObject({
      status: 2,
      attributes: { "http.response.status_code": 500, "error.type": "500" },
    });
    const failed = spans.filter(({ kind, status }) => kind === 3 && status === 2);
    expect(failed.map(({ attributes }) => attributes["error.type"])).toEqual(["42P01"]);
    expect(linesOf(traceId).map(({ msg }) => msg)).toContain("request");
    expect(linesOf(traceId).length).toBeGreaterThan(1);
  });
});

describe("the trace of a job", () => {
  it("is linked with what queued it, and goes out with the webhook", async () => {
    const { org } = await new ActionFixtures(app).org();
    await watchFlow(org, {
      triggers: ["ON_STARTED_TRAIL"],
      targets: [{ type: "WEBHOOK", webhook: `${receiver.url}/hook-t0ken` }],
    });
    const { traceId, headers } = caller();
    const reported = await org.member.request("POST", `/artifacts/${org.name}/web`, {
      headers,
      json: artifactBody({ trail_name: "told" }),
    });
    expect(reported.status).toBe(201);
    receiver.received.length = 0;
    await runPendingJobs(app);
    expect(receiver.received).toHaveLength(1);
    const sent = String(receiver.received[0]!.headers["traceparent"]);
    expect(sent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    const [, jobTrace = "", spanId] = sent.split("-");
    expect(jobTrace).not.toBe(traceId);
    const spans = await traceOf(jobTrace, "deliver_notification");
    const job = spans.find(({ name }) => name === "deliver_notification")!;
    expect(job).toMatchObject({ kind: 5, parentSpanId: undefined, status: 0 });
    expect(job.links.map((link) => link.traceId)).toEqual([traceId]);
    expect(job.attributes).toMatchObject({ "messaging.destination.name": "deliver_notification" });
    const delivery = spans.find(({ name }) => name === "send webhook")!;
    expect(delivery).toMatchObject({ kind: 3, spanId, parentSpanId: job.spanId, status: 0 });
    expect(delivery.attributes["http.response.status_code"]).toBe(200);
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(["transaction", "commit"]));
  });

  it("says that a delivery failed", async () => {
    const fixtures = new ActionFixtures(app);
    const made = await fixtures.org();
    await putEnv(made.org, { targets: [{ type: "WEBHOOK", webhook: `${receiver.url}/refuses` }] });
    await happen(app, made.org, await inProd(app, made.org, "ON_COMPLIANT_ENV", {}));
    receiver.received.length = 0;
    receiver.answer(() => 503);
    await runPendingJobs(app);
    receiver.answer(() => 200);
    const [, jobTrace = ""] = String(receiver.received[0]!.headers["traceparent"]).split("-");
    const spans = await traceOf(jobTrace, "deliver_notification");
    expect(spans.find(({ name }) => name === "send webhook")).toMatchObject({
      status: 2,
      attributes: { "http.response.status_code": 503, "error.type": "503" },
    });
    expect(spans.find(({ name }) => name === "deliver_notification")!.links).toEqual([]);
  });
});

describe("evidence in a bucket", () => {
  it("is shown by what is asked of the service", async () => {
    const { traceId, headers } = caller();
    const parts = {
      data_json: JSON.stringify({ attestation_name: "report", is_compliant: true }),
      attachment_file: { filename: "report.txt", content: "evidence that nobody may read" },
    };
    const path = `/attestations/${org.name}/web-ci/trail/run/generic`;
    expect((await org.member.request("POST", path, { headers, parts })).status).toBe(201);
    const spans = await traceOf(traceId, "post_generic_attestation");
    const server = spans.find(({ name }) => name === "post_generic_attestation")!;
    expect(spans.find(({ name }) => name === "S3 PutObject")).toMatchObject({
      kind: 3,
      parentSpanId: server.spanId,
      status: 0,
      attributes: { "rpc.system": "aws-api", "rpc.service": "S3", "rpc.method": "PutObject" },
    });
  });
});

describe("what is exported", () => {
  it("goes with the headers that were set, and says which server it is", () => {
    const [first] = collector.received;
    expect(first).toMatchObject({
      method: "POST",
      path: "/v1/traces",
      headers: { authorization: `Bearer ${collectorToken}`, "content-type": "application/json" },
    });
    expect(collector.resource()).toMatchObject({
      "service.name": "waybill",
      "service.version": app.deps.version,
      "service.instance.id": expect.stringMatching(/./),
      "deployment.environment.name": "test one",
      "telemetry.sdk.language": "nodejs",
    });
  });

  it("has nothing of what users sent, and no secret", async () => {
    const { traceId, headers } = caller();
    const planted = "planted-by-a-user";
    const json = artifactBody({ trail_name: planted, filename: planted });
    const path = `/artifacts/${org.name}/${planted}`;
    const sent = { ...headers, "user-agent": planted, "x-request-id": planted, tracestate: `a=${planted}` };
    expect((await org.member.request("POST", path, { headers: sent, json })).status).toBe(201);
    await org.reader.request("GET", `/flows/${org.name}?search=${planted}&page=nonsense`, { headers });
    await org.reader.request("GET", `/flows/${planted}`, { headers });
    await traceOf(traceId, "create_artifact");
    await collector.wait(({ attributes }) => attributes["http.response.status_code"] === 403);
    const text = collector.received.map(({ body }) => body).join("\n");
    const secrets = [planted, org.name, org.member.key!, credentials.secretKey, credentials.accessKey];
    const more = [collectorToken, "hook-t0ken", receiver.url, bucket.bucket, "report.txt", "by-a-stranger"];
    expect([...secrets, ...more].filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/\bselect\b|\binsert into\b/i);
  });

  it("is whole: nothing was lost", async () => {
    expect((await readMetrics(app))("waybill_trace_spans_dropped_total")).toBe(0);
  });
});

describe("names of organizations", () => {
  it("are exported where the operator counts by them", async () => {
    const own = await startCollector();
    const open = await startTestApp({ ...own.settings, WAYBILL_METRICS_BY_ORG: "1" });
    const named = await open.org();
    await named.reader.get(`/flows/${named.name}`);
    const [span] = await own.wait(({ name }) => name === "get_flows");
    expect(span!.attributes["waybill.org"]).toBe(named.name);
    await open.close();
    await own.stop();
  });
});

describe("a collector that is of no use", () => {
  const load = async (of: TestApp): Promise<number[]> => {
    const { reader, name } = await of.org();
    const statuses: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(Array.from({ length: 30 }, () => reader.get(`/flows/${name}`)));
      statuses.push(...answers.map(({ status }) => status));
    }
    return statuses;
  };

  const small = { OTEL_BSP_MAX_QUEUE_SIZE: "50", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "50" };

  it("fails no request when it hangs, and is waited for two seconds at the end", async () => {
    const own = await startCollector();
    own.answer(() => "never");
    const served = await startTestApp({ ...own.settings, ...small });
    expect(new Set(await load(served))).toEqual(new Set([200]));
    const dropped = (await readMetrics(served))("waybill_trace_spans_dropped_total");
    expect(dropped).toBeGreaterThan(300);
    const began = performance.now();
    await served.close();
    expect(performance.now() - began).toBeLessThan(10_000);
    await own.stop();
  });

  it("fails no request when it dies under load, and is told of once", async () => {
    const own = await startCollector();
    const served = await startTestApp({ ...own.settings, ...small, OTEL_EXPORTER_OTLP_TIMEOUT: "50" });
    await served.anonymous.get("/flows/nobody");
    await own.wait(({ name }) => name === "get_flows");
    const loaded = load(served);
    await own.stop();
    expect(new Set(await loaded)).toEqual(new Set([200]));
    await served.close();
    const told = served
      .logged()
      .split("\n")
      .filter((line) => line.includes("traces cannot be exported"));
    expect(told).toHaveLength(1);
    expect(served.logged()).not.toContain(org.name);
  });
});
