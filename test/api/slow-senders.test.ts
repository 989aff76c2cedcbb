import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { mebibyte } from "../../src/lib/units.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putFlow } from "../support/flows.ts";
import { analysis, signatureOf, switchOn } from "../support/quality-server.ts";
import { head, RawConnection } from "../support/raw-connection.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let org: TestOrg;
let port: number;
let hook: { path: string; secret: string };

beforeAll(async () => {
  app = await startTestApp({
    WAYBILL_BODY_STALL_SECONDS: "2",
    WAYBILL_UNREAD_SECONDS: "1",
    WAYBILL_HEADER_SECONDS: "1",
    WAYBILL_BODY_BYTES: String(30 * mebibyte),
    WAYBILL_BODY_BYTES_PER_CALLER: String(24 * mebibyte),
    WAYBILL_STRANGER_BODY_BYTES: String(3 * mebibyte),
    WAYBILL_STRANGER_BODY_BYTES_PER_ADDRESS: String(1.5 * mebibyte),
  });
  org = await app.org();
  port = await listen(app);
  const webhook = await switchOn(org);
  hook = { path: new URL(webhook.url).pathname.replace("/api/v2", ""), secret: webhook.secret };
});
afterAll(() => app.close());

const open: RawConnection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) {
    connection.destroy();
    await connection.closed;
  }
});

function send(first: string | Buffer): RawConnection {
  const connection = new RawConnection(port, first);
  open.push(connection);
  return connection;
}

const ours = "X-Quality-Webhook-HMAC-SHA256";
const keyOf = (client: { key: string | undefined }) => ({ Authorization: `Bearer ${client.key}` });
const message = (text: string): string => JSON.stringify({ message: text });

async function metric(name: string): Promise<number> {
  const text = await app.deps.metrics.registry.metrics();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1));
}

async function waitFor(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error("did not happen in time");
    await delay(20);
  }
}

describe("a webhook's caller", () => {
  it("is told that there is no such hook before its body comes, and is cut off when it does not", async () => {
    const tellAndCut = async (headers: Record<string, string>): Promise<void> => {
      const connection = send(head("POST", "/webhooks/quality/nope", mebibyte, headers));
      const answer = await connection.answer();
      expect([answer.status, answer.body]).toEqual([404, message("Webhook not found")]);
      await connection.closed;
    };
    await Promise.all([{}, { [ours]: "a".repeat(64) }, keyOf(org.member)].map(tellAndCut));
  });

  it.each([
    ["nothing to show", {}],
    ["a signature that none is", { [ours]: "abc" }],
    ["a key that may not report", "reader"],
  ])("with %s is refused before its body comes", async (_name, headers) => {
    const own = typeof headers === "string" ? keyOf(org.reader) : headers;
    const answer = await send(head("POST", hook.path, mebibyte, own)).answer();
    expect([answer.status, answer.body]).toEqual([401, message("Invalid or missing credentials")]);
  });

  it("with a signature that may be right is waited for, and not for long", async () => {
    const connection = send(head("POST", hook.path, mebibyte, { [ours]: "a".repeat(64) }));
    connection.write("x".repeat(1000));
    const answer = await connection.end();
    expect([answer.status, answer.body]).toEqual([408, message("Request body stopped arriving")]);
    expect(answer.headers).toMatchObject({
      connection: "close",
      "content-type": "application/json; charset=utf-8",
    });
  });

  it("may send its whole body before it looks at a refusal", async () => {
    const connection = send(head("POST", "/webhooks/quality/nope", mebibyte));
    connection.write(Buffer.alloc(mebibyte, "x"));
    expect((await connection.answer()).status).toBe(404);
    // The connection goes on: all of the body was taken from it.
    connection.write("GET /live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect((await connection.end()).text).toContain("HTTP/1.1 200 OK");
  });
});

// These wait for what takes its time, all at once. Nobody else is to end their connections, which the server does.
const connectAndSend = (first: string | Buffer): RawConnection => new RawConnection(port, first);

describe.concurrent("a slow upload that gets on", () => {
  it("of ten megabytes of evidence is taken", { timeout: 60_000 }, async () => {
    await putFlow(org.member, org.name, { name: "web-ci" });
    const data = JSON.stringify({ attestation_name: "scan", is_compliant: true, user_data: {} });
    const before = `--b\r\nContent-Disposition: form-data; name="data_json"\r\n\r\n${data}\r\n--b\r\nContent-Disposition: form-data; name="attachment_file"; filename="a.bin"\r\n\r\n`;
    const after = "\r\n--b--\r\n";
    const size = 10 * mebibyte;
    const connection = connectAndSend(
      head(
        "POST",
        `/attestations/${org.name}/web-ci/trail/run/generic`,
        before.length + size + after.length,
        {
          ...keyOf(org.member),
          "Content-Type": "multipart/form-data; boundary=b",
        },
      ) + before,
    );
    // For more than three times as long as a pause may be.
    for (let sent = 0; sent < size; sent += mebibyte) {
      connection.write(Buffer.alloc(mebibyte, "x"));
      await delay(700);
    }
    connection.write(after);
    const answer = await connection.answer();
    expect([answer.status, answer.body]).toEqual([201, '"OK"']);
  });
});

describe.concurrent("a body that stops arriving", () => {
  const stalled = message("Request body stopped arriving");
  const part = (name: string, more: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;

  it.each<[name: string, first: () => string]>([
    ["JSON", () => head("PUT", `/environments/${org.name}`, 1000, keyOf(org.admin)) + "{"],
    [
      "JSON without a length",
      () => `${head("PUT", `/environments/${org.name}`, "chunked", keyOf(org.admin))}1\r\n{\r\n`,
    ],
    [
      "a form",
      () =>
        head("POST", `/policies/${org.name}/preview`, 1000, {
          ...keyOf(org.reader),
          "Content-Type": "multipart/form-data; boundary=b",
        }) + part("data_json", ""),
    ],
    [
      "evidence",
      () =>
        head("POST", `/attestations/${org.name}/web/trail/run/generic`, 9_000_000, {
          ...keyOf(org.member),
          "Content-Type": "multipart/form-data; boundary=b",
        }) +
        part("attachment_file", '; filename="a.bin"') +
        "x".repeat(100_000),
    ],
  ])("is cut off with 408: %s", async (_name, first) => {
    const connection = connectAndSend(first());
    const answer = await connection.answer();
    expect([answer.status, answer.body, answer.headers["connection"]]).toEqual([408, stalled, "close"]);
    await connection.closed;
    await waitFor(async () => (await metric('waybill_body_bytes{of="callers"}')) === 0);
  });

  it("of a request that has none is not waited for after the answer", async () => {
    const connection = connectAndSend(head("GET", `/organizations/${org.name}`, 1000, keyOf(org.reader)));
    expect((await connection.answer()).status).toBe(200);
    await connection.closed;
  });

  it("is told apart from one that is slow", async () => {
    const connection = connectAndSend(head("PUT", `/environments/${org.name}`, 100_000, keyOf(org.admin)));
    const timer = setInterval(() => connection.write("x"), 300);
    const answer = await connection.end();
    clearInterval(timer);
    expect([answer.status, answer.body]).toEqual([408, message("Request body arrives too slowly")]);
  });
});

describe.concurrent("a connection on which no request comes", () => {
  it.each(["", "GET /live HT", "GET /live HTTP/1.1\r\nHost: x\r\nX: "])(
    "is closed in time: '%s'",
    async (text) => {
      const answer = await connectAndSend(text).end();
      expect([answer.status, answer.body]).toEqual([408, message("Request was not complete in time")]);
      expect(answer.headers["connection"]).toBe("close");
    },
  );
});

it("leaves no file of a body that stopped arriving behind", async () => {
  const incoming = join(app.deps.config.evidence.dir, "incoming");
  await waitFor(async () => (await readdir(incoming)).length === 0);
  expect(await readdir(incoming)).toEqual([]);
});

describe("a sender that waits for leave", () => {
  const asking = { Expect: "100-continue" };

  it("is refused without being asked for its body", async () => {
    const connection = send(head("POST", "/webhooks/quality/nope", mebibyte, asking));
    const answer = await connection.end();
    expect([answer.status, answer.headers["connection"]]).toEqual([404, "close"]);
    expect(answer.text).not.toContain("100 Continue");
  });

  it("is asked for it when it may send it", async () => {
    const body = JSON.stringify(analysis());
    const own = { ...asking, [ours]: signatureOf(hook.secret, body) };
    const connection = send(head("POST", hook.path, Buffer.byteLength(body), own));
    expect((await connection.answer()).text).toMatch(/^HTTP\/1\.1 100 Continue\r\n/);
    connection.write(body);
    await waitFor(() => connection.received.includes('{"status":'));
    expect(connection.received).toContain("HTTP/1.1 200 OK");
  });
});

describe("bodies that are not complete", () => {
  const full = message("The server receives too many large requests at once, try again");
  const callers = 'waybill_body_bytes{of="callers"}';
  const strangers = 'waybill_body_bytes{of="strangers"}';

  /** Sends all but the end of a body. */
  function begin(
    path: string,
    method: string,
    bytes: number,
    headers: Record<string, string>,
  ): RawConnection {
    const connection = send(head(method, path, bytes, headers));
    connection.write(Buffer.alloc(bytes - 1, " "));
    return connection;
  }

  it("of strangers have a small share of memory, and nobody who is known waits for them", async () => {
    const signed = { [ours]: "a".repeat(64) };
    begin(hook.path, "POST", mebibyte, signed);
    await waitFor(async () => (await metric(strangers)) > 0.9 * mebibyte);
    const refused = await begin(hook.path, "POST", mebibyte, signed).answer();
    expect([refused.status, refused.body]).toEqual([503, full]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    const taken = await org.admin.put(`/environments/${org.name}`, {
      name: "prod",
      type: "K8S",
      description: "",
    });
    expect(taken.status).toBe(201);
    expect(await metric('waybill_refused_bodies_total{reason="strangers_share"}')).toBeGreaterThan(0);
    // What others share of strangers' memory is still there for them.
    const elsewhere = await app.org();
    const other = await switchOn(elsewhere);
    const path = new URL(other.url).pathname.replace("/api/v2", "");
    const body = JSON.stringify(analysis());
    const good = send(
      head("POST", path, Buffer.byteLength(body), { [ours]: signatureOf(other.secret, body) }) + body,
    );
    expect((await good.answer()).status).toBe(200);
  });

  it("of one organization leave room for another, and those under way are unharmed", async () => {
    const other = await app.org();
    const path = `/environments/${org.name}`;
    const size = 11 * mebibyte;
    const key = keyOf(org.admin);
    const kept = begin(path, "PUT", size, key);
    await waitFor(async () => (await metric(callers)) > 10 * mebibyte);
    begin(path, "PUT", size, key);
    await waitFor(async () => (await metric(callers)) > 21 * mebibyte);
    const refused = await begin(path, "PUT", size, keyOf(org.member)).answer();
    expect([refused.status, refused.body]).toEqual([503, full]);
    const theirs = { name: "prod", type: "K8S", description: "" };
    expect((await other.admin.put(`/environments/${other.name}`, theirs)).status).toBe(201);
    // The first one ends after all, and is read: it is nothing but spaces.
    kept.write(" ");
    expect((await kept.answer()).status).toBe(400);
    expect(await metric('waybill_refused_bodies_total{reason="callers_share"}')).toBeGreaterThan(0);
  });

  it("give their memory back", async () => {
    await waitFor(async () => (await metric(callers)) === 0 && (await metric(strangers)) === 0);
    expect([await metric(callers), await metric(strangers)]).toEqual([0, 0]);
  });
});
