import { afterAll, beforeAll, expect, it } from "vitest";

import { seenFrom, startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { getSnapshot, reportServer } from "../support/snapshots.ts";

/** Two servers on one database, whose machines' clocks are four minutes apart. */
let ahead: TestApp;
let behind: TestApp;
let org: TestOrg;
/** The same organization, at the server that is behind. */
let there: TestOrg;

beforeAll(async () => {
  ahead = await startTestApp({}, { ahead: 120 });
  behind = await startTestApp({}, { ahead: -120, beside: ahead });
  org = await ahead.org();
  there = seenFrom(behind, org);
});
afterAll(async () => {
  await behind.close();
  await ahead.close();
});

it("takes what was reported last for the latest, whichever of two servers took it", async () => {
  const place = { org: org.name, flow: "web", trail: "t1" };
  for (const [at, is_compliant] of [
    [org, true],
    [there, false],
    [org, true],
    [there, false],
  ] as const) {
    const body = { attestation_name: "unit", is_compliant };
    expect((await attest(at.member, place, "generic", body)).status).toBe(201);
    const trail = await at.member.get(`/trails/${org.name}/web/t1`);
    const [unit] = trail.json.compliance_status.attestations_statuses;
    expect([is_compliant, unit.is_compliant]).toEqual([is_compliant, is_compliant]);
  }
});

it("numbers snapshots in the order of their times, and knows what ran at each", async () => {
  await createEnvironment(org, "prod", { type: "server" });
  const numbers: number[] = [];
  const times: number[] = [];
  for (const [at, running] of [
    [org, "one"],
    [there, "two"],
    [org, "three"],
  ] as const) {
    expect((await reportServer(at, "prod", [running])).status).toBe(201);
    const { index, timestamp } = await getSnapshot(at, "prod");
    numbers.push(index);
    times.push(timestamp);
  }
  expect(numbers).toEqual([1, 2, 3]);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(new Set(times).size).toBe(3);
  expect(Math.abs((times[2] as number) - Date.now() / 1000)).toBeLessThan(60);
});
