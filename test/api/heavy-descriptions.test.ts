import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { putFlow } from "../support/flows.ts";
import { amount } from "../support/thorough.ts";

/** What is read at most in one: a slice of four megabytes, and a little. */
const largestRow = 4_500_000;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { largestRow });
  org = await app.org();
});
afterAll(() => app.close());

/** Text of 1.5 megabytes, another one each time: with what JSON escapes, and with characters of three bytes. */
const long = (at: number): string => `${at} "€\\ ${String.fromCharCode(97 + at).repeat(1_500_000)}`;

it("shows heavy pages of flows as lighter ones, in every order, and all flows without pages", async () => {
  const count = amount(4, 6);
  for (let at = 0; at < count; at += 1) {
    const put = await putFlow(org.member, org.name, {
      name: `flow-${at}`,
      description: at === 0 ? "" : long(at),
    });
    expect(put.status).toBe(201);
  }
  // Only the first has a report, which says much, too.
  const body = artifactBody({ trail_name: "run", repo_url: long(0) });
  expect((await org.member.post(`/artifacts/${org.name}/flow-0`, body)).status).toBe(201);
  for (const query of [
    "sort=name",
    "sort=name&sort_direction=desc",
    "sort=latest_activity&sort_direction=desc",
    "search_by_name=flow",
    "include=latest_trails",
  ]) {
    const page = async (more: string) => {
      const answer = await org.reader.get(`/flows/${org.name}?${query}&${more}`);
      expect([answer.status, answer.json.pagination?.total]).toEqual([200, count]);
      return answer.json.data;
    };
    const slices = vi.spyOn(app.deps.db, "sliced");
    const whole = await page("per_page=50");
    expect(slices.mock.calls.length).toBeGreaterThanOrEqual(count - 1);
    slices.mockRestore();
    const single = [];
    for (let at = 1; at <= count; at += 1) single.push(...(await page(`per_page=1&page=${at}`)));
    expect(JSON.stringify(whole) === JSON.stringify(single)).toBe(true);
    expect(whole).toHaveLength(count);
  }
  const all = await org.reader.get(`/flows/${org.name}`);
  const paged = await org.reader.get(`/flows/${org.name}?per_page=50`);
  expect(all.status).toBe(200);
  expect(JSON.stringify(all.json) === JSON.stringify(paged.json.data)).toBe(true);
}, 120_000);

it("shows an artifact whose attestations say much, alone and in lists, as each of them says it", async () => {
  const count = 6;
  const commit = commitOf("described");
  // Both artifacts share what was attested on their name and commit.
  for (const print of ["one", "two"]) {
    const body = artifactBody({
      fingerprint: fingerprintOf(print),
      trail_name: "run",
      template_reference_name: "api",
      git_commit: commit,
    });
    expect((await org.member.post(`/artifacts/${org.name}/described`, body)).status).toBe(201);
  }
  const place = { org: org.name, flow: "described", trail: "run" };
  for (let at = 0; at < count; at += 1) {
    const body = {
      // Numbers come first where the answer is an object.
      attestation_name: at === 4 ? "4" : `check-${at}`,
      is_compliant: true,
      description: at === 2 ? "short" : long(at),
      target_artifacts: ["api"],
      git_commit_info: commitInfo(commit),
    };
    expect((await attest(org.member, place, "generic", body)).status).toBe(201);
  }
  const expectShown = (artifact: { evidence: Record<string, { description: string }> }): void => {
    expect(Object.keys(artifact.evidence)).toHaveLength(count);
    for (const [name, { description }] of Object.entries(artifact.evidence)) {
      const at = Number(name.replace("check-", ""));
      expect(description === (at === 2 ? "short" : long(at))).toBe(true);
    }
  };
  const slices = vi.spyOn(app.deps.db, "sliced");
  const one = await org.reader.get(`/artifacts/${org.name}/described/fingerprint/${fingerprintOf("one")}`);
  expect([one.status, slices.mock.calls.length > 0]).toEqual([200, true]);
  slices.mockRestore();
  expectShown(one.json);
  const listed = await org.reader.get(`/artifacts/${org.name}?flow_name=described`);
  const ofCommit = await org.reader.get(`/artifacts/${org.name}/described/commit_sha/${commit}`);
  for (const { status, json } of [listed, ofCommit]) {
    expect([status, json.length]).toEqual([200, 2]);
    json.forEach(expectShown);
  }
}, 120_000);
