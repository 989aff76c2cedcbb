import { z } from "zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import type { RequestOptions } from "../support/client.ts";
import { inputJsonSchema } from "../support/json-schema.ts";
import { fillPath, proofFor } from "../support/operations.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);
const withBody = all.filter(([, { body }]) => body !== undefined && body.kind !== "raw");

/** Whether the published schema refuses keys it does not name. */
function isStrict(endpoint: Endpoint): boolean {
  const { body } = endpoint;
  if (body === undefined || body.kind === "raw") return false;
  return inputJsonSchema(body.schema)["additionalProperties"] === false;
}

let app: TestApp;
let org: TestOrg;
let root: TestUser;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  root = await app.user({ instance_admin: true });
});
afterAll(() => app.close());

function callerOf(endpoint: Endpoint): TestOrg["admin"] {
  return endpoint.access.kind === "instance_admin" ? root.client : org.admin;
}

/** Sends a body the way the endpoint takes it. */
function send(endpoint: Endpoint, body: unknown) {
  const path = fillPath(endpoint.path, org.name);
  const options =
    endpoint.body?.kind === "multipart"
      ? { parts: { [endpoint.body.field]: JSON.stringify(body) } }
      : { json: body };
  const headers = proofFor(endpoint);
  return callerOf(endpoint).request(endpoint.method, path, { ...options, headers });
}

describe("a body key that the contract does not know", () => {
  it.each(withBody.filter(([, endpoint]) => isStrict(endpoint)))("%s refuses it", async (_id, endpoint) => {
    const answer = await send(endpoint, { no_such_key: "abc" });
    expect(answer.status).toBe(400);
    expect(answer.json.message).toBe("Input payload validation failed");
    // Bodies with secrets in them show no value.
    expect(answer.json.errors.no_such_key).toMatch(
      /^Extra inputs are not permitted \[input: (?:abc|\*{3})\]$/,
    );
  });
});

describe("a body of the wrong kind", () => {
  it.each(withBody)("%s refuses it with a 4xx", async (_id, endpoint) => {
    for (const body of ["text", 7, true, [1, 2], null]) {
      const answer = await send(endpoint, body);
      expect(answer.status, `${JSON.stringify(body)}: ${answer.text}`).toBe(400);
    }
  });

  it.each(withBody)("%s refuses what is not JSON", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, org.name);
    const contentType = "application/json";
    for (const payload of ["{", "{'a':1}", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), "[".repeat(5000)]) {
      const answer = await callerOf(endpoint).request(endpoint.method, path, {
        payload,
        headers: { "content-type": contentType, ...proofFor(endpoint) },
      });
      expect(answer.status).toBe(400);
    }
  });

  it.each(withBody)("%s refuses other content types", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, org.name);
    const answer = await callerOf(endpoint).request(endpoint.method, path, {
      payload: "<a/>",
      headers: { "content-type": "text/xml", ...proofFor(endpoint) },
    });
    expect(answer.status).toBe(415);
  });
});

describe("a request without anything to say", () => {
  const json = { "content-type": "application/json; charset=utf-8" };
  const silent = all.filter(([, { body }]) => body === undefined);

  it.each(silent)("%s takes what clients send instead of a body", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, org.name);
    const bare = await callerOf(endpoint).request(endpoint.method, path);
    const bodies: RequestOptions[] = [{ headers: json }, { headers: json, payload: "" }];
    // Reads never have a body.
    if (endpoint.method !== "GET") bodies.push({ headers: json, payload: "null" }, { payload: "" });
    for (const body of bodies) {
      const answer = await callerOf(endpoint).request(endpoint.method, path, body);
      expect([answer.status, answer.json?.message]).toEqual([bare.status, bare.json?.message]);
    }
  });
});

describe("paging out of range", () => {
  const paged = all.filter(([, { query }]) => query instanceof z.ZodObject && "page" in query.shape);

  it.each(paged)("%s names the parameter", async (_id, endpoint) => {
    const path = fillPath(endpoint.path, org.name);
    for (const page of ["0", "-1", "1000001", "x", "1.5", ""]) {
      const answer = await callerOf(endpoint).request(endpoint.method, `${path}?page=${page}`);
      expect(answer.status, page).toBe(400);
      expect(Object.keys(answer.json.errors)).toEqual(["query.page"]);
      expect(answer.json.errors["query.page"]).toContain(`[input: ${page}]`);
    }
  });
});
