import type { FastifyRequest } from "fastify";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import type { Endpoint } from "../contract/endpoint.ts";
import { endpoints } from "../contract/index.ts";
import { chooseEncoding, termsOf } from "./terms.ts";

const all = Object.entries(endpoints as Record<string, Endpoint>);
const json = "application/json; charset=utf-8";

const request = (headers: Record<string, string>) => ({ headers }) as unknown as FastifyRequest;

describe("the encoding for a client", () => {
  it.each<[accepted: string | undefined, chosen: string | undefined]>([
    [undefined, undefined],
    ["", undefined],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["GZIP", "gzip"],
    ["br;q=0.5, gzip", "gzip"],
    ["br;q=0, gzip;q=0", undefined],
    ["gzip;q=0.5, identity", undefined],
    ["gzip ; q=0.5 , identity;q=0.1", "gzip"],
    ["deflate, zstd", undefined],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["*;q=0", undefined],
    ["gzip;q=often", "gzip"],
  ])("that accepts %j is %s", (accepted, chosen) => {
    expect(chooseEncoding(accepted)).toBe(chosen);
  });

  it("is one of ours whatever it says", () => {
    fc.assert(
      fc.property(fc.string(), (accepted) => {
        expect([undefined, "br", "gzip"]).toContain(chooseEncoding(accepted));
      }),
    );
  });
});

/** Names of the fields that an answer may have, wherever its schema has them. */
function fieldsOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== "object" || schema === null) return found;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") for (const name of Object.keys(value as object)) found.add(name);
    fieldsOf(value, found);
  }
  return found;
}

/** Whether an endpoint answers what only some may know: a key of an API, a secret that something is signed with. */
function hasSecret({ responses }: Endpoint): boolean {
  return Object.values(responses).some(({ schema }) => {
    if (schema === undefined) return false;
    const fields = fieldsOf(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }));
    return [...fields].some((name) => ["secret", "api_key", "token", "password"].includes(name));
  });
}

/** Choices of tags are keys with values. */
const keyIsNoSecret = new Set(["list_repo_tag_choices", "list_control_tag_choices", "list_tag_choices"]);

describe("answers with secrets", () => {
  const ours = request({
    "accept-encoding": "gzip, br",
    "if-none-match": '"x"',
    "sec-fetch-dest": "empty",
  });

  it("are found by this test", () => {
    const found = all.filter(([, endpoint]) => hasSecret(endpoint)).map(([id]) => id);
    expect(found).toEqual(
      expect.arrayContaining(["get_signing_secret", "rotate_signing_secret", "put_quality_integration"]),
    );
  });

  it.each(all.filter(([, endpoint]) => hasSecret(endpoint)))(
    "%s is neither compressed nor kept",
    (_id, endpoint) => {
      expect(termsOf(ours, endpoint, json)).toMatchObject({
        isCompressible: false,
        encoding: undefined,
        isKept: false,
      });
    },
  );

  it.each(all.filter(([, { method, recordsNothing }]) => method !== "GET" && recordsNothing !== true))(
    "are not looked for in what %s records: it is sent as it is",
    (_id, endpoint) => {
      expect(termsOf(ours, endpoint, json)).toMatchObject({
        isCompressible: false,
        encoding: undefined,
        isKept: false,
      });
    },
  );

  it.each(all.filter(([id, { method }]) => method === "GET" && !keyIsNoSecret.has(id)))(
    "%s, a read, shows no key",
    (_id, endpoint) => {
      for (const { schema } of Object.values(endpoint.responses)) {
        if (schema === undefined) continue;
        const fields = fieldsOf(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }));
        expect(fields.has("key") && endpoint.showsSecret !== true).toBe(false);
      }
    },
  );
});

describe("what is sent", () => {
  it("depends on Accept where there is a table of it, too", () => {
    const withTable = endpoints.list_organization_audit_log as Endpoint;
    expect(termsOf(request({}), withTable, json).vary).toBe("Accept, Accept-Encoding");
    expect(termsOf(request({}), endpoints.list_policies as Endpoint, json).vary).toBe("Accept-Encoding");
  });
});

describe("what may be kept", () => {
  const list = endpoints.list_policies as Endpoint;

  it.each<[string, Record<string, string>, boolean]>([
    ["a program", {}, false],
    ["a program that has a tag", { "if-none-match": 'W/"x"' }, true],
    ["a page", { "sec-fetch-dest": "empty" }, true],
    ["any cookie", { cookie: "waybill-session=x; waybill-theme=dark" }, false],
  ])("by %s", (_who, headers, isKept) => {
    expect(termsOf(request(headers), list, json).isKept).toBe(isKept);
  });

  it("by a session", () => {
    const signedIn = (session_id: string | null) =>
      ({ headers: {}, caller: { principal: { session_id } } }) as never;
    expect(termsOf(signedIn("x"), list, json).isKept).toBe(true);
    expect(termsOf(signedIn(null), list, json).isKept).toBe(false);
  });
});
