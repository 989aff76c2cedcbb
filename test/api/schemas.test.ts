import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Every `$ref` in a document. */
function references(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "$ref" in value && typeof value.$ref === "string" ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

describe.each(["flow-template", "environment-policy"])("GET /schemas/%s/v1", (name) => {
  it("is public and a JSON Schema that holds together", async () => {
    const answer = await app.anonymous.get(`/schemas/${name}/v1`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `http://waybill.test/api/v2/schemas/${name}/v1`,
      type: "object",
      additionalProperties: false,
    });
    const known = Object.keys(answer.json.$defs).map((key) => `#/$defs/${key}`);
    expect(new Set(references(answer.json))).toEqual(new Set(known));
  });

  it("ignores credentials that do not work", async () => {
    expect((await app.as("bogus").get(`/schemas/${name}/v1`)).status).toBe(200);
  });
});

describe("the schemas' content", () => {
  it("lists what a flow template may hold", async () => {
    const { json } = await app.anonymous.get("/schemas/flow-template/v1");
    expect(Object.keys(json.properties)).toEqual(["version", "trail"]);
    expect(json.properties.version).toMatchObject({ const: 1, default: 1 });
    expect(json.$defs.Attestation.required).toEqual(["name", "type"]);
    expect(json.$defs.Artifact.required).toEqual(["name"]);
  });

  it("lists what a policy may hold", async () => {
    const { json } = await app.anonymous.get("/schemas/environment-policy/v1");
    expect(json.required).toEqual(["_schema"]);
    expect(Object.keys(json.properties)).toEqual(["_schema", "artifacts"]);
    expect(Object.keys(json.$defs.Artifacts.properties)).toEqual([
      "provenance",
      "trail-compliance",
      "attestations",
    ]);
    expect(Object.keys(json.$defs.AttestationRule.properties)).toEqual([
      "type",
      "name",
      "if",
      "must_be_compliant",
      "for_control",
    ]);
    expect(json.$defs.AttestationRule.properties.must_be_compliant.default).toBe(true);
  });
});
