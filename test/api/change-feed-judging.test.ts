import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";
import { type Listening, listenTo } from "../support/listening.ts";
import { attachPolicies, createPolicy, policyText, putPolicy, samplePolicy } from "../support/policies.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";
import { listen } from "../support/sockets.ts";

let app: TestApp;
let port: number;
beforeAll(async () => {
  app = await startTestApp();
  port = await listen(app);
});
afterAll(() => app.close());

/** An organization where `prod` runs something, with the logical `all` around it. */
async function withRunning(): Promise<TestOrg> {
  const org = await app.org();
  await createEnvironment(org, "prod", { type: "server" });
  await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
  await reportServer(org, "prod", ["web"]);
  return org;
}

/** Writes while somebody listens. @returns what was recorded of it. */
async function recordedWhile(
  org: TestOrg,
  write: () => Promise<{ status: number }>,
  heard: (listening: Listening) => Promise<unknown>,
): Promise<string[]> {
  const before = await auditedResources(org, app);
  const listening = await listenTo(port, org, org.reader.key, { query: "?topic=environment" });
  expect((await write()).status).toBe(200);
  await heard(listening);
  listening.stop();
  return (await auditedResources(org, app)).slice(before.length);
}

describe("who listens to environments is told", () => {
  it("of those that another version of a policy judges, and of the logical ones around them", async () => {
    const org = await withRunning();
    await createPolicy(org, "safe", samplePolicy);
    await attachPolicies(org, "prod", "safe");
    const recorded = await recordedWhile(
      org,
      () => putPolicy(org.member, org.name, { name: "safe" }, policyText("provenance: {required: false}")),
      async (listening) => {
        await listening.hears("environment", "prod");
        await listening.hears("environment", "all");
      },
    );
    expect((await getSnapshot(org, "prod")).index).toBe(3);
    expect(recorded).toEqual(["put_policy policy safe", "put_policy environment prod"]);
  });

  it("of none where a policy gets no other text", async () => {
    const org = await withRunning();
    await createPolicy(org, "safe", samplePolicy);
    await attachPolicies(org, "prod", "safe");
    const before = await auditedResources(org, app);
    await putPolicy(org.member, org.name, { name: "safe", description: "new" }, samplePolicy);
    expect((await auditedResources(org, app)).slice(before.length)).toEqual(["put_policy policy safe"]);
  });

  it("of logical ones that lose a member, because it is archived", async () => {
    const org = await withRunning();
    const recorded = await recordedWhile(
      org,
      () => org.member.put(`/environments/${org.name}/prod/archive`),
      (listening) => listening.hears("environment", "all"),
    );
    expect((await getSnapshot(org, "all")).index).toBe(2);
    expect(recorded).toEqual([
      expect.stringMatching(/ environment prod$/),
      expect.stringMatching(/ environment all$/),
    ]);
  });
});
