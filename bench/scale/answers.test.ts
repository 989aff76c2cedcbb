import pg from "pg";
import { afterAll, beforeAll, expect, inject, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../../test/support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../../test/support/artifacts.ts";
import { attest } from "../../test/support/attestations.ts";
import { urlOf } from "../../test/support/databases.ts";
import { createEnvironment } from "../../test/support/environments.ts";
import { putFlow } from "../../test/support/flows.ts";
import { reportServer } from "../../test/support/snapshots.ts";
import { epochAt, repeatSmall } from "./make.ts";
import { readSeed, type SeedRows } from "./seed-rows.ts";
import { Compiler, render, valuesOf } from "./template.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ WAYBILL_KEPT_ANSWER_BYTES: "0" });
});
afterAll(() => app.close());

const template = `version: 1
trail:
  attestations:
    - {name: unit, type: generic}
  artifacts:
    - name: web
      attestations:
        - {name: scan, type: generic}
`;

const builds = ["one", "two", "three"];
const [fingerprint, commit] = [
  (build: string) => fingerprintOf(`scale ${build}`),
  (build: string) => commitOf(`scale ${build}`),
];

async function reportBuild(org: TestOrg, build: string): Promise<void> {
  const place = { org: org.name, flow: "web", trail: commit(build) };
  const body = artifactBody({
    fingerprint: fingerprint(build),
    filename: "web:1",
    trail_name: place.trail,
    template_reference_name: "web",
    git_commit: commit(build),
    commit_url: `https://git.example.com/c/${commit(build)}`,
    repo_info: repoInfo("web"),
  });
  expect((await org.member.post(`/artifacts/${org.name}/web`, body)).status).toBe(201);
  const attestations = [
    { attestation_name: "unit", is_compliant: true },
    { attestation_name: "scan", is_compliant: build !== "two", artifact_fingerprint: fingerprint(build) },
  ];
  for (const data of attestations)
    expect((await attest(org.member, place, "generic", data)).status).toBe(201);
}

/** Paths of what is asked about a build. */
function questionsAbout(org: TestOrg, build: string): string[] {
  const at = `${org.name}/web`;
  return [
    `/trails/${at}/${commit(build)}`,
    `/attestations/${at}/artifact/${fingerprint(build)}/scan`,
    `/attestations/${at}/trail/${commit(build)}/unit`,
    `/artifacts/${at}/fingerprint/${fingerprint(build)}`,
    `/asserts/${org.name}/fingerprint/${fingerprint(build)}`,
  ];
}

/** Paths of what is asked about what runs, which is what the last epoch left: at the ends of those before it everything stopped. */
function questionsAboutNow(org: TestOrg): string[] {
  return [
    ...builds.flatMap((build) => [
      `/provenance/${org.name}/${fingerprint(build)}`,
      `/search/${org.name}/sha/${commit(build)}`,
    ]),
    `/snapshots/${org.name}/prod/-1`,
    `/environments/${org.name}/prod/events?page=1&per_page=2`,
    `/repos/${org.name}/live-artifacts/web`,
  ];
}

/** Translates what was said of the reported rows into what is said of those of an epoch. */
function translator(rows: SeedRows, epoch: number, epochs: number): (text: string) => string {
  const compiler = new Compiler(rows.seed);
  const at = epochAt(epoch, epochs, rows.seed);
  const fill = (text: string): string => {
    const compiled = compiler.compile(text);
    return render(compiled, valuesOf(compiler.slots, at));
  };
  // What is put together at reading: the beginnings of commits, and numbers of snapshots and builds.
  const brief = new Map(
    [...rows.seed.digests].map((digest) => [digest.slice(0, 7), fill(digest).slice(0, 7)]),
  );
  const snapshots = [...rows.counts.ofEnvironments.values()][0]?.snapshots ?? 0;
  return (text) =>
    fill(text)
      .replaceAll(/(?<![0-9a-f])[0-9a-f]{7}(?![0-9a-f])/g, (digits) => brief.get(digits) ?? digits)
      .replaceAll(/(?<=prod#|prod\/(?:snapshots\/)?|"(?:snapshot_index|index)"\s*:\s*)\d+/g, (index) =>
        String(Number(index) + epoch * snapshots),
      );
}

/**
 * Completes a translation by what is no text in rows: repos are there once, and not repeated; and what took some time takes as much longer
 * as an epoch does.
 */
function completed(translated: unknown, before: unknown, stretch: number): unknown {
  if (Array.isArray(translated))
    return translated.map((each, at) => completed(each, (before as readonly unknown[])[at], stretch));
  if (typeof translated !== "object" || translated === null) return translated;
  const was = Object.entries(before as Record<string, unknown>);
  return Object.fromEntries(
    Object.entries(translated).map(([key, value], at) => {
      const original = was[at]?.[1];
      if (key === "repo_info") return [key, original];
      if (key !== "build_lead_times") return [key, completed(value, original, stretch)];
      const times = Object.entries(original as Record<string, number>);
      return [key, Object.fromEntries(times.map(([name, took]) => [name, closeTo(took * stretch)]))];
    }),
  );
}

/** Matches a number of seconds, to a twentieth: moments are rounded. */
function closeTo(seconds: number): unknown {
  return expect.closeTo(seconds, 1);
}

it.skipIf(inject("cluster"))(
  "answers about what was repeated as about what was reported",
  { timeout: 120_000 },
  async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "web" }, template);
    await createEnvironment(org, "prod", { type: "server" });
    for (const build of builds) {
      await reportBuild(org, build);
      expect(
        (await reportServer(org, "prod", [{ name: "web", fingerprint: fingerprint(build) }])).status,
      ).toBe(201);
    }
    const ask = async (path: string): Promise<string> => {
      const { status, text } = await org.reader.get(path);
      expect([status, path]).toEqual([200, path]);
      return text;
    };
    const questions = builds.flatMap((build) => questionsAbout(org, build));
    const reported = new Map<string, string>();
    for (const path of [...questions, ...questionsAboutNow(org)]) reported.set(path, await ask(path));

    const client = new pg.Client(urlOf(inject("postgres"), app.database));
    await client.connect();
    const epochs = 3;
    let rows: SeedRows;
    try {
      await client.query("set timezone = 'UTC'");
      rows = await readSeed(client, org.name);
      await repeatSmall(client, rows, epochs);
    } finally {
      await client.end();
    }
    for (let epoch = 0; epoch < epochs; epoch += 1) {
      const translate = translator(rows, epoch, epochs);
      const { stretch } = epochAt(epoch, epochs, rows.seed);
      for (const [path, before] of reported) {
        if (epoch < epochs - 1 && !questions.includes(path)) continue;
        const now: unknown = JSON.parse(await ask(translate(path)));
        const expected = completed(JSON.parse(translate(before)), JSON.parse(before), stretch);
        expect([epoch, path, now]).toEqual([epoch, path, expected]);
      }
    }
  },
);
