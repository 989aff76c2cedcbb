import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { one, report } from "../support/artifact-reads.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

it("shows where an artifact runs and ran, by the snapshots in which that changed", async () => {
  const org = await app.org();
  for (const name of ["prod", "beta"]) await createEnvironment(org, name, { type: "server" });
  await report(org, { fingerprint: fingerprintOf("web") });
  const runs = async (environment: string, running: string[]) => {
    app.clock.advance(60);
    expect((await reportServer(org, environment, running)).status).toBe(201);
  };
  await runs("beta", ["web"]);
  await runs("prod", ["db"]);
  await runs("prod", ["db", "web"]);
  await runs("prod", ["db"]);
  await runs("prod", ["web"]);
  const { json } = await one(org, "web");
  expect(json.running).toEqual([
    { environment_name: "beta", snapshot_index: 1 },
    { environment_name: "prod", snapshot_index: 4 },
  ]);
  expect(json.exited).toEqual([{ environment_name: "prod", snapshot_index: 3 }]);
  expect(json.history.map((event: { event: string }) => event.event)).toEqual([
    "cli reported",
    "started running in 'beta'",
    "started running in 'prod'",
    "stopped running in 'prod'",
    "started running in 'prod'",
  ]);
  const started = json.history[1].timestamp - json.created_at;
  expect(json.build_lead_times.beta).toBeCloseTo(started, 3);
  expect(Object.keys(json.build_lead_times)).toEqual(["beta", "prod"]);
});
