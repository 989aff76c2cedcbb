import { METHODS } from "node:http";
import { connect } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { fillPath, findOperation } from "../support/operations.ts";
import { listen } from "../support/sockets.ts";

const all = Object.values(endpoints as Record<string, Endpoint>);
const paths = [...new Set(all.map(({ path }) => path))];

let app: TestApp;
let org: TestOrg;
let port: number;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  port = await listen(app);
});
afterAll(() => app.close());

/** Sends bytes and answers all that comes back until the server closes. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      received += chunk;
    });
    socket.on("error", () => {}).on("close", () => resolve(received));
  });
}

interface Received {
  status: number;
  headers: string;
  body: string;
}

async function ask(method: string, path: string, more: string[] = [], body = ""): Promise<Received> {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", ...more, "", body];
  const answer = await exchange(lines.join("\r\n"));
  const [headers = "", rest = ""] = answer.split("\r\n\r\n", 2);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(headers)?.[1]),
    headers: headers.toLowerCase(),
    body: rest,
  };
}

/** With and without a body, of a type that is known, and of none at all. */
const forms: [headers: string[], body: string][] = [
  [[], ""],
  [["Content-Type: application/json"], ""],
  [["Content-Type: application/json", "Content-Length: 2"], "{}"],
  [["Content-Length: 2"], "{}"],
  [["Content-Type: text/nothing", "Transfer-Encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"],
  [["Content-Type: ;;;", "Content-Length: 2"], "{}"],
];

describe("recorded answer 20: any method that HTTP has", () => {
  // A tunnel has no path; a path that has the method answers it.
  const strange = METHODS.filter((method) => !["CONNECT", "GET", "HEAD", "PUT"].includes(method));

  it.each(strange)("%s is 405 on a known path and 404 on another, never a fault", async (method) => {
    for (const [headers, body] of forms) {
      const known = await ask(method, `/api/v2/policies/${org.name}`, headers, body);
      const told = [known.status, known.body, /\nallow: (.*)\r/.exec(known.headers)?.[1]];
      expect(told).toEqual([405, '{"message":"Method not allowed"}', "get, put"]);
      const unknown = await ask(method, "/api/v2/nothing/here/at/all", headers, body);
      expect([unknown.status, unknown.body]).toEqual([404, '{"message":"Not found"}']);
      for (const answer of [known, unknown])
        expect(answer.headers).toContain("content-type: application/json; charset=utf-8");
    }
    for (const path of ["/live", "/ready", "/metrics", "/api/v2/openapi.json"]) {
      const answer = await ask(method, path);
      expect([path, answer.status, answer.body]).toEqual([path, 405, '{"message":"Method not allowed"}']);
    }
  });

  it("CONNECT is answered too", async () => {
    const answer = await exchange("CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n");
    expect(answer).toContain("HTTP/1.1 404 Not Found");
    expect(answer).toContain('{"message":"Not found"}');
  });

  it("leaves no stack in the log", () => {
    expect(app.logged()).not.toContain('"stack"');
  });
});

describe("recorded answer 25: Allow", () => {
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

  it.each(paths)("names the methods of %s alone", async (path) => {
    const url = fillPath(path, org.name);
    const here = all.filter((other) => other.path === path).map(({ method }) => method as string);
    const others = methods.filter((method) => findOperation(method, `/api/v2${url}`) === undefined);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) {
      const answer = await org.admin.request(other, url);
      expect([other, answer.status, answer.headers["allow"]]).toEqual([other, 405, here.sort().join(", ")]);
    }
  });

  it("is of the path that is meant, not of one that fits as well", async () => {
    const tags = await org.admin.request("DELETE", `/controls/${org.name}/tags`);
    expect([tags.status, tags.headers["allow"]]).toEqual([405, "GET"]);
  });
});

describe("recorded answer 26: what Node would answer by itself", () => {
  const head = "POST /api/v2/webhooks/quality/x HTTP/1.1\r\n";
  it.each<[name: string, status: number, bytes: string]>([
    ["no Host", 400, "GET /live HTTP/1.1\r\n\r\n"],
    ["an expectation nobody meets", 417, "GET /live HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n"],
    ["no HTTP at all", 400, "hello\r\n\r\n"],
    ["an unknown method", 400, "FETCH / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["another protocol", 400, "GET / SIP/2.0\r\nHost: x\r\n\r\n"],
    ["too many headers", 431, `GET /live HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
    ["a URL that is too long", 431, `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ["bytes no header has", 400, "GET /live HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n"],
    ["two lengths", 400, `${head}Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx`],
  ])("%s is answered in JSON, and the connection ends", async (_name, status, bytes) => {
    const answer = await exchange(bytes);
    const [headers = "", body = ""] = answer.split("\r\n\r\n", 2);
    expect(headers).toContain(`HTTP/1.1 ${status} `);
    expect(headers.toLowerCase()).toContain("content-type: application/json; charset=utf-8");
    expect(headers.toLowerCase()).toContain("connection: close");
    expect(Object.keys(JSON.parse(body) as object)).toEqual(["message"]);
  });

  it("a body in broken pieces is answered in JSON", async () => {
    const start = `PUT /api/v2/policies/${org.name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.admin.key}\r\n`;
    const answer = await exchange(
      `${start}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
    );
    expect(answer).toContain("HTTP/1.1 400 Bad Request");
    expect(answer.toLowerCase()).toContain("connection: close");
    expect(answer).toContain('{"message":"Request is not valid HTTP"}');
  });

  it("a body that is too large is answered in JSON before it is sent", async () => {
    const answer = await ask("PUT", `/api/v2/environments/${org.name}`, [
      `Authorization: Bearer ${org.admin.key}`,
      "Content-Type: application/json",
      "Content-Length: 99999999",
    ]);
    expect([answer.status, answer.body]).toEqual([413, '{"message":"Request body is too large"}']);
    expect(answer.headers).toContain("connection: close");
  });

  it("is no answer to an earlier request on the connection", async () => {
    const first = `GET /api/v2/organizations/${org.name} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${org.admin.key}\r\n\r\n`;
    expect(await exchange(`${first}hello\r\n\r\n`)).not.toMatch(/^HTTP\/1\.1 400/);
  });
});
