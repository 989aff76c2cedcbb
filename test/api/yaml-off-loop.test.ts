import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { parsePolicy, readPolicy } from "../../src/domain/policy/parse.ts";
import { parseTemplate, readTemplate } from "../../src/domain/template/parse.ts";
import { yamlReader } from "../../src/lib/yaml-aside.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { longestTurn } from "../support/turns.ts";
import { expensiveYaml } from "../support/yaml-shapes.ts";

/** Milliseconds that nothing may hold the event loop for. */
const budget = 50;

const kinds = [
  { kind: "a policy", length: 64 * 1024, parse: parsePolicy, read: readPolicy },
  { kind: "a template", length: 128 * 1024, parse: parseTemplate, read: readTemplate },
] as const;

const read = yamlReader.read.bind(yamlReader, "org");

/** What something comes to, good or bad, with every place and reason. */
async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error, issues: (error as { issues?: unknown }).issues };
  }
}

beforeAll(async () => {
  // Loads code, which is done once.
  for (const { length, read: readKind } of kinds)
    await outcome(() => readKind(expensiveYaml(length)["short keys"]!, read));
});

describe.each(kinds)("reading $kind of its greatest length", ({ length, parse, read: readKind }) => {
  it.each(Object.entries(expensiveYaml(length)))(
    "holds nobody up with %s",
    { timeout: 60_000 },
    async (_name, text) => {
      expect(text.length).toBeLessThanOrEqual(length);
      expect(text.length).toBeGreaterThan(length - 100);
      let aside: unknown;
      const longest = await longestTurn(async () => {
        aside = await outcome(() => readKind(text, read));
      });
      expect(longest).toBeLessThan(budget);
      expect(aside).toEqual(await outcome(() => parse(text)));
    },
  );

  it("reads many short texts at a time without holding anybody up", async () => {
    const texts = Object.values(expensiveYaml(4_000));
    const longest = await longestTurn(() =>
      Promise.all(texts.map((text) => outcome(() => readKind(text, read)))),
    );
    expect(longest).toBeLessThan(budget);
  });
});

describe("a server that is given YAML", () => {
  let app: TestApp;
  let org: TestOrg;
  beforeAll(async () => {
    app = await startTestApp();
    org = await app.org();
  });
  afterAll(() => app.close());

  it("answers others meanwhile, whatever it says of the YAML", { timeout: 60_000 }, async () => {
    const shapes = expensiveYaml(128 * 1024);
    await putFlow(org.admin, org.name, { name: "first" }, "version: 1");
    const longest = await longestTurn(async () => {
      for (const name of ["empty pairs", "short scalars", "an error at the end"])
        expect((await putFlow(org.admin, org.name, { name: "flow" }, shapes[name])).status).toBe(400);
    });
    expect(longest).toBeLessThan(budget);
  });

  it("lists trails whose templates take long to read", { timeout: 120_000 }, async () => {
    const template = (index: number): string =>
      `${"#\n".repeat(60 * 1024)}# ${index}\nversion: 1\ntrail: {attestations: [{name: a, type: junit}]}\n`;
    await putFlow(org.admin, org.name, { name: "web" }, "version: 1");
    for (let index = 0; index < 3; index += 1) {
      const path = `${org.name}/web`;
      const longest = await longestTurn(async () => {
        const answer = await putTrail(org.member, path, { name: `run-${index}` }, template(index));
        expect([answer.status, answer.json]).toEqual([201, "OK"]);
      });
      expect(longest).toBeLessThan(budget);
    }
    const listed = await org.reader.get(`/trails/${org.name}/web`);
    expect(listed.json).toHaveLength(3);
    for (const trail of listed.json)
      expect(trail.template.trail.attestations).toEqual([{ name: "a", type: "junit" }]);
  });
});
