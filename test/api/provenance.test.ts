import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { mostEnvironments } from "../../src/modules/views/provenance/store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { reportServer } from "../support/snapshots.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const fingerprint = fingerprintOf("web");
const commit = commitOf("web");
const template = `version: 1
trail:
  attestations:
    - {name: review, type: generic}
  artifacts:
    - name: web
      attestations:
        - {name: unit, type: generic}
        - {name: scan, type: snyk}
`;

interface Node {
  id: string;
  kind: string;
  label: string;
  verdict: string | null;
  html_url: string;
  missing: boolean;
  count?: number;
}

async function picture(org: TestOrg, of = fingerprint) {
  const answer = await org.reader.get(`/provenance/${org.name}/${of}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  const { nodes, edges, truncated } = answer.json as {
    nodes: Node[];
    edges: { from: string; to: string }[];
    truncated: boolean;
  };
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  return {
    nodes,
    truncated,
    shown: nodes.map(
      ({ kind, label, verdict, missing }) => `${kind} ${label} ${verdict}${missing ? " missing" : ""}`,
    ),
    arrows: edges.map(({ from, to }) => `${labels.get(from)} > ${labels.get(to)}`),
  };
}

async function build(org: TestOrg, flow: string, trail_name = "run"): Promise<void> {
  const body = artifactBody({
    fingerprint,
    filename: "web:1",
    trail_name,
    template_reference_name: "web",
    git_commit: commit,
  });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

describe("GET /provenance/{org}/{fingerprint}", () => {
  it("draws commit, trail, evidence, what is missing, and where it runs", async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "ci" }, template);
    await build(org, "ci");
    const place = { org: org.name, flow: "ci", trail: "run" };
    await attest(org.member, place, "generic", { attestation_name: "review", is_compliant: true });
    await attest(org.member, place, "generic", {
      attestation_name: "unit",
      is_compliant: false,
      artifact_fingerprint: fingerprint,
    });
    for (const name of ["prod", "stage", "left"]) {
      await createEnvironment(org, name, { type: "server" });
      await reportServer(org, name, [{ name: "web:1", fingerprint }]);
    }
    await createEnvironment(org, "all", { type: "logical", included_environments: ["prod"] });
    await reportServer(org, "left", []);
    const { nodes, shown, arrows, truncated } = await picture(org);
    expect(shown).toEqual([
      `commit ${commit.slice(0, 7)} null`,
      "trail ci/run NON-COMPLIANT",
      "artifact web:1 NON-COMPLIANT",
      "attestation review COMPLIANT",
      "attestation unit NON-COMPLIANT",
      "attestation scan null missing",
      "environment prod null",
      "environment stage null",
    ]);
    expect(arrows.toSorted()).toEqual(
      [
        `${commit.slice(0, 7)} > ci/run`,
        "ci/run > web:1",
        "ci/run > review",
        "web:1 > unit",
        "web:1 > scan",
        "web:1 > prod",
        "web:1 > stage",
      ].toSorted(),
    );
    expect(truncated).toBe(false);
    const { json: explained } = await org.reader.get(`/artifacts/${org.name}/ci/fingerprint/${fingerprint}`);
    const page = (path: string) => `http://waybill.test/${org.name}${path}`;
    const [, trail, artifact, review, , scan, prod] = nodes.map(({ html_url }) => html_url);
    expect([nodes[0]?.html_url, trail, artifact, scan, prod]).toEqual([
      page(`/commits/${commit}`),
      page("/flows/ci/trails/run"),
      explained.html_url,
      page("/flows/ci/trails/run"),
      page("/environments/prod"),
    ]);
    expect(review).toContain(page("/flows/ci/trails/run?attestation_id="));
  });

  it("draws the newest trail of each flow, and shares the commit", async () => {
    const org = await app.org();
    await build(org, "ci", "old");
    await build(org, "ci", "new");
    await build(org, "release", "1.0");
    const { shown } = await picture(org);
    expect(shown).toEqual([
      `commit ${commit.slice(0, 7)} null`,
      "trail release/1.0 COMPLIANT",
      "trail ci/new COMPLIANT",
      "artifact web:1 COMPLIANT",
    ]);
  });

  it("folds what is too much, whatever there is", async () => {
    const org = await app.org();
    for (let at = 0; at < 14; at += 1) await build(org, `ci-${at}`);
    for (let at = 0; at < 15; at += 1)
      await attest(org.member, { org: org.name, flow: "ci-13", trail: "run" }, "generic", {
        attestation_name: `check-${at}`,
        is_compliant: at !== 14,
        artifact_fingerprint: fingerprint,
      });
    const { nodes, shown, truncated } = await picture(org);
    expect(truncated).toBe(true);
    expect(shown).toContain("attestation check-14 NON-COMPLIANT");
    const folded = nodes.filter(({ count }) => count !== undefined);
    expect(folded.map(({ kind, label, count }) => [kind, label, count])).toEqual([
      ["trail", "+ 2", 2],
      ["attestation", "+ 3", 3],
    ]);
  });

  it("draws what no flow knows, while it runs and after", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", [{ name: "nginx:1", fingerprint }]);
    const running = await picture(org);
    expect(running.shown).toEqual(["artifact nginx:1 null", "environment prod null"]);
    expect(running.nodes[0]?.html_url).toBe(`http://waybill.test/${org.name}/artifacts/${fingerprint}`);
    await reportServer(org, "prod", []);
    expect((await picture(org)).shown).toEqual(["artifact nginx:1 null"]);
  });

  it("draws an environment once, and is not full of what runs under many names or in archived ones", async () => {
    const org = await app.org();
    const many = Array.from({ length: mostEnvironments + 1 }, (_, at) => ({
      name: `web:${at}`,
      fingerprint,
    }));
    for (const [name, running] of [
      ["gone", many],
      ["busy", many],
      ["prod", many.slice(0, 1)],
    ] as const) {
      await createEnvironment(org, name, { type: "server" });
      expect((await reportServer(org, name, [...running])).status).toBe(201);
    }
    expect((await org.member.put(`/environments/${org.name}/gone/archive`)).status).toBe(200);
    const { shown, truncated } = await picture(org);
    expect(shown).toEqual(["artifact web:0 null", "environment busy null", "environment prod null"]);
    expect(truncated).toBe(false);
  });

  it("asks three things of the database, whatever there is", async () => {
    const org = await app.org();
    for (const flow of ["a", "b", "c"]) await build(org, flow);
    const count = async () => (await statementsOf(app, () => picture(org))).length;
    await count();
    const before = await count();
    for (const flow of ["d", "e", "f"]) await build(org, flow);
    await count();
    expect(await count()).toBe(before);
  });

  it("says what is wrong, and shows nothing of others", async () => {
    const [org, stranger, open] = [await app.org(), await app.org(), await app.org({ public: true })];
    await build(org, "ci");
    await build(open, "ci");
    const unknown = await stranger.reader.get(`/provenance/${stranger.name}/${fingerprint}`);
    expect([unknown.status, unknown.json]).toEqual([
      404,
      {
        message: `Artifact with fingerprint '${fingerprint}' does not exist in organization '${stranger.name}'`,
      },
    ]);
    expect((await stranger.reader.get(`/provenance/${org.name}/${fingerprint}`)).status).toBe(403);
    expect((await app.anonymous.get(`/provenance/${open.name}/${fingerprint}`)).status).toBe(200);
    const short = await org.reader.get(`/provenance/${org.name}/${fingerprint.slice(0, 12)}`);
    expect(short.status).toBe(400);
  });
});
