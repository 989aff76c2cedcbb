import { connect } from "node:net";

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let org: TestOrg;
let port: number;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  port = await listen(app);
});
afterAll(() => app.close());

/**
 * Sends bytes and answers what comes back until the server closes.
 * @param patienceMs after so long without an answer the sender says that no more will come, as who is cut off does.
 */
function exchange(bytes: Buffer | string, patienceMs?: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const chunks: Buffer[] = [];
    const giveUp = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end of: ${bytes.toString("latin1").slice(0, 300)}`));
    }, 10_000);
    const cutOff = patienceMs === undefined ? undefined : setTimeout(() => socket.end(), patienceMs);
    socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
    // The server may close while bytes are still under way to it.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(giveUp);
      clearTimeout(cutOff);
      resolve(Buffer.concat(chunks).toString("latin1"));
    });
  });
}

function statuses(answer: string): number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

async function expectNoFault(bytes: Buffer | string, patienceMs?: number): Promise<number[]> {
  const found = statuses(await exchange(bytes, patienceMs));
  expect(found.filter((status) => status >= 500)).toEqual([]);
  return found;
}

const path = (): string => `/api/v2/environments/${org.name}`;
const key = (): string => `Authorization: Bearer ${org.admin.key}`;

describe("requests with two meanings", () => {
  it("are refused when their length is given twice, or in two ways", async () => {
    const body = '{"name":"x","type":"K8S"}';
    const start = `PUT ${path()} HTTP/1.1\r\nHost: x\r\n${key()}\r\nContent-Type: application/json\r\n`;
    const lengths = [
      `Content-Length: ${body.length}\r\nContent-Length: 5`,
      `Content-Length: ${body.length}\r\nTransfer-Encoding: chunked`,
      "Transfer-Encoding: chunked, identity",
      "Transfer-Encoding: gzip",
      "Transfer-Encoding : chunked",
      "Content-Length: +25",
      "Content-Length: 0x19",
      "Content-Length: 99999999999999999999999",
    ];
    for (const length of lengths) {
      const found = await expectNoFault(`${start}${length}\r\nConnection: close\r\n\r\n${body}`);
      expect([length, found.filter((status) => status < 400)]).toEqual([length, []]);
    }
  });

  it("with two credentials act on the first, and never on a mixture", async () => {
    const twice = `GET ${path()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\n${key()}\r\nConnection: close\r\n\r\n`;
    expect(await expectNoFault(twice)).toEqual([401]);
  });
});

describe("pipelined requests", () => {
  it("are answered in order, each for its own caller", async () => {
    const get = (authorization: string, close: boolean): string =>
      `GET ${path()} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${close ? "Connection: close\r\n" : ""}\r\n`;
    const answer = await exchange(
      get(key(), false) + get("Authorization: Bearer nobody", false) + get(key(), true),
    );
    expect(statuses(answer)).toEqual([200, 401, 200]);
  });
});

const method = fc.constantFrom(
  "GET",
  "PUT",
  "POST",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "PURGE",
  "get",
  "",
);
const target = fc.oneof(
  fc.constantFrom(
    "/",
    "*",
    "/%",
    "/api/v2/%ff",
    "//",
    "http://x/api/v2/user/api-keys",
    "http://[",
    "x:80",
    "?",
  ),
  fc.string({ maxLength: 30 }).map((text) => `/api/v2/${text}`),
  fc.constant("/api/v2/flows/ORG/template_file"),
  fc.constant("/api/v2/environments/ORG?page=%00&name=%ff%fe&tag=%&page[]=1&__proto__=1"),
  fc.constant("/api/v2/artifacts/ORG/flow"),
  fc.constant("/api/v2/webhooks/quality/x"),
);
const version = fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "");
const header = fc.oneof(
  fc.constantFrom(
    "KEY",
    "Host: x",
    "Host: x\r\nHost: y",
    "Content-Type: application/json",
    "Content-Type: application/json; charset=utf-16",
    "Content-Type: multipart/form-data; boundary=b",
    "Content-Type: multipart/form-data",
    'Content-Type: multipart/form-data; boundary="',
    "Content-Length: 10",
    "Content-Length: 0",
    "Transfer-Encoding: chunked",
    "Expect: 100-continue",
    "Expect: something",
    "Upgrade: websocket\r\nConnection: Upgrade",
    "Connection: keep-alive",
    "Authorization: Basic %%%",
    "Authorization: Bearer",
    "X-Request-Id: \u00e9",
    "Range: bytes=0-",
    "If-None-Match: *",
    " folded: header",
  ),
  fc.string({ maxLength: 40 }),
);
const body = fc.oneof(
  fc.constant(""),
  fc.constantFrom(
    "0\r\n\r\n",
    "5\r\n{}\r\n",
    "ffffffffffffffffff\r\n",
    '{"name":"\\ud800"}',
    '--b\r\nContent-Disposition: form-data; name="data_json"\r\n\r\n{"name":"x","description":""}\r\n--b--\r\n',
    '--b\r\nContent-Disposition: form-data; name="data_json"\r\n\r\n{"name":"x"',
    '--b\r\nContent-Disposition: form-data; name="template_file"; filename="../../x\0y"\r\n\r\nversion: 1',
    "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--",
    "--b--",
  ),
  fc.string({ unit: "binary", maxLength: 200 }),
);

describe("anything at all on a connection", () => {
  it("is answered without a fault, or not at all, and soon", { timeout: 120_000 }, async () => {
    const request = fc
      .tuple(method, target, version, fc.array(header, { maxLength: 6 }), body)
      .map(([verb, to, http, headers, rest]) => {
        const lines = [`${verb} ${to} ${http}`, ...headers, "Connection: close"];
        return `${lines.join("\r\n")}\r\n\r\n${rest}`.replaceAll("ORG", org.name).replaceAll("KEY", key());
      });
    await fc.assert(
      fc.asyncProperty(request, async (text) => void (await expectNoFault(Buffer.from(text, "latin1"), 100))),
      { numRuns: 200 },
    );
    expect((await org.admin.get(`/environments/${org.name}`)).status).toBe(200);
  });
});
