import { request as httpRequest } from "node:http";
import { connect } from "node:net";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { signIn } from "../support/sessions.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";

let app: TestApp;
let org: TestOrg;
let base: string;

beforeAll(async () => {
  app = await startTestApp({ PORT: "0" });
  org = await app.org();
  base = await app.server.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => app.close());

/** Sends bytes over a plain socket and answers everything that comes back until the server closes. */
function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      received += chunk;
    });
    socket.on("end", () => resolve(received)).on("error", reject);
  });
}

/** Like `fetch`, which normalizes URLs before they are sent; this does not. */
function rawGet(path: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${org.admin.key}` };
    const request = httpRequest({ hostname, port, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject).end();
  });
}

describe("unknown paths", () => {
  it.each(["/api/v2/nothing-here", "/api/v2", "/api/v1/environments/x", "/nothing", "/"])(
    "%s is a 404 in JSON",
    async (path) => {
      const answer = await org.admin.request("GET", `root:${path}`);
      expect([answer.status, answer.json]).toEqual([404, { message: "Not found" }]);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    },
  );
});

describe("paths as clients write them", () => {
  it("tolerates doubled slashes and a trailing one", async () => {
    for (const path of [`//api/v2/organizations/${org.name}`, `/api/v2/organizations/${org.name}/`]) {
      const answer = await rawGet(path);
      expect([path, answer.status]).toEqual([path, 200]);
    }
  });

  it("refuses what is not a URL with a 400", async () => {
    for (const path of [
      "/api/v2/organizations/%",
      "/api/v2/organizations/%zz",
      "/api/v2/organizations/%ff",
    ]) {
      const answer = await rawGet(path);
      expect([path, answer.status]).toEqual([path, 400]);
      expect(JSON.parse(answer.text)).toHaveProperty("message");
    }
  });

  it("refuses NUL in a path without asking the database", async () => {
    const answer = await rawGet("/api/v2/organizations/a%00b");
    expect(answer.status).toBeLessThan(500);
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });
});

describe("requests in absolute form", () => {
  it("are answered like others, with links from our own address", async () => {
    const answer = await rawGet(`http://elsewhere.test:99/api/v2/environments/${org.name}?page=1`);
    expect([answer.status, JSON.parse(answer.text)._links.self.href]).toEqual([
      200,
      `http://waybill.test/api/v2/environments/${org.name}?page=1`,
    ]);
    expect((await rawGet("http://elsewhere.test")).status).toBe(404);
    expect((await rawGet("http://elsewhere.test?x=1")).status).toBe(404);
  });
});

describe("a path that only its callers know", () => {
  it("does not go to the log", async () => {
    const secret = "hook-nobody-must-know";
    expect((await app.anonymous.post(`/webhooks/quality/${secret}`, {})).status).toBe(404);
    expect(app.logged()).toContain("/webhooks/quality/");
    expect(app.logged()).not.toContain(secret);
  });

  it.each([
    ["GET", "/api/v2/webhooks/quality/SECRET", 405],
    ["HEAD", "/api/v2/webhooks/sonar/SECRET", 405],
    ["PUT", "/api/v2/webhooks/quality/SECRET/", 405],
    ["GET", "//api/v2/webhooks//quality/SECRET?x=1", 405],
    ["POST", "/api/v2/webhooks/quality/SECRET/more", 404],
    ["POST", "/waybill/api/v2/webhooks/quality/SECRET", 404],
    ["POST", "/API/V2/Webhooks/quality/SECRET", 404],
    ["POST", "/api/v2/webhooks%2Fqualit%79/SECRET", 404],
    ["POST", "http://elsewhere.test/api/v2/webhooks/quality/SECRET", 404],
  ])("does not go to the log with another method or a wrong path: %s %s", async (method, path, status) => {
    const secret = "hook-that-nobody-may-know";
    const head = `${method} ${path.replace("SECRET", secret)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const before = app.logged().length;
    const answer = await sendRaw(`${head}Content-Length: 0\r\n\r\n`);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    await expect.poll(() => app.logged().slice(before)).toContain(`"status":${status}`);
    const [line] = app.logged().slice(before).split("\n");
    expect(JSON.parse(line!)).toMatchObject({
      method,
      path: expect.stringMatching(/^\/api\/v2\/webhooks\/\w+\/:hook_uid$/),
    });
    expect(app.logged() + (await app.deps.metrics.registry.metrics())).not.toContain(secret);
  });
});

describe("a multipart body", () => {
  const send = (...fields: [name: string, content: Buffer | string][]) => {
    const chunks = fields.flatMap(([name, content]) => [
      Buffer.from(`--limit\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ]);
    return org.admin.request("PUT", `/flows/${org.name}/template_file`, {
      payload: Buffer.concat([...chunks, Buffer.from("--limit--\r\n")]),
      headers: { "content-type": "multipart/form-data; boundary=limit" },
    });
  };
  const flow = JSON.stringify({ name: "whole", description: "" });

  it.each<[string, [string, Buffer | string][]]>([
    ["is empty", []],
    ["has another field only", [["other", flow]]],
    ["has the field empty", [["data_json", ""]]],
    ["has the field in broken UTF-8", [["data_json", Buffer.from([0x22, 0xff, 0xfe, 0x22])]]],
    ["has NUL in a name", [["data_json", '{"name":"a\\u0000","description":""}']]],
    ["has half a character in a text", [["data_json", '{"name":"a","description":"\\ud800"}']]],
    ["has no JSON in the field", [["data_json", "{name: 1}"]]],
    ["is nested without end", [["data_json", "[".repeat(100_000)]]],
  ])("that %s is refused", async (_what, fields) => {
    const answer = await send(...fields);
    expect([answer.status, typeof answer.json.message]).toEqual([400, "string"]);
  });

  it("that is cut off, or has no boundary, is refused", async () => {
    for (const [type, payload] of [
      ["multipart/form-data; boundary=limit", "--limit\r\nContent-Disposition: form-data; na"],
      ["multipart/form-data; boundary=limit", ""],
      ["multipart/form-data", "--limit--\r\n"],
    ] as const) {
      const headers = { "content-type": type };
      const answer = await org.admin.request("PUT", `/flows/${org.name}/template_file`, { payload, headers });
      expect([type, payload, answer.status]).toEqual([type, payload, 400]);
    }
  });

  it("is bounded as a whole, whatever its parts are", async () => {
    const part = "x".repeat(9 * 1024 * 1024);
    const answer = await org.admin.request("PUT", `/flows/${org.name}/template_file`, {
      parts: { data_json: '{"name":"large","description":""}', a: part, b: part, c: part },
    });
    expect([answer.status, answer.json]).toEqual([413, { message: "Request body is too large" }]);
  });
});

describe("every answer", () => {
  it("carries a request id, the caller's own when it is a harmless one", async () => {
    const path = `/organizations/${org.name}`;
    expect((await org.admin.get(path)).headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    const given = await org.admin.get(path, { headers: { "x-request-id": "build-7.step_2" } });
    expect(given.headers["x-request-id"]).toBe("build-7.step_2");
    const hostile = await org.admin.get(path, { headers: { "x-request-id": "a\tb<script>" } });
    expect(hostile.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("leaves a log line with the key's id as answers show it", async () => {
    const user = await app.user();
    const { json } = await user.client.get("/user/api-keys", { headers: { "x-request-id": "whose-key" } });
    // The line is written when the answer is out.
    await user.client.get("/user/api-keys");
    const line = app
      .logged()
      .split("\n")
      .find((text) => text.includes('"whose-key"'));
    expect(JSON.parse(line!)).toMatchObject({ api_key_id: json[0].id, operation: "list_user_api_keys" });
  });

  it("is not to be cached or sniffed", async () => {
    const { headers } = await org.admin.get(`/organizations/${org.name}`);
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  });

  it("takes no cookie for a credential", async () => {
    const user = await app.user();
    const headers = { cookie: `session=${user.key}; authorization=Bearer ${user.key}` };
    expect((await app.anonymous.get("/user/api-keys", { headers })).status).toBe(401);
  });

  it("never allows another origin", async () => {
    const answer = await org.admin.get(`/organizations/${org.name}`, {
      headers: { origin: "https://evil.test" },
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("bodies", () => {
  it("that are too large are a 413", async () => {
    const answer = await org.member.request("PUT", `/environments/${org.name}`, {
      payload: Buffer.alloc(13 * 1024 * 1024, 0x20),
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.json]).toEqual([413, { message: "Request body is too large" }]);
  });

  it.each(["null", ""])("may be %j, or absent, where there is nothing to say", async (payload) => {
    const user = await app.user();
    const answer = await user.client.request("PUT", `/user/${user.name}`, {
      payload,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.json]).toEqual([200, "OK"]);
    expect((await user.client.put(`/user/${user.name}`)).status).toBe(200);
  });

  it("with a key twice mean the last one, and none can be the prototype", async () => {
    const put = (payload: string) =>
      org.member.request("PUT", `/environments/${org.name}`, {
        payload,
        headers: { "content-type": "application/json" },
      });
    expect((await put('{"name":"first","type":"K8S","description":"","name":"last"}')).status).toBe(201);
    expect((await org.reader.get(`/environments/${org.name}/last`)).status).toBe(200);
    expect((await org.reader.get(`/environments/${org.name}/first`)).status).toBe(404);
    expect((await put('{"__proto__":{"name":"x"},"type":"K8S","description":""}')).status).toBe(400);
  });

  it("in other content types are a 415, in other encodings too", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-16",
    ]) {
      const answer = await org.member.request("PUT", `/environments/${org.name}`, {
        payload: "{}",
        headers: { "content-type": type },
      });
      expect([answer.status, Object.keys(answer.json)], type).toEqual([415, ["message"]]);
    }
  });
});

describe("requests that are not HTTP enough", () => {
  it("are answered in JSON", async () => {
    const answer = await sendRaw("GET /api/v2/x HTTP/1.1\r\nbroken header\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request/);
    expect(answer).toContain(`{"message":"Request is not valid HTTP"}`);
  });

  it("with headers too large are a 431", async () => {
    const answer = await sendRaw(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(40_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe("service endpoints", () => {
  it("answers /live with the bare text OK, and /ready only when the server listens", async () => {
    const live = await org.admin.request("GET", "root:/live");
    expect([live.status, live.text]).toEqual([200, "OK"]);
    const ready = await org.admin.request("GET", "root:/ready");
    // This server was built for injected requests and never told to begin.
    expect([ready.status, ready.headers["retry-after"]]).toEqual([503, "1"]);
  });

  it("shows metrics to this machine only, or to who has the token", async () => {
    const local = await app.anonymous.request("GET", "root:/metrics");
    expect(local.status).toBe(200);
    expect(local.text).toContain("waybill_http_request_duration_seconds_bucket");
    const proxied = await app.anonymous.request("GET", "root:/metrics", {
      headers: { "x-forwarded-for": "203.0.113.9" },
    });
    expect(proxied.status).toBe(401);
  });

  it("guards metrics with the token when there is one", async () => {
    const token = "a-token-for-the-scraper";
    const guarded = await startTestApp({ WAYBILL_METRICS_TOKEN: token });
    const path = "root:/metrics";
    expect((await guarded.anonymous.request("GET", path)).status).toBe(401);
    expect((await guarded.as("something-else-entirely").request("GET", path)).status).toBe(401);
    expect((await guarded.as(token).request("GET", path)).status).toBe(200);
    await guarded.close();
  });
});

describe("the API's description", () => {
  it("is public, OpenAPI 3.1, and names absolute URLs", async () => {
    const answer = await app.anonymous.get("/openapi.json");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ openapi: "3.1.0", servers: [{ url: "http://waybill.test" }] });
  });

  it("has the components existing clients look for", async () => {
    const { components } = (await app.anonymous.get("/openapi.json")).json;
    const environment = components.schemas.CreateEnvironmentPutInput;
    const sent = [
      "name",
      "type",
      "description",
      "include_scaling",
      "require_provenance",
      "included_environments",
    ];
    expect(Object.keys(environment.properties)).toEqual(expect.arrayContaining(sent));
    expect(sent).toEqual(expect.arrayContaining(environment.required));
  });

  it("comes with a page from our own files only", async () => {
    const page = await app.anonymous.get("/doc/");
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(2);
    for (const link of links) {
      expect(link).toMatch(/^\.\//);
      expect((await app.anonymous.get(`/doc/${link.slice(2)}`)).status).toBe(200);
    }
  });

  it("is found without the trailing slash too", async () => {
    const answer = await app.anonymous.get("/doc");
    expect([answer.status, answer.headers["location"]]).toEqual([302, "http://waybill.test/api/v2/doc/"]);
  });
});

describe("a public URL with a path prefix", () => {
  it("serves everything below the prefix too, and links to it", async () => {
    const prefixed = await startTestApp({ WAYBILL_PUBLIC_URL: "https://tools.test/waybill/" });
    const own = await prefixed.org();
    for (const path of [`/waybill/api/v2/organizations/${own.name}`, `/api/v2/organizations/${own.name}`]) {
      const answer = await prefixed.server.inject({
        url: path,
        headers: { authorization: `Bearer ${own.admin.key}` },
      });
      expect([path, answer.statusCode]).toEqual([path, 200]);
    }
    const document = await prefixed.anonymous.get("/openapi.json");
    expect(document.json.servers).toEqual([{ url: "https://tools.test/waybill" }]);
    await prefixed.close();
  });
});

describe("rate limits", () => {
  it("are off on loopback", async () => {
    expect(app.deps.config.rateLimitPerKey).toBeUndefined();
  });

  it("count per key and answer 429 with Retry-After", async () => {
    const limited = await startTestApp({ WAYBILL_RATE_LIMIT_PER_KEY: "3" });
    const [one, other] = [await limited.org(), await limited.org()];
    for (let call = 0; call < 3; call += 1)
      expect((await one.admin.get(`/organizations/${one.name}`)).status).toBe(200);
    const refused = await one.admin.get(`/organizations/${one.name}`);
    expect([refused.status, refused.json]).toEqual([429, { message: "Too many requests, try again later" }]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect((await other.admin.get(`/organizations/${other.name}`)).status).toBe(200);
    await limited.close();
  });

  it("count per session as per key", async () => {
    const limited = await startTestApp({ WAYBILL_RATE_LIMIT_PER_KEY: "3" });
    const user = await limited.user();
    const [one, other] = [await signIn(limited, user.key), await signIn(limited, user.key)];
    const statuses = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await one.get("/user")).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await other.get("/user")).status).toBe(200);
    expect((await user.client.get("/user")).status).toBe(200);
    await limited.close();
  });

  it("count per address whatever the key", async () => {
    const limited = await startTestApp({ WAYBILL_RATE_LIMIT_PER_ADDRESS: "2" });
    const statuses = [];
    for (let call = 0; call < 3; call += 1)
      statuses.push((await limited.as(`key-${call}-unknown`).get("/organizations/x")).status);
    expect(statuses).toEqual([401, 401, 429]);
    await limited.close();
  });
});
