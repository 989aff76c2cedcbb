import { describe, expect, it } from "vitest";
import { z } from "zod";

import { publicAccess, signed } from "./access.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoint } from "./endpoint.ts";
import { endpoints } from "./index.ts";
import { openApiDocument } from "./openapi.ts";

type Json = Record<string, unknown>;

const all = endpoints as Record<string, Endpoint>;
const info = { version: "1.2.3", serverUrl: "http://waybill.test" };
const document = JSON.parse(JSON.stringify(openApiDocument(all, info))) as {
  openapi: string;
  servers: Json[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; responses: Record<string, Response>; securitySchemes: Json };
};

interface Response {
  description: string;
  content: Json;
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  parameters: { name: string; in: string; required: boolean; schema: Json }[];
  responses: Record<string, Response | { $ref: string }>;
  requestBody?: { content: Json };
  security?: Json[];
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** The response, or the common one that is referred to. */
function resolved(response: Response | { $ref: string }): Response {
  if (!("$ref" in response)) return response;
  return document.components.responses[response.$ref.replace("#/components/responses/", "")]!;
}

/** Every value found under a key, anywhere. */
function valuesUnder(key: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesUnder(key, item));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => [
    ...(name === key ? [item] : []),
    ...valuesUnder(key, item),
  ]);
}

describe("the OpenAPI document", () => {
  it("has one operation for each endpoint, where the endpoint is", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.servers).toEqual([{ url: info.serverUrl }]);
    const byId = (a: string[], b: string[]): number => (a[0]! < b[0]! ? -1 : 1);
    const described = operations
      .map(({ path, method, operation }) => [operation.operationId, method, path])
      .sort(byId);
    const declared = Object.entries(all)
      .map(([id, { method, path }]) => [id, method.toLowerCase(), `/api/v2${path.replace("...}", "}")}`])
      .sort(byId);
    expect(described).toEqual(declared);
    expect(new Set(described.map(([id]) => id)).size).toBe(described.length);
  });

  it("gives each operation a tag, a summary, a description and described responses", () => {
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations) {
      expect(operation.tags).toHaveLength(1);
      expect(tags).toContain(operation.tags[0]);
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(operation.description).not.toBe("");
      expect(Object.keys(operation.responses).filter((status) => /^20\d$/.test(status))).not.toEqual([]);
      for (const response of Object.values(operation.responses))
        expect(resolved(response).description).toMatch(/./);
    }
  });

  it("describes exactly the parameters in each path", () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const parameters = operation.parameters.filter((parameter) => parameter.in === "path");
      expect(parameters.map(({ name }) => name)).toEqual(inPath);
      expect(parameters.every(({ required }) => required)).toBe(true);
      const names = operation.parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it("refers only to components it has, and uses every one", () => {
    const references = new Set(valuesUnder("$ref", document) as string[]);
    const { schemas, responses } = document.components;
    const components = Object.entries({ schemas, responses }).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...references].sort()).toEqual(components.sort());
    expect(JSON.stringify(document)).not.toContain("__");
  });

  it("shows the limits and defaults of the lists", () => {
    const query = (path: string): Record<string, Json> =>
      Object.fromEntries(
        document.paths[`/api/v2${path}`]!["get"]!.parameters.map(({ name, schema }) => [name, schema]),
      );
    const page = { type: "integer", minimum: 1, maximum: 1_000_000 };
    const ofEnvironments = query("/environments/{org}");
    expect(ofEnvironments["page"]).toEqual(page);
    expect(ofEnvironments["per_page"]).toEqual({ type: "integer", minimum: 1, maximum: 50 });
    expect(ofEnvironments["sort"]).toMatchObject({ default: "name" });
    expect(ofEnvironments["sort_direction"]).toMatchObject({ enum: ["asc", "desc"], default: "asc" });
    expect(ofEnvironments["archived"]).toEqual({ type: "boolean", default: false });
    const ofBuilds = query("/builds/{org}");
    expect(ofBuilds["page"]).toEqual({ ...page, default: 1 });
    expect(ofBuilds["per_page"]).toEqual({ type: "integer", minimum: 0, maximum: 50, default: 15 });
    expect(ofBuilds["start-ts"]).toMatchObject({ type: "number", deprecated: true });
    // A default is of the parameter's own type.
    for (const { operation } of operations)
      for (const { name, schema } of operation.parameters)
        if (schema["type"] === "integer" && "default" in schema)
          expect(typeof schema["default"], `${operation.operationId} ${name}`).toBe("number");
  });

  it("gives every paged list limits", () => {
    const paging = operations.flatMap(({ operation }) =>
      operation.parameters.filter(({ name }) => name === "page" || name === "per_page"),
    );
    expect(paging.length).toBeGreaterThan(10);
    const limits = { type: "integer", minimum: expect.any(Number), maximum: expect.any(Number) };
    for (const { schema } of paging) expect(schema).toMatchObject(limits);
  });

  it("shows the webhook's header, and numbers in paths as such", () => {
    for (const name of ["Quality", "Sonar"]) {
      const path = `/api/v2/webhooks/${name.toLowerCase()}/{hook_uid}`;
      expect(document.paths[path]!["post"]!.parameters).toContainEqual({
        name: `X-${name}-Webhook-HMAC-SHA256`,
        in: "header",
        required: false,
        schema: { type: ["string", "null"] },
      });
    }
    const removal = document.paths["/api/v2/actions/{org}/{action_number}"]!["delete"]!;
    expect(removal.parameters.at(-1)).toMatchObject({ name: "action_number", schema: { type: "integer" } });
  });

  it("names only security schemes it has", () => {
    const schemes = Object.keys(document.components.securitySchemes);
    for (const { operation } of operations)
      for (const name of (operation.security ?? []).flatMap((requirement) => Object.keys(requirement)))
        expect(schemes).toContain(name);
  });

  it("is the same whenever it is made", () => {
    expect(JSON.parse(JSON.stringify(openApiDocument(all, info)))).toEqual(document);
  });
});

describe("a document of made-up endpoints", () => {
  const Thing = z.object({ a: z.string() }).meta({ id: "Thing" });
  const made = (change: Partial<Endpoint>): Endpoint =>
    endpoint({
      method: "POST",
      path: "/things/{org}/{name...}",
      tag: "Things",
      summary: "Make a thing",
      access: publicAccess,
      responses: { 201: { description: "Made", schema: z.array(Thing) } },
      ...change,
    });

  it("shows multipart bodies as the field and its files", () => {
    const body: Endpoint["body"] = {
      kind: "multipart",
      field: "data_json",
      schema: Thing,
      files: { file: { maxBytes: 1, tooLarge: "x" } },
    };
    const { paths } = openApiDocument({ make: made({ body }) }, info) as typeof document;
    const operation = paths["/api/v2/things/{org}/{name}"]!["post"]!;
    expect(operation.requestBody!.content["multipart/form-data"]).toMatchObject({
      schema: {
        properties: { data_json: { $ref: "#/components/schemas/Thing" }, file: { type: "string" } },
        required: ["data_json"],
      },
    });
    expect(operation.responses["201"]).toMatchObject({
      content: {
        "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Thing" } } },
      },
    });
  });

  it("says who needs no credentials", () => {
    const { paths } = openApiDocument(
      { open: made({}), signed: made({ path: "/signed", access: signed }) },
      info,
    ) as typeof document;
    expect(paths["/api/v2/things/{org}/{name}"]!["post"]!.security).toEqual([]);
    expect(paths["/api/v2/signed"]!["post"]!.security).toEqual([
      { bearer: [] },
      { basic: [] },
      { signature: [] },
    ]);
  });
});
