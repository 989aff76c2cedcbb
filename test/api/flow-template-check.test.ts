import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import type { Answer, Client } from "../support/client.ts";
import { putFlow, sampleTemplate } from "../support/flows.ts";
import { leastLongestTurn } from "../support/turns.ts";
import { expensiveYaml } from "../support/yaml-shapes.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

function check(template: unknown, client: Client = org.member): Promise<Answer> {
  return client.post(`/flows/${org.name}/template/check`, { template });
}

describe("POST /flows/{org}/template/check", () => {
  it("says what a valid template says", async () => {
    const { status, json } = await check(sampleTemplate);
    expect([status, json]).toEqual([
      200,
      {
        valid: true,
        errors: [],
        template: {
          version: 1,
          trail: {
            attestations: [{ name: "bar", type: "junit" }],
            artifacts: [{ name: "cli", attestations: [{ name: "foo", type: "generic" }] }],
          },
        },
      },
    ]);
  });

  it("says where what is wrong, each mistake by its line", async () => {
    const template = [
      "version: 2",
      "trail:",
      "  attestations:",
      "    - name: 'a b'",
      "      type: nothing",
      "    - {type: junit}",
      "  artifacts: none",
      "extra: 1",
    ].join("\n");
    const { status, json } = await check(template);
    expect(status).toBe(200);
    expect({ valid: json.valid, template: json.template }).toEqual({ valid: false, template: null });
    const places = json.errors.map((error: Record<string, unknown>) => [
      error["path"],
      error["line"],
      error["column"],
    ]);
    expect(new Set(places)).toEqual(
      new Set([
        ["extra", 8, 1],
        ["version", 1, 1],
        ["trail.artifacts", 7, 3],
        ["trail.attestations[0].name", 4, 7],
        ["trail.attestations[0].type", 5, 7],
        // It is missing, so the item that lacks it is named.
        ["trail.attestations[1].name", 6, 7],
      ]),
    );
    const version = json.errors.find(({ path }: { path: string }) => path === "version");
    expect(version.message).toBe("Input should be 1");
  });

  it.each([
    ["a: 1\na: 2", "Invalid YAML: Key 'a' is given twice (line 2)", 2, 1],
    ["version: 1\ntrail: [", expect.stringContaining("Invalid YAML: "), 2, expect.any(Number)],
    ["version: 1\n---\nversion: 1", "Invalid YAML: Expected one document, found more", null, null],
    ["", "Input should be a valid dictionary", 1, 1],
  ])("says what is wrong with %j as a whole", async (template, message, line, column) => {
    const { status, json } = await check(template);
    expect(status).toBe(200);
    expect(json.errors).toEqual([{ path: "", line, column, message }]);
  });

  it.each([sampleTemplate, "version: 3", "trail: {artifacts: [{name: a}, {name: a}]}", "x", "- 1"])(
    "says of %j what creating a flow says",
    async (template) => {
      const { json } = await check(template);
      const created = await putFlow(org.member, org.name, { name: "real" }, template);
      expect(created.status >= 400).toBe(!json.valid);
      const said = Object.fromEntries(
        json.errors.map(({ path, message }: { path: string; message: string }) => [path, message]),
      );
      const told = Object.entries((created.json.errors ?? {}) as Record<string, string>).map(
        ([path, text]) => [path.replace(/^template_file\.?/, ""), text.replace(/ \[input: .*\]$/s, "")],
      );
      expect(said).toEqual(Object.fromEntries(told));
    },
  );

  it("finds the places of a long text", async () => {
    const { json } = await check(`${"# x\n".repeat(3_000)}version: 1\ntrail: {attestations: 7}`);
    expect(json.errors).toEqual([
      { path: "trail.attestations", line: 3002, column: 9, message: "Input should be a valid list" },
    ]);
  });

  it("answers others meanwhile", { timeout: 60_000 }, async () => {
    const shapes = expensiveYaml(128 * 1024);
    await check(shapes["short keys"]);
    const longest = await leastLongestTurn(50, async () => {
      for (const name of ["empty pairs", "short scalars", "an error at the end"])
        expect((await check(shapes[name])).json.valid).toBe(false);
    });
    expect(longest).toBeLessThan(50);
  });

  it("stores nothing, and needs a member and a text", async () => {
    const own = await app.org();
    const path = `/flows/${own.name}/template/check`;
    expect((await own.member.post(path, { template: "version: 1" })).status).toBe(200);
    expect((await own.reader.get(`/flows/${own.name}`)).json).toEqual([]);
    for (const client of [own.reader, own.snapshotter])
      expect((await client.post(path, { template: "version: 1" })).status).toBe(403);
    for (const body of [{}, { template: 1 }, { template: "", more: 1 }])
      expect((await own.member.post(path, body)).status).toBe(400);
  });
});
