import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attest } from "../support/attestations.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import type { Answer } from "../support/client.ts";
import { putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

function attempt(body: unknown): Promise<Answer> {
  return org.member.post(`/custom-attestation-types/${org.name}/try`, body);
}

const schema = { type: "object", properties: { line: { type: "number" } }, required: ["line"] };

describe("POST /custom-attestation-types/{org}/try", () => {
  it("says which rules pass, and works out the summary", async () => {
    const { status, json } = await attempt({
      schema,
      rules: [".line >= 80", ".ok", ".line < 1000"],
      summary: [
        { name: "Lines", expression: ".line" },
        { name: "Tags", expression: ".tags[]" },
        { name: "Broken", expression: ".line | keys" },
      ],
      payload: { line: 90, tags: ["a", "b"] },
    });
    expect([status, json]).toEqual([
      200,
      {
        is_compliant: false,
        schema_errors: [],
        rule_results: [
          { rule: ".line >= 80", passed: true },
          { rule: ".ok", passed: false, error: "yielded null" },
          { rule: ".line < 1000", passed: true },
        ],
        summary: {
          groups: [
            [
              { name: "Lines", value: 90 },
              { name: "Tags", value: ["a", "b"] },
              { name: "Broken", value: null, error: expect.stringContaining("has no keys") },
            ],
          ],
          incomplete: null,
        },
      },
    ]);
  });

  it("says where the data do not fit the schema, and tries no rule then", async () => {
    const { json } = await attempt({ schema, rules: [".line"], payload: { line: "x" } });
    expect(json).toEqual({
      is_compliant: false,
      schema_errors: [{ path: "/line", message: expect.any(String) }],
      rule_results: [],
      summary: { groups: [], incomplete: null },
    });
  });

  it("complies without schema and rules, and reads data that are given as text", async () => {
    expect((await attempt({ payload: 7 })).json.is_compliant).toBe(true);
    expect((await attempt({ rules: [".a == 1"], payload: '{"a": 1}' })).json.is_compliant).toBe(true);
    expect((await attempt({ schema: null, rules: null, summary: null, payload: [] })).json).toMatchObject({
      is_compliant: true,
      rule_results: [],
    });
  });

  it("shows a group for each element of a list, as many as are shown, and says when there are more", async () => {
    const summary = [{ name: "N", expression: "." }];
    const of = (length: number) => attempt({ summary, payload: Array.from({ length }, (_, index) => index) });
    const whole = (await of(500)).json.summary;
    expect([whole.groups.length, whole.incomplete]).toEqual([500, null]);
    const more = (await of(501)).json.summary;
    expect([more.groups.length, more.incomplete]).toEqual([500, "Only the first 500 elements are shown"]);
  });

  it("keeps the limits of real judging", { timeout: 60_000 }, async () => {
    const { status, json } = await attempt({ rules: ["[range(1e12)] | length > 0"], payload: {} });
    expect(status).toBe(200);
    expect(json.is_compliant).toBe(false);
    expect(json.rule_results[0].error).toMatch(/took longer than|needed too much/);
  });

  it("says of data what attesting them says", async () => {
    const rules = ['.digits == "1" or .n > 1.5', '.n | type == "number"'];
    await org.member.request("POST", `/custom-attestation-types/${org.name}`, {
      parts: partsOf({ name: "same", evaluator: jq(...rules) }),
    });
    await putTrail(org.member, `${org.name}/web`, { name: "t" });
    for (const payload of [{ n: 1 }, { n: 2 }, { digits: "1" }]) {
      const real = await attest(org.member, { org: org.name, flow: "web", trail: "t" }, "custom", {
        attestation_name: "same",
        type_name: "same",
        attestation_data: payload,
      });
      expect(real.status).toBe(201);
      const stored = await org.reader.get(`/attestations/${org.name}/web/trail/t/same`);
      const tried = (await attempt({ rules, payload })).json;
      const latest = stored.json.at(-1) ?? stored.json[0];
      expect(tried.is_compliant).toBe(latest.is_compliant);
    }
  });

  it.each([
    [{ rules: [".a |"], payload: {} }, "rules[0]"],
    [{ rules: ["true) , (true"], payload: {} }, "rules[0]"],
    [{ schema: { type: "nothing" }, payload: {} }, "schema/type"],
    [{ summary: [{ name: "a", expression: "((" }], payload: {} }, "summary[0].expression"],
    [{ schema: [], payload: {} }, "schema"],
    [{ rules: [".a"] }, "payload"],
    [{ payload: {}, more: 1 }, "more"],
  ])("refuses %j, naming %s", async (body, place) => {
    const { status, json } = await attempt(body);
    expect([status, Object.keys(json.errors)]).toEqual([400, [place]]);
  });

  it("refuses a schema that is too large to be stored", async () => {
    const { status, json } = await attempt({ schema: { description: "x".repeat(600_000) }, payload: {} });
    expect([status, json]).toEqual([413, { message: "JSON Schema exceeds 512 KiB limit" }]);
  });

  it("stores nothing, and needs a member", async () => {
    const own = await app.org();
    const path = `/custom-attestation-types/${own.name}/try`;
    expect((await own.member.post(path, { payload: 1 })).status).toBe(200);
    expect((await own.reader.get(`/custom-attestation-types/${own.name}`)).json).toEqual([]);
    for (const client of [own.reader, own.snapshotter])
      expect((await client.post(path, { payload: 1 })).status).toBe(403);
  });
});
