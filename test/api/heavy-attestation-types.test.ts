import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { partsOf } from "../support/attestation-types.ts";

/** What is read at most in one: a slice of a megabyte, and a version. */
const largestRow = 1_600_000;
const versions = 6;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { largestRow });
  org = await app.org();
});
afterAll(() => app.close());

async function post(name: string, description: string, schema?: object): Promise<void> {
  const { status, text } = await org.member.request("POST", `/custom-attestation-types/${org.name}`, {
    parts: partsOf({ name, description }, schema),
  });
  expect([status, text]).toEqual([201, '"OK"']);
}

/** A schema of half a megabyte, another one each time: with what JSON escapes, and with characters of three bytes. */
const schemaOf = (at: number): object => ({
  title: `${at} "€\\ ${String.fromCharCode(97 + at).repeat(500_000)}`,
});

it("shows types with more versions than are read at once, version by version, and lists them", async () => {
  await post("first", "small");
  for (const name of ["old", "big"])
    for (let at = 0; at < versions; at += 1)
      await post(name, at === versions - 1 ? "" : `${at}`, at === 2 ? undefined : schemaOf(at));
  await post("last", "small", {});
  const path = `/custom-attestation-types/${org.name}`;
  expect((await org.member.put(`${path}/old/archive`)).status).toBe(200);

  const slices = vi.spyOn(app.deps.db, "sliced");
  const whole = await org.reader.get(`${path}/big`);
  expect([whole.status, slices.mock.calls.length > 1]).toEqual([200, true]);
  const { versions: shown, ...type } = whole.json;
  expect(type).toEqual({
    name: "big",
    org: org.name,
    archived: false,
    created_by: expect.any(String),
    created_at: shown.at(-1).timestamp,
    last_modified_at: shown[0].timestamp,
  });
  const single = [];
  for (let version = versions; version > 0; version -= 1)
    single.push(...(await org.reader.get(`${path}/big?version=${version}`)).json.versions);
  expect(single).toHaveLength(versions);
  expect(JSON.stringify(shown) === JSON.stringify(single)).toBe(true);

  const old = await org.reader.get(`${path}/old`);
  expect([old.status, old.json.archived, old.json.versions.length]).toEqual([200, true, versions]);

  const first = await org.reader.get(`${path}/first`);
  expect(first.text.replaceAll(first.json.created_by, "she").replaceAll(/": \d{5,}[.\d]*/g, `": 0`)).toBe(
    `{"org": "${org.name}", "name": "first", "archived": false, "versions": [{"summary": null, "version": 1, ` +
      `"evaluator": {"content_type": "default"}, "timestamp": 0, "created_by": "she", "type_schema": null}], ` +
      `"created_at": 0, "created_by": "she", "description": "small", "last_modified_at": 0}`,
  );

  const list = await org.reader.get(path);
  expect(list.status).toBe(200);
  const names: string[] = list.json.map(({ name }: { name: string }) => name);
  expect(names).toEqual(["last", "big", "first"]);
  const each = await Promise.all(names.map(async (name) => (await org.reader.get(`${path}/${name}`)).text));
  expect(list.text === `[${each.join(",")}]`).toBe(true);
}, 120_000);
