import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { startTestApp, type TestApp, type TestOrg, type TestUser } from "../support/app.ts";
import { bodiesFor, encode, hostileText, queriesFor } from "../support/hostile.ts";
import type { RequestOptions } from "../support/client.ts";
import { proofFor } from "../support/operations.ts";
import { amount } from "../support/thorough.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);
const runsPerEndpoint = amount(10, 25);

let app: TestApp;
let org: TestOrg;
let root: TestUser;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
  root = await app.user({ instance_admin: true });
});
afterAll(() => app.close());

/** Path segments: plausible ones, and hostile ones. A slash would make it another path. */
const segment = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom("x1", "tags", "1", "a".repeat(64), "0".repeat(8) + "-0000-0000-0000-00000000"),
  },
  {
    weight: 2,
    arbitrary: hostileText
      .map((text) => text.slice(0, 1_500))
      .filter((text) => text !== "" && text !== "." && text !== ".."),
  },
);

function pathsFor(path: string): fc.Arbitrary<string> {
  const places = path.split(/\{\w+(?:\.\.\.)?\}/).length - 1;
  return fc.array(segment, { minLength: places, maxLength: places }).map((values) => {
    const next = values[Symbol.iterator]();
    return path.replace(/\{(\w+)(?:\.\.\.)?\}/g, (_match, name: string) => {
      const value = next.next().value as string;
      return name === "org" ? org.name : encode(value);
    });
  });
}

function optionsFor(endpoint: Endpoint): fc.Arbitrary<RequestOptions> {
  const { body } = endpoint;
  if (body === undefined) return fc.constant({});
  const json = bodiesFor(body.schema).map((value) => JSON.stringify(value) ?? "");
  const headers = { "content-type": "application/json" };
  if (body.kind !== "multipart") return json.map((payload) => ({ payload, headers }));
  const files = Object.keys(body.files);
  return fc
    .tuple(json, fc.option(fc.tuple(fc.constantFrom("file", ...files), hostileText)))
    .map(([text, file]) => ({
      parts: {
        [body.field]: text,
        ...(file === null ? {} : { [file[0]]: { filename: 'a"b/../c', content: file[1] } }),
      },
    }));
}

describe("hostile input", () => {
  it.each(all)("%s answers it with success or a 4xx, never a fault", async (_id, endpoint) => {
    const client = endpoint.access.kind === "instance_admin" ? root.client : org.admin;
    await fc.assert(
      fc.asyncProperty(
        pathsFor(endpoint.path),
        queriesFor(endpoint.query),
        optionsFor(endpoint),
        async (path, query, options) => {
          const answer = await client.request(endpoint.method, `${path}${query === "" ? "" : `?${query}`}`, {
            ...options,
            headers: { ...options.headers, ...proofFor(endpoint) },
          });
          expect(answer.status, `${path} ${query} ${answer.text}`).toBeLessThan(500);
          expect(answer.status).toBeGreaterThanOrEqual(200);
        },
      ),
      { numRuns: runsPerEndpoint, endOnFailure: true },
    );
  });

  it("refuses what stands where a list should, whatever its length says", async () => {
    const answer = await org.admin.put(`/flows/${org.name}`, {
      name: "f",
      template: { length: { toString: 1 } },
    });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ errors: { template: expect.stringContaining("valid list") } });
  });
});
