import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import type { Answer } from "../support/client.ts";
import { uniqueName } from "../support/unique-name.ts";

let app: TestApp;
let org: TestOrg;

beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

function post(data: unknown, schema?: unknown): Promise<Answer> {
  return org.member.request("POST", `/custom-attestation-types/${org.name}`, {
    parts: partsOf(data, schema),
  });
}

function get(name: string): Promise<Answer> {
  return org.reader.get(`/custom-attestation-types/${org.name}/${name}`);
}

describe("a definition that cannot be used", () => {
  async function refused(data: Record<string, unknown>, file?: unknown): Promise<Record<string, string>> {
    const name = uniqueName("type");
    const answer = await post({ name, ...data }, file);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.json.message).toBe("Input payload validation failed");
    expect((await get(name)).status).toBe(404);
    return answer.json.errors;
  }

  it.each([
    [".a |", "syntax error, unexpected end of file at <top-level>, line 1:\n.a | [input: .a |]"],
    ["nope(.a)", "nope/1 is not defined at <top-level>, line 1:\nnope(.a) [input: nope(.a)]"],
    [". as $x | $y", "$y is not defined"],
    ['import "a" as a; true', "module not found: a"],
    ['include "/etc/passwd"; true', "module not found"],
    ["", "Top-level program not given"],
    ["true) , (true", "syntax error"],
    ["def f: 1;", "Top-level program not given"],
    ["module {}; true", "syntax error"],
    ['"a" * 1e9', "Checking it needed too much memory"],
    ["__judge(.)", "__judge/1 is not defined"],
    ["$v", "$v is not defined"],
  ])("names the faulty rule %j and says what jq says", async (rule, reason) => {
    const errors = await refused({ evaluator: jq(".good", rule) });
    expect(Object.keys(errors)).toEqual(["evaluator.rules[1]"]);
    expect(errors["evaluator.rules[1]"]).toContain(reason);
  });

  it("names every faulty rule and expression", async () => {
    const errors = await refused({
      evaluator: jq("a b", ".x", "{"),
      summary: [
        { name: "A", expression: ".a" },
        { name: "B", expression: "]" },
      ],
    });
    expect(Object.keys(errors)).toEqual([
      "evaluator.rules[0]",
      "evaluator.rules[2]",
      "summary[1].expression",
    ]);
  });

  it.each([
    [{ type: "objekt" }, "type_schema/type", "must be equal to one of the allowed values"],
    [{ properties: { a: { minimum: "1" } } }, "type_schema/properties/a/minimum", "must be number"],
    [
      { properties: { a: { $ref: "https://schemas.test/x.json" } } },
      "type_schema/properties/a/$ref",
      "can't resolve reference https://schemas.test/x.json: nothing outside of the schema is fetched",
    ],
    [{ $ref: "file:///etc/passwd" }, "type_schema/$ref", "nothing outside of the schema is fetched"],
    [{ $ref: "#/definitions/none" }, "type_schema/$ref", "can't resolve reference #/definitions/none"],
    [{ items: { pattern: "(?=a)" } }, "type_schema/items/pattern", "invalid or unsupported Perl syntax"],
    [
      { patternProperties: { "(a)\\1": {} } },
      "type_schema/patternProperties/(a)\\1",
      "invalid escape sequence",
    ],
    [{ $schema: "http://schemas.test/own" }, "type_schema/$schema", "must be a known dialect"],
    [{ $schema: 4 }, "type_schema/$schema", "must be a known dialect"],
    [{ $async: true }, "type_schema/$async", "is not supported"],
    [{ $id: "http://json-schema.org/draft-07/schema" }, "type_schema", "already exists"],
    ["[1]", "type_schema", "JSON Schema should be an object"],
    ["true", "type_schema", "JSON Schema should be an object"],
    ["null", "type_schema", "JSON Schema should be an object"],
    ["{", "type_schema", "Invalid JSON: Syntax error"],
    ["", "type_schema", "Invalid JSON: Text is empty"],
    ['{"const":9007199254740993}', "type_schema", "has a number that would be rounded: 9007199254740993"],
    ['{"enum":[1e400]}', "type_schema", "has a number that would be rounded: 1e400"],
    ['{"a":"\\u0000"}', "type_schema", "must not contain NUL"],
    ["[".repeat(200), "type_schema", "Nesting is deeper than 100 levels"],
  ])("refuses the schema %j at %s", async (file, location, reason) => {
    const errors = await refused({}, file);
    expect(errors[location], JSON.stringify(errors)).toContain(reason);
  });

  it.each([
    ["", { description: "x".repeat(513 * 1024) }],
    [" where its numbers are written out", { enum: Array(2_000).fill(1e300) }],
  ])("refuses a schema that is too large%s", async (_where, file) => {
    const answer = await post({ name: uniqueName("type") }, file);
    expect(answer.status).toBe(413);
    expect(answer.json.message).toBe("JSON Schema exceeds 512 KiB limit");
  });

  it.each([
    [{ name: "-a" }, "name", "String should match pattern '^[a-zA-Z0-9][a-zA-Z0-9\\.\\-_~]*$' [input: -a]"],
    [{ name: "a b" }, "name", "String should match pattern"],
    [{ name: "a@v1" }, "name", "String should match pattern"],
    [{ name: "a".repeat(513) }, "name", "String should have at most 512 characters"],
    [{}, "name", "Field required [input: None]"],
    [{ name: "a", evaluator: { content_type: "jq" } }, "evaluator.rules", "Field required"],
    [
      { name: "a", evaluator: { content_type: "rego", rules: [] } },
      "evaluator.content_type",
      "Input should be",
    ],
    [
      { name: "a", evaluator: jq(...Array.from({ length: 51 }, () => ".")) },
      "evaluator.rules",
      "at most 50 items",
    ],
    [{ name: "a", summary: [{ name: "A" }] }, "summary[0].expression", "Field required"],
    [{ name: "a", summary: {} }, "summary", "valid list"],
    [{ name: "a", type_schema: {} }, "type_schema", "Extra inputs are not permitted"],
  ])("refuses the input %j at %s", async (data, location, reason) => {
    const answer = await post(data);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[location], answer.text).toContain(reason);
  });

  it.each([
    { $schema: "http://json-schema.org/draft-07/schema#", type: "object" },
    { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ type: "string" }] },
    { $schema: "https://json-schema.org/draft/2019-09/schema", type: "array" },
    { $schema: "http://json-schema.org/draft-06/schema#", type: "array" },
    { $id: "https://schemas.test/a", definitions: { a: { $id: "#a" } }, $ref: "#a" },
    { $ref: "http://json-schema.org/draft-07/schema#" },
    { $ref: "#/$defs/node", $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } } },
    { id: "x", "x-owner": "team", properties: { when: { format: "fortnight" } } },
    { properties: { pattern: { type: "string" }, $ref: { type: "string" } }, const: { pattern: "(?=" } },
    {
      properties: { a: { type: ["string", "null"], enum: [null, true, "x"], pattern: "^\\w+\\-[^/\\]]*$" } },
    },
  ])("takes the schema %j and shows it", async (file) => {
    const name = uniqueName("type");
    expect((await post({ name }, file)).status).toBe(201);
    expect((await get(name)).json.versions[0].type_schema).toEqual(file);
  });
});
