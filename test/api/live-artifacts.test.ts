import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer, type Running } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const base = "http://waybill.test/api/v2";

async function build(org: TestOrg, name: string, repo: Record<string, unknown>, more = {}): Promise<void> {
  const body = artifactBody({ fingerprint: fingerprintOf(name), filename: name, repo_info: repo, ...more });
  expect((await org.member.post(`/artifacts/${org.name}/ci`, body)).status).toBe(201);
}

async function run(org: TestOrg, environment: string, running: Running): Promise<void> {
  expect((await reportServer(org, environment, running)).status).toBeLessThan(300);
}

async function live(org: TestOrg, repo: string): Promise<Answer["json"]> {
  const answer = await org.reader.get(`/repos/${org.name}/live-artifacts/${repo}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json;
}

/** `artifact>environment` of each entry. */
async function places(org: TestOrg, repo: string): Promise<string[]> {
  const { live_artifacts, _embedded } = await live(org, repo);
  const names = new Map<string, string>();
  for (const { id, name } of _embedded.environments) names.set(id, name);
  return live_artifacts.map(
    (each: { artifact_name: string; environment_id: string }) =>
      `${each.artifact_name}>${names.get(each.environment_id)}`,
  );
}

async function orgWith(...environments: string[]): Promise<TestOrg> {
  const org = await app.org();
  for (const name of environments) await createEnvironment(org, name, { type: "server" });
  return org;
}

describe("GET /repos/{org}/live-artifacts/{repo_name}", () => {
  it("shows what runs where, with the artifacts and environments it names", async () => {
    const org = await orgWith("prod", "test");
    const git_commit = commitOf("1");
    const commit_url = "https://git.example.com/c/1";
    await build(org, "web", repoInfo("acme/web"), { git_commit, commit_url });
    const web = { name: "web:1", fingerprint: fingerprintOf("web"), started: [1_780_000_100, 1_780_000_050] };
    await run(org, "prod", [web]);
    await run(org, "prod", [web, "other"]);
    await run(org, "test", [{ ...web, started: [0] }]);
    const found = await live(org, "acme/web");
    const artifact_id = found._embedded.artifacts[0].id;
    const [prod, test] = found._embedded.environments.map((each: { id: string }) => each.id);
    expect(found).toEqual({
      _links: { self: { href: `${base}/repos/${org.name}/live-artifacts/acme/web` } },
      _embedded: {
        artifacts: [
          {
            id: expect.stringMatching(/^[0-9a-f-]{32}$/),
            fingerprint: fingerprintOf("web"),
            commit_sha: git_commit,
            commit_url,
            _links: {
              self: { href: `${base}/artifacts/${org.name}/ci/fingerprint/${fingerprintOf("web")}` },
            },
          },
        ],
        environments: ["prod", "test"].map((name) => ({
          id: expect.stringMatching(/^[0-9a-f-]{32}$/),
          name,
          type: "server",
          _links: { self: { href: `${base}/environments/${org.name}/${name}` } },
        })),
      },
      live_artifacts: [
        {
          environment_id: prod,
          artifact_id,
          artifact_name: "web:1",
          snapshot_index: 2,
          compliance: null,
          started_at: 1_780_000_050,
          _links: { snapshot: { href: `${base}/snapshots/${org.name}/prod/2` } },
        },
        expect.objectContaining({ environment_id: test, artifact_id, snapshot_index: 1 }),
      ],
    });
    // Its reporter did not know when it started.
    expect(Math.abs(found.live_artifacts[1].started_at - app.clock.now())).toBeLessThan(30);
  });

  it("has the verdict of the environment in words", async () => {
    const org = await orgWith("prod", "test");
    await createPolicy(org, "scanned", policyText("attestations:", "  - name: scan", "    type: generic"));
    await attachPolicies(org, "prod", "scanned");
    for (const name of ["good", "bad"]) await build(org, name, repoInfo("web"), { trail_name: name });
    const place = { org: org.name, flow: "ci", trail: "good" };
    const scan = { attestation_name: "scan", is_compliant: true };
    expect((await attest(org.member, place, "generic", scan)).status).toBe(201);
    for (const environment of ["prod", "test"]) await run(org, environment, ["good", "bad"]);
    const { live_artifacts } = await live(org, "web");
    expect(
      live_artifacts.map((each: { artifact_name: string; compliance: string | null }) => [
        each.artifact_name,
        each.compliance,
      ]),
    ).toEqual([
      ["bad", "NON-COMPLIANT"],
      ["good", "COMPLIANT"],
      ["bad", null],
      ["good", null],
    ]);
    const { deployments } = (await org.reader.get(`/environments/${org.name}/prod/deployments`)).json;
    const verdicts = deployments.map((each: { artifact_name: string; compliant: boolean }) => [
      each.artifact_name,
      each.compliant,
    ]);
    expect(new Map(verdicts)).toEqual(
      new Map([
        ["good", true],
        ["bad", false],
      ]),
    );
  });

  it("leaves out what has exited, other repos, logical and archived environments", async () => {
    const org = await orgWith("prod", "test", "gone");
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    await build(org, "old", repoInfo("web"));
    await build(org, "new", repoInfo("web"));
    await build(org, "api", repoInfo("api"));
    await run(org, "prod", ["old", "api"]);
    await run(org, "prod", ["new", "api"]);
    await run(org, "test", ["old"]);
    await run(org, "gone", ["old"]);
    expect((await org.member.put(`/environments/${org.name}/gone/archive`)).status).toBe(200);
    expect(await places(org, "web")).toEqual(["new>prod", "old>test"]);
    expect(await places(org, "api")).toEqual(["api>prod"]);
    await run(org, "prod", ["api"]);
    await run(org, "test", []);
    expect(await live(org, "web")).toMatchObject({
      _embedded: { artifacts: [], environments: [] },
      live_artifacts: [],
    });
  });

  it("finds the newest repo of the name, the newest at a provider, or the one with an id", async () => {
    const org = await orgWith("prod");
    await build(org, "a", repoInfo("web", { id: "1", provider: "gitlab" }));
    await build(org, "b", repoInfo("web", { id: "2", provider: "gitlab" }));
    await build(org, "c", repoInfo("web", { id: "3", provider: "github" }));
    await run(org, "prod", ["a", "b", "c"]);
    const { repos } = (await org.reader.get(`/repos/${org.name}?repo_id=1`)).json;
    expect(await places(org, "web")).toEqual(["c>prod"]);
    expect(await places(org, "web?provider=gitlab")).toEqual(["b>prod"]);
    expect(await places(org, `whatever?provider=github&id=${repos[0].id}`)).toEqual(["a>prod"]);
    expect(await places(org, "web?id=")).toEqual(["c>prod"]);
    for (const path of ["nope", "web?provider=bitbucket", "web?id=nope"]) {
      const answer = await org.reader.get(`/repos/${org.name}/live-artifacts/${path}`);
      expect([answer.status, answer.json.message]).toEqual([404, `Repo '${path.split("?")[0]}' not found`]);
    }
    const answer = await org.reader.get(`/repos/${org.name}/live-artifacts/web?provider=sourceforge`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors["query.provider"]).toMatch(
      /^Input should be 'github', .* \[input: sourceforge\]$/,
    );
  });

  it("is read by whoever may read the organization", async () => {
    const org = await orgWith("prod");
    await build(org, "web", repoInfo("web"));
    expect((await app.anonymous.get(`/repos/${org.name}/live-artifacts/web`)).status).toBe(401);
    const foreign = await (await app.user()).client.get(`/repos/${org.name}/live-artifacts/web`);
    expect([foreign.status, foreign.json.message]).toEqual([
      403,
      `Access denied to /api/v2/repos/${org.name}/live-artifacts/web`,
    ]);
  });
});
