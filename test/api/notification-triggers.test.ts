import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { putEnv } from "../support/actions.ts";
import type { TestOrg } from "../support/app.ts";
import { fingerprintOf } from "../support/artifacts.ts";
import { build } from "../support/deployments.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { type Notified, startNotified } from "../support/notified.ts";
import { attachPolicies, createPolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";

let notified: Notified;
beforeAll(async () => {
  notified = await startNotified();
});
afterAll(() => notified.stop());
beforeEach(() => notified.clear());

/**
 * An organization with a server `live` that wants provenance, where this trigger is told of. `built` has provenance,
 * `bought` has none.
 */
async function watching(trigger: string): Promise<TestOrg> {
  const org = await notified.app.org();
  await build(org, "built");
  await createEnvironment(org, "live", { type: "server" });
  await createPolicy(org, "known");
  await attachPolicies(org, "live", "known");
  const targets = [notified.webhook()];
  expect((await putEnv(org, { environments: ["live"], triggers: [trigger], targets })).status).toBe(201);
  return org;
}

const entry = {
  artifact_name: "bought",
  artifact_fingerprint: fingerprintOf("bought"),
  description: "we trust it",
};

async function report(org: TestOrg, ...names: string[]): Promise<void> {
  expect((await reportServer(org, "live", names)).status).toBe(201);
}

/** What the receiver got since it was last asked. */
async function told(): Promise<unknown[]> {
  await runPendingJobs(notified.app);
  return notified.receiver.received
    .splice(0)
    .map(({ json }) =>
      [
        json.event_type,
        json.environment,
        json.snapshot && `${json.snapshot.index} ${json.snapshot.status}`,
        json.artifact?.name,
      ].filter((part) => part !== undefined),
    );
}

describe("a logical environment tells its receiver", () => {
  it("what starts, exits and fails in any of its members", async () => {
    const org = await watching("ON_SCALED_ARTIFACT");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["live"] });
    const triggers = ["ON_STARTED_ARTIFACT", "ON_EXITED_ARTIFACT", "ON_NON_COMPLIANT_ENV"];
    const targets = [notified.webhook()];
    await putEnv(org, { name: "wide", environments: ["all"], triggers, targets });
    await report(org, "built");
    expect(await told()).toEqual([["ARTIFACT_STARTED", "all", "1 COMPLIANT", "built"]]);
    await report(org, "bought");
    const events = await told();
    expect(events).toHaveLength(3);
    expect(events).toEqual(
      expect.arrayContaining([
        ["ARTIFACT_STARTED", "all", "2 NON-COMPLIANT", "bought"],
        ["ARTIFACT_EXITED", "all", "2 NON-COMPLIANT", "built"],
        ["ENVIRONMENT_NON_COMPLIANT", "all", "2 NON-COMPLIANT"],
      ]),
    );
  });
});

describe("an environment with a policy tells its receiver", () => {
  it("that an artifact started", async () => {
    const org = await watching("ON_STARTED_ARTIFACT");
    await report(org, "built");
    expect(await told()).toEqual([["ARTIFACT_STARTED", "live", "1 COMPLIANT", "built"]]);
    await report(org, "built", "bought");
    expect(await told()).toEqual([["ARTIFACT_STARTED", "live", "2 NON-COMPLIANT", "bought"]]);
    await report(org, "built");
    expect(await told()).toEqual([]);
  });

  it("that an artifact exited", async () => {
    const org = await watching("ON_EXITED_ARTIFACT");
    await report(org, "built", "bought");
    expect(await told()).toEqual([]);
    await report(org, "built");
    expect(await told()).toEqual([["ARTIFACT_EXITED", "live", "2 COMPLIANT", "bought"]]);
  });

  it("that it became non-compliant, once until it is again", async () => {
    const org = await watching("ON_NON_COMPLIANT_ENV");
    await report(org, "built");
    expect(await told()).toEqual([]);
    await report(org, "built", "bought");
    expect(await told()).toEqual([["ENVIRONMENT_NON_COMPLIANT", "live", "2 NON-COMPLIANT"]]);
    await report(org, "bought");
    await report(org, "built");
    expect(await told()).toEqual([]);
    await report(org, "bought");
    expect(await told()).toEqual([["ENVIRONMENT_NON_COMPLIANT", "live", "5 NON-COMPLIANT"]]);
  });

  it("that it became compliant, by a report or by what is known now", async () => {
    const org = await watching("ON_COMPLIANT_ENV");
    await report(org, "bought");
    expect(await told()).toEqual([]);
    await report(org, "built");
    expect(await told()).toEqual([["ENVIRONMENT_COMPLIANT", "live", "2 COMPLIANT"]]);
    await report(org, "built", "bought");
    await org.member.put(`/allowlists/${org.name}/live`, entry);
    expect(await told()).toEqual([["ENVIRONMENT_COMPLIANT", "live", "4 COMPLIANT"]]);
  });

  it("that an artifact was allowed, once", async () => {
    const org = await watching("ON_ALLOWED_ARTIFACT");
    await report(org, "built", "bought");
    expect((await org.member.put(`/allowlists/${org.name}/live`, entry)).status).toBe(201);
    await runPendingJobs(notified.app);
    expect(notified.receiver.received.map(({ json }) => json)).toEqual([
      {
        version: "1.0",
        timestamp: expect.stringMatching(/^\d+(\.\d+)?$/),
        org: org.name,
        environment: "live",
        event_type: "ARTIFACT_ALLOWED",
        description: "Artifact bought was allowed in environment live",
        artifact: { name: "bought", fingerprint: entry.artifact_fingerprint, provenance: null },
      },
    ]);
    notified.receiver.received.length = 0;
    await org.member.put(`/allowlists/${org.name}/live`, entry);
    expect(await told()).toEqual([]);
  });
});
