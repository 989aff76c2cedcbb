import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** An organization with environment `prod` in the logical `all`, and `web` built on trail `run-1` of flow `web-ci`. */
async function orgWithWeb(): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
  await putFlow(org.member, org.name, { name: "web-ci" });
  const artifact = artifactBody({
    fingerprint: fingerprintOf("web"),
    filename: "web:1",
    trail_name: "run-1",
    template_reference_name: "web",
  });
  const answer = await org.member.post(`/artifacts/${org.name}/web-ci`, artifact);
  expect(answer.status).toBe(201);
  return org;
}

async function movesOf(org: TestOrg): Promise<Record<string, unknown>[]> {
  const trail = await org.reader.get(`/trails/${org.name}/web-ci/run-1`);
  const events = trail.json.events as Record<string, unknown>[];
  return events.filter(({ type }) => /running/.test(String(type)));
}

describe("an artifact that starts and stops to run", () => {
  it("is told to its trail, once, with what contract 6.3 says", async () => {
    const org = await orgWithWeb();
    await reportServer(org, "prod", ["web", "unknown"]);
    await reportServer(org, "prod", ["web", "unknown"]);
    const web = { name: "web", fingerprint: fingerprintOf("web") };
    await reportServer(org, "prod", [{ ...web, started: [1_780_000_000, 1_780_000_100] }, "more"]);
    await reportServer(org, "prod", ["more"]);
    const environment = await org.reader.get(`/environments/${org.name}/prod`);
    expect(environment.status).toBe(200);
    const told = {
      artifact_fingerprint: fingerprintOf("web"),
      environment_id: expect.stringMatching(/^[0-9a-f-]{32}$/),
      environment_name: "prod",
      template_reference_name: "web",
      git_commit_info: null,
      repo_info: null,
      timestamp: expect.any(Number),
    };
    expect(await movesOf(org)).toEqual([
      expect.objectContaining({
        ...told,
        type: "artifact_started_running",
        snapshot_index: 1,
        replica_number: 1,
      }),
      expect.objectContaining({ ...told, type: "artifact_stopped_running", snapshot_index: 3 }),
    ]);
  });

  it("leaves its trail as it was last reported to", async () => {
    const org = await orgWithWeb();
    const read = async () => (await org.reader.get(`/trails/${org.name}/web-ci/run-1`)).json;
    const before = await read();
    app.clock.advance(60);
    await reportServer(org, "prod", ["web"]);
    await reportServer(org, "prod", []);
    const { events, ...after } = await read();
    expect(events.length).toBeGreaterThan(before.events.length);
    expect({ ...after, events: before.events }).toEqual(before);
  });

  it("is shown by the artifact, with the snapshots in which that changed", async () => {
    const org = await orgWithWeb();
    const read = async (): Promise<Record<string, unknown>> =>
      (await org.reader.get(`/artifacts/${org.name}/web-ci/fingerprint/${fingerprintOf("web")}`)).json;
    expect(await read()).toMatchObject({ running: [], exited: [] });
    await reportServer(org, "prod", ["web"]);
    expect(await read()).toMatchObject({
      running: [expect.objectContaining({ environment_name: "prod", snapshot_index: 1 })],
      exited: [],
    });
    await reportServer(org, "prod", []);
    expect(await read()).toMatchObject({
      running: [],
      exited: [expect.objectContaining({ environment_name: "prod", snapshot_index: 2 })],
    });
  });
});
