import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putFlow, putTrail } from "../support/flows.ts";
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

const longUrl = (at: number, bytes: number): string => `https://ci.example.com/${at}/${"x".repeat(bytes)}`;

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
      origin_url: at === 3 ? null : longUrl(at, 60_000),
      target_artifacts: ["api"],
      git_commit_info: commitInfo(commit),
    };
    expect((await attest(org.member, place, "generic", body)).status).toBe(201);
  }
  const expectShown = (artifact: {
    evidence: Record<string, { description: string; build_url: string | null }>;
  }): void => {
    expect(Object.keys(artifact.evidence)).toHaveLength(count);
    for (const [name, { description, build_url }] of Object.entries(artifact.evidence)) {
      const at = Number(name.replace("check-", ""));
      expect(description === (at === 2 ? "short" : long(at))).toBe(true);
      expect(build_url === (at === 3 ? null : longUrl(at, 60_000))).toBe(true);
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

/** Asks for something that is too much at once. @returns the answer, and in how many slices it was read. */
async function inSlices(path: string): Promise<Pick<Answer, "status" | "json"> & { slices: number }> {
  const sliced = vi.spyOn(app.deps.db, "sliced");
  const { status, json } = await org.reader.get(path);
  const slices = sliced.mock.calls.length;
  sliced.mockRestore();
  return { status, json, slices };
}

it("shows the events of a trail in parts where a commit comes again with each target, or a repo with each report", async () => {
  const targets = ["api", "web", "worker", "cli"];
  const place = { org: org.name, flow: "events", trail: "commit" };
  expect((await putFlow(org.member, org.name, { name: "events" })).status).toBe(201);
  expect((await putTrail(org.member, `${org.name}/events`, { name: "commit" })).status).toBe(201);
  const said = await attest(org.member, place, "generic", {
    attestation_name: "scan",
    is_compliant: true,
    target_artifacts: targets,
    git_commit_info: { ...commitInfo(commitOf("events")), message: long(1) },
  });
  expect(said.status).toBe(201);
  const one = await inSlices(`/trails/${org.name}/events/commit`);
  expect([one.status, one.slices > targets.length]).toEqual([200, true]);
  const shown = one.json.events.slice(1);
  expect(shown.map((event: { target_artifact: string }) => event.target_artifact)).toEqual(targets);
  for (const event of shown) expect(event.git_commit_info.message === long(1)).toBe(true);

  const repo = { name: "acme/web", url: "https://git.example.com/acme/web", id: "7", provider: "gitlab" };
  for (let at = 0; at < 4; at += 1) {
    const body = artifactBody({
      trail_name: "repo",
      fingerprint: fingerprintOf(`events ${at}`),
      template_reference_name: `name-${at}`,
      repo_info: { ...repo, description: long(2) },
    });
    expect((await org.member.post(`/artifacts/${org.name}/events`, body)).status).toBe(201);
  }
  const other = await inSlices(`/trails/${org.name}/events/repo`);
  expect([other.status, other.slices > 4]).toEqual([200, true]);
  const reports = other.json.events.slice(1);
  expect(reports.map((event: { template_reference_name: string }) => event.template_reference_name)).toEqual(
    [0, 1, 2, 3].map((at) => `name-${at}`),
  );
  for (const event of reports) expect(event.repo_info.description === long(2)).toBe(true);

  // So are pages of artifacts that all come from it.
  const page = await inSlices(`/artifacts/${org.name}?flow_name=events`);
  expect([page.status, page.json.length, page.slices > 0]).toEqual([200, 4, true]);
  for (const artifact of page.json) expect(artifact.repo_info.description === long(2)).toBe(true);
}, 120_000);

it("shows trails in parts that say at length where they come from, and attestations of many targets", async () => {
  const count = 4;
  expect((await putFlow(org.member, org.name, { name: "origins" })).status).toBe(201);
  for (let at = 0; at < count; at += 1) {
    const trail = { name: `run-${at}`, origin_url: longUrl(at, 1_500_000) };
    expect((await putTrail(org.member, `${org.name}/origins`, trail)).status).toBe(201);
  }
  const page = await inSlices(`/trails/${org.name}?flow=origins&per_page=${count}`);
  expect([page.status, page.slices > 0]).toEqual([200, true]);
  expect(page.json.data.map((one: { origin_url: string }) => one.origin_url.length)).toEqual(
    Array(count).fill(1_500_025),
  );

  const targets = Array.from({ length: 1000 }, (_, at) => `${at}-${"t".repeat(500)}`);
  const place = { org: org.name, flow: "origins", trail: "run-0" };
  for (let at = 0; at < 10; at += 1) {
    const body = { attestation_name: "scan", is_compliant: true, target_artifacts: targets };
    const git_commit_info = commitInfo(commitOf("many targets"));
    expect((await attest(org.member, place, "generic", { ...body, git_commit_info })).status).toBe(201);
  }
  const named = await inSlices(`/attestations/${org.name}/origins/trail/run-0/scan`);
  expect([named.status, named.json.length, named.slices > 0]).toEqual([200, 10, true]);
  expect(named.json[9].target_artifacts).toEqual(targets);
}, 120_000);
