import { afterAll, afterEach, beforeAll, expect, it } from "vitest";

import { createSandbox, type Sandbox, type SandboxOptions } from "../../src/lib/sandbox/sandbox.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { jq, partsOf } from "../support/attestation-types.ts";
import { attest } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
let ordinary: Sandbox;

beforeAll(async () => {
  app = await startTestApp();
  ordinary = app.deps.sandbox;
  org = await app.org();
  const endless = { name: "endless", evaluator: jq("true", "def f: f; f") };
  await org.admin.request("POST", `/custom-attestation-types/${org.name}`, {
    parts: partsOf(endless),
  });
  await putFlow(org.admin, org.name, { name: "web-ci" });
  await putTrail(org.admin, `${org.name}/web-ci`, { name: "run" });
});
afterEach(async () => {
  if (app.deps.sandbox === ordinary) return;
  await app.deps.sandbox.close();
  app.deps.sandbox = ordinary;
});
afterAll(() => app.close());

function judgeWith(options: SandboxOptions): void {
  app.deps.sandbox = createSandbox({ threads: 1, ...options });
}

function report(): Promise<Answer> {
  const body = { attestation_name: "scan", type_name: "endless", attestation_data: {} };
  return attest(org.member, { org: org.name }, "custom", body);
}

async function trailOf(): Promise<unknown> {
  return (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
}

it("answers 503 and stores nothing when the machine does not get to judging", async () => {
  const before = await trailOf();
  judgeWith({ patience: 300, processorTime: async () => 0 });
  const answer = await report();
  expect([answer.status, answer.json]).toEqual([
    503,
    { message: "The server is too busy to evaluate this, try again" },
  ]);
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  expect(await trailOf()).toEqual(before);
});

it("answers 503 and stores nothing when no thread can be started", async () => {
  const before = await trailOf();
  judgeWith({
    startThread: () => {
      throw new Error("no room for a thread");
    },
  });
  expect((await report()).status).toBe(503);
  expect(await trailOf()).toEqual(before);
});

it("stores what a rule comes to that used up its processor time", async () => {
  judgeWith({ timeLimit: 1_000 });
  expect((await report()).status).toBe(201);
  const trail = JSON.stringify(await trailOf());
  expect(trail).toContain('"is_compliant":false');
});
