import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { readArtifactsOfCommit } from "../../src/modules/process/artifacts/read-service.ts";
import { listArtifacts } from "../../src/modules/process/artifacts/read-store.ts";
import { listMatrixTrails, listWholeMatrix } from "../../src/modules/process/trails/search-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { attestAll, reportAll } from "../support/histories.ts";
import { amount } from "../support/thorough.ts";
import { leastLongestTurn } from "../support/turns.ts";

/** A page of four such reports is heavy, and one of a single report is not. */
const reportBytes = 2_500_000;
const reports = amount(4, 10);
/** What is read at most in one: a slice of four megabytes, and a little. */
const largestRow = 4_500_000;

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp({}, { largestRow });
  org = await app.org();
  await putFlow(org.member, org.name, { name: "ci" });
  await putTrail(org.member, `${org.name}/ci`, { name: "run" });
});
afterAll(() => app.close());

/** Text that takes that many bytes, and is another one each time: with what JSON escapes, and with characters of three bytes. */
const long = (at: number): string => `${at} "€\\ ${String.fromCharCode(97 + at).repeat(reportBytes)}`;

function accepted({ status, text }: Answer): void {
  expect([status, text.slice(0, 200)]).toEqual([201, expect.anything()]);
}

/** The items of a list as they stand in an answer, between its head and its end. */
function split({ status, text }: Answer, begin: string, end: string) {
  expect([status, text.includes(begin), text.lastIndexOf(end) > 0]).toEqual([200, true, true]);
  const from = text.indexOf(begin) + begin.length;
  const to = text.lastIndexOf(end);
  return { head: text.slice(0, from), items: text.slice(from, to), end: text.slice(to) };
}

/** A page with everything, read heavy, and as the pages of one item each that it has to be together. */
async function compare(path: string, begin: string, end: string): Promise<Answer> {
  const separator = path.includes("?") ? "&" : "?";
  const whole = await org.reader.get(`${path}${separator}per_page=${reports}`);
  const single: string[] = [];
  for (let page = 1; page <= reports; page += 1) {
    const one = await org.reader.get(`${path}${separator}page=${page}&per_page=1`);
    single.push(split(one, begin, end).items);
  }
  // Not compared by "toBe", which would print megabytes.
  expect(split(whole, begin, end).items === single.join(",")).toBe(true);
  expect(whole.text.length).toBeGreaterThan(reports * reportBytes);
  expect(() => JSON.parse(whole.text) as unknown).not.toThrow();
  return whole;
}

/** The headers of an answer, and those of another long one that is made at once. */
function expectAlike(heavy: Answer, light: Answer): void {
  expect(light.text.length).toBeGreaterThan(300_000);
  const shown = ({ headers }: Answer) =>
    Object.fromEntries(
      Object.entries(headers).filter(
        ([name]) => name !== "date" && !name.startsWith("x-r") && name !== "server-timing",
      ),
    );
  expect(shown(heavy)).toEqual(shown(light));
}

describe("a page of builds", () => {
  beforeAll(async () => {
    for (let at = 0; at < reports; at += 1) {
      const body = artifactBody({
        fingerprint: fingerprintOf(`web ${at}`),
        trail_name: "run",
        template_reference_name: `web-${at}`,
        git_commit: commitOf(`${at}`),
        git_commit_info: { ...commitInfo(commitOf(`${at}`)), message: long(at) },
        repo_info: {
          name: `repo-${at % 2}`,
          url: "https://git.example.com/r",
          id: `${at % 2}`,
          provider: "gitlab",
        },
      });
      accepted(await org.member.post(`/artifacts/${org.name}/ci`, body));
    }
  }, 120_000);

  it("that is heavy has what lighter pages have, and no value of more than a slice is read", async () => {
    const heavy = await compare(`/builds/${org.name}`, '"builds":[', '],"_links":{"self"');
    expectAlike(heavy, await org.reader.get(`/builds/${org.name}?per_page=1`));
    const { builds, ...rest } = heavy.json;
    expect(builds.map((one: { fingerprint: string }) => one.fingerprint)).toEqual(
      Array.from({ length: reports }, (_, at) => fingerprintOf(`web ${reports - 1 - at}`)),
    );
    expect(rest).toMatchObject({ page: 1, per_page: reports, total_count: reports, total_pages: 1 });
  }, 120_000);

  it("is so, too, where it is of one repo or of several", async () => {
    const all = (await org.reader.get(`/builds/${org.name}?per_page=50`)).json.builds;
    const ofOne = (await org.reader.get(`/builds/${org.name}?per_page=50&repo_name=repo-1`)).json;
    expect(ofOne.total_count).toBe(reports / 2);
    const wanted = all.filter((one: { repo_info: { name: string } }) => one.repo_info.name === "repo-1");
    expect(JSON.stringify(ofOne.builds) === JSON.stringify(wanted)).toBe(true);
  }, 120_000);
});

it("shows a heavy page of artifacts as lighter ones do, and those of a commit", async () => {
  await putFlow(org.member, org.name, { name: "built" });
  for (let at = 0; at < reports; at += 1) {
    const body = artifactBody({
      fingerprint: fingerprintOf(`built ${at}`),
      template_reference_name: `built-${at}`,
      git_commit: commitOf("built"),
      user_data: { text: long(at) },
    });
    accepted(await org.member.post(`/artifacts/${org.name}/built`, body));
  }
  const heavy = await compare(`/artifacts/${org.name}?flow_name=built`, "[", "]");
  expect(heavy.json.map((one: { fingerprint: string }) => one.fingerprint)).toEqual(
    Array.from({ length: reports }, (_, at) => fingerprintOf(`built ${reports - 1 - at}`)),
  );
  const ofCommit = await org.reader.get(`/artifacts/${org.name}/built/commit_sha/${commitOf("built")}`);
  expect([ofCommit.status, ofCommit.json.length]).toEqual([200, reports]);
}, 120_000);

it("shows artifacts a few at a time that share thousands of attestations, and lets others in between", async () => {
  const [artifacts, names] = [20, 800];
  const same = { trail: "run", commit: "shared" };
  const built = Array.from({ length: artifacts }, (_, at) => ({
    ...same,
    name: "api",
    print: `shared ${at}`,
  }));
  const plain = { type: "generic", is_compliant: true, is_override: false, print: null, targets: ["api"] };
  const made = Array.from({ length: names }, (_, at) => ({ ...same, ...plain, name: `check-${at}` }));
  const own = await app.org();
  await reportAll(app, own, built);
  await attestAll(app, own, made);
  const shown = async (query: string) =>
    (await own.reader.get(`/artifacts/${own.name}?flow_name=flow&${query}`)).json;
  const whole = await shown(`per_page=${artifacts}`);
  expect(whole).toHaveLength(artifacts);
  expect(Object.keys(whole[0].evidence)).toHaveLength(names);
  const single = [];
  for (let page = 1; page <= artifacts; page += 1) single.push(...(await shown(`page=${page}&per_page=1`)));
  expect(whole).toEqual(single);
  const everything = { flow_id: undefined, repo_ids: undefined };
  const first = await listArtifacts(app.deps.db, own.id, everything, { limit: artifacts, offset: 0 });
  expect([first.rows.length, first.rest.length]).toEqual([8, 12]);
  const asked = { flow_name: "flow", commit: whole[0].git_commit, trail: undefined };
  let parts: unknown[][] = [];
  const longest = await leastLongestTurn(50, async () => {
    parts = [];
    const { list } = await readArtifactsOfCommit(app.deps, own, asked);
    for await (const part of list as AsyncIterable<string>) parts.push(JSON.parse(part) as unknown[]);
  });
  expect(parts.map((part) => part.length)).toEqual([8, 8, 4]);
  // With what parsing takes here.
  expect(longest).toBeLessThan(50);
}, 60_000);

describe("attestations", () => {
  beforeAll(async () => {
    for (let at = 0; at < reports; at += 1) {
      const body = {
        attestation_name: "scan",
        is_compliant: true,
        user_data: { text: long(at), number: 1e5 },
        git_commit_info: commitInfo(commitOf(`commit ${at % 2}`)),
        ...(at % 2 === 0 ? {} : { artifact_fingerprint: fingerprintOf("web 0") }),
      };
      accepted(await attest(org.member, { org: org.name, flow: "ci", trail: "run" }, "generic", body));
    }
  }, 120_000);

  it("of a flow are sent in pieces where they are heavy", async () => {
    const heavy = await compare(`/attestations/${org.name}/ci`, '{"data":[', '],"pagination":{');
    expectAlike(heavy, await org.reader.get(`/attestations/${org.name}/ci?per_page=1`));
    expect(heavy.json.pagination).toMatchObject({ total: reports });
  }, 120_000);

  it("that are searched for are so, page after page and as CSV", async () => {
    const pieces: string[] = [];
    let path: string | undefined = `/attestations/${org.name}?per_page=3`;
    const whole = split(
      await org.reader.get(`/attestations/${org.name}?per_page=${reports}`),
      '{"data":[',
      '],"_links":{"self"',
    );
    while (path !== undefined) {
      const page: Answer = await org.reader.get(path);
      pieces.push(split(page, '{"data":[', '],"_links":{"self"').items);
      const next: string | undefined = page.json._links.next?.href;
      path = next?.slice(next.indexOf("/attestations/"));
    }
    expect(pieces).toHaveLength(Math.ceil(reports / 3));
    expect(pieces.join(",") === whole.items).toBe(true);
    const flow = split(
      await org.reader.get(`/attestations/${org.name}/ci?per_page=${reports}`),
      '{"data":[',
      '],"pagination":{',
    );
    expect(whole.items === flow.items).toBe(true);
    const csv = await org.reader.request("GET", `/attestations/${org.name}`, {
      headers: { accept: "text/csv" },
    });
    expect([csv.status, csv.text.trimEnd().split("\n").length]).toEqual([200, reports + 1]);
  }, 120_000);

  it("of one name are so, on a trail and on an artifact, with the path they were asked for", async () => {
    const all = (await org.reader.get(`/attestations/${org.name}/ci?per_page=${reports}`)).json.data;
    const onArtifact = (one: { artifact_fingerprint: string | null }) => one.artifact_fingerprint !== null;
    for (const [path, wanted] of [
      ["trail/run/scan", all.filter((one: never) => !onArtifact(one)).toReversed()],
      [`artifact/${fingerprintOf("web 0")}/scan`, all.filter(onArtifact).toReversed()],
    ]) {
      const answer = await org.reader.get(`/attestations/${org.name}/ci/${path}`);
      expect([answer.status, answer.json.length]).toEqual([200, reports / 2]);
      expect(JSON.stringify(answer.json) === JSON.stringify(wanted)).toBe(true);
    }
    const prefix = fingerprintOf("web 0").slice(0, 12);
    const answer = await org.reader.get(`/attestations/${org.name}/ci/artifact/${prefix}/scan`);
    const paths = answer.json.map((one: { _links: { self: { href: string } } }) => one._links.self.href);
    expect(new Set(paths).size).toBe(1);
    expect(paths[0]).toMatch(new RegExp(`/artifact/${prefix}/scan$`));
  }, 120_000);

  it("of commits are so, commit by commit", async () => {
    const all = (await org.reader.get(`/attestations/${org.name}/ci?per_page=${reports}`)).json.data;
    const commits = [0, 1].map((at) => commitOf(`commit ${at}`));
    const path = `/attestations/${org.name}/list_attestations_for_criteria`;
    const asked = [...commits, commitOf("none")].map((sha) => `commit_list=${sha}`).join("&");
    const answer = await org.reader.get(`${path}?${asked}`);
    expect([answer.status, Object.keys(answer.json)]).toEqual([200, [...commits, commitOf("none")]]);
    for (const [at, sha] of commits.entries()) {
      const wanted = all.filter((_: unknown, place: number) => (reports - 1 - place) % 2 === at).toReversed();
      expect(JSON.stringify(answer.json[sha]) === JSON.stringify(wanted)).toBe(true);
    }
    expect(answer.json[commitOf("none")]).toEqual([]);
  }, 120_000);

  it("fail as others do when a part of a heavy page cannot be read", async () => {
    const { db } = app.deps;
    const original = db.sliced;
    const spy = vi.spyOn(db, "sliced").mockImplementation(() => Promise.reject(new Error("no part")));
    const answer = await org.reader.get(`/attestations/${org.name}/ci?per_page=${reports}`);
    spy.mockRestore();
    expect(db.sliced).toBe(original);
    expect([answer.status, answer.json]).toEqual([500, { message: "Internal error" }]);
  });
});

it("shows a heavy page of trails as lighter ones do, searched for or not", async () => {
  await putFlow(org.member, org.name, { name: "heavy" });
  for (let at = 0; at < reports; at += 1)
    await putTrail(org.member, `${org.name}/heavy`, { name: `run-${at}`, user_data: { text: long(at) } });
  const heavy = await compare(`/trails/${org.name}/heavy`, '{"data":[', '],"pagination":{');
  expectAlike(heavy, await org.reader.get(`/trails/${org.name}/heavy?per_page=1`));
  expect(heavy.json.pagination).toMatchObject({ total: reports });
  const searched = await compare(`/trails/${org.name}/heavy?search=run`, '{"data":[', '],"pagination":{');
  expect(JSON.stringify(searched.json.data) === JSON.stringify(heavy.json.data)).toBe(true);
}, 120_000);

describe("a matrix of trails", () => {
  const trails = 5;
  const path = (query: string) => `/trails/${org.name}/wide?include=matrix&${query}`;

  beforeAll(async () => {
    await putFlow(org.member, org.name, { name: "wide" });
    // Verdicts of more than a megabyte, of which four are heavy together.
    const names = Array.from({ length: 1_000 }, (_, at) => `${at}-${"n".repeat(480)}`);
    for (let at = 0; at < trails; at += 1)
      for (const half of ["a", "b"]) {
        const body = {
          attestation_name: "scan",
          is_compliant: true,
          target_artifacts: names.map((name) => `${half}-${name}`),
          git_commit_info: commitInfo(commitOf(`${at}`)),
        };
        const place = { org: org.name, flow: "wide", trail: `run-${at}` };
        accepted(await attest(org.member, place, "generic", body));
      }
  }, 120_000);

  it("that is heavy has what lighter ones have", async () => {
    const [begin, end] = ['{"data":[', '],"pagination":{'] as const;
    const slices = vi.spyOn(app.deps.db, "sliced");
    const whole = split(await org.reader.get(path("per_page=100")), begin, end);
    expect(slices).toHaveBeenCalledTimes(2);
    slices.mockRestore();
    const single: string[] = [];
    for (let page = 1; page <= trails; page += 1)
      single.push(split(await org.reader.get(path(`page=${page}&per_page=1`)), begin, end).items);
    expect(whole.items === single.join(",")).toBe(true);
    expect(whole.items.length).toBeGreaterThan(largestRow);
  }, 120_000);

  it("is read a few trails at a time", async () => {
    const { db } = app.deps;
    const { rows } = await db.pool.query<{ id: string }>(
      "select t.id from trails t join flows f on f.org_id = t.org_id and f.id = t.flow_id where t.org_id = $1 and f.name = 'wide' order by t.id desc",
      [org.id],
    );
    const ids = rows.map(({ id }) => id);
    const first = await listMatrixTrails(db, org.id, ids);
    expect([first.rows.length, first.rest.length]).toEqual([2, trails - 2]);
    const parts: string[][] = [];
    for await (const part of listWholeMatrix(db, org.id, first)) parts.push(part.map(({ id }) => id));
    expect(parts.flat()).toEqual(ids);
    expect(parts.map((part) => part.length)).toEqual([2, 2, 1]);
  }, 120_000);

  it("weighs what commits say, too, of which it shows the first line", async () => {
    await putFlow(org.member, org.name, { name: "wordy" });
    for (let at = 0; at < reports; at += 1) {
      const commit = { ...commitInfo(commitOf(`${at}`)), message: long(at) };
      await putTrail(org.member, `${org.name}/wordy`, { name: `run-${at}`, git_commit_info: commit });
    }
    const { text } = await org.reader.get(`/trails/${org.name}/wordy?include=matrix&per_page=${reports}`);
    const { data } = JSON.parse(text) as {
      data: { name: string; git_commit_info: { message: string } }[];
    };
    expect(data.map(({ name }) => name)).toEqual(
      Array.from({ length: reports }, (_, at) => `run-${reports - 1 - at}`),
    );
    for (const [at, { git_commit_info }] of data.entries())
      expect(git_commit_info.message).toBe(long(reports - 1 - at).slice(0, 200));
  }, 120_000);
});

it("shows a heavy page of repos as lighter ones do", async () => {
  for (let at = 0; at < reports; at += 1) {
    const repo_info = {
      name: `large-${at}`,
      url: "https://git.example.com/r",
      id: `large-${at}`,
      provider: "gitlab",
      description: long(at),
    };
    const body = artifactBody({ trail_name: "run-0", template_reference_name: `large-${at}`, repo_info });
    expect((await org.member.post(`/artifacts/${org.name}/heavy`, body)).status).toBe(201);
  }
  const path = `/repos/${org.name}?search=large`;
  for (const direction of ["asc", "desc"])
    await compare(`${path}&sort_direction=${direction}`, '"repos":[', "]}");
}, 120_000);

it("shows heavy artifacts that are searched for as lighter ones", async () => {
  const commit = commitOf("searched");
  const printed = (at: number): string => fingerprintOf(`searched ${at}`);
  for (let at = 0; at < reports; at += 1) {
    const body = artifactBody({
      fingerprint: printed(at),
      filename: `f${at}`,
      build_url: long(at),
      trail_name: "run",
      template_reference_name: `searched-${at}`,
      git_commit: commit,
    });
    accepted(await org.member.post(`/artifacts/${org.name}/ci`, body));
  }
  const find = async (value: string) => {
    const answer = await org.reader.get(`/search/${org.name}/sha/${value}`);
    expect(answer.status).toBe(200);
    return answer.json;
  };
  const slices = vi.spyOn(app.deps.db, "sliced");
  const { resolved_to, artifacts } = await find(commit);
  expect(slices).toHaveBeenCalledTimes(reports);
  slices.mockRestore();
  expect(resolved_to).toMatchObject({ type: "commit", full_match: commit, fingerprints: { count: 0 } });
  expect(artifacts.map((one: { build_url: string }) => one.build_url.slice(0, 2))).toEqual(
    Array.from({ length: reports }, (_, at) => `${at} `),
  );
  const single = [];
  for (let at = 0; at < reports; at += 1) single.push(...(await find(printed(at))).artifacts);
  expect(JSON.stringify(artifacts) === JSON.stringify(single)).toBe(true);
}, 120_000);
