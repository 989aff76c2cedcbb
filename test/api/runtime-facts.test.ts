import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { uuid } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { getFacts } from "../../src/modules/runtime/snapshots/report/facts-service.ts";
import { listVersionSummaries } from "../../src/modules/runtime/snapshots/report/version-store.ts";
import { listRunning } from "../../src/modules/runtime/snapshots/read/diff-store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow } from "../support/flows.ts";
import { reportServer } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const web = fingerprintOf("web");
const other = fingerprintOf("other");

async function report(org: TestOrg, flow: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = artifactBody({ fingerprint: web, trail_name: "run", ...more });
  expect((await org.member.post(`/artifacts/${org.name}/${flow}`, body)).status).toBe(201);
}

/** The id of the organization's only environment. */
async function environmentOf(org: TestOrg): Promise<string> {
  const { id } = await app.deps.db.one(
    query({ id: uuid })`select id from environments where org_id = ${org.id}`,
  );
  return id;
}

/** Attestations of these names, of any type. */
function told(...names: string[]) {
  return { names, types: [], told_by: { types: [], controls: [] } };
}

describe("what flows know at run time", () => {
  it("is the latest trail of each flow, the flow that knew it first first", async () => {
    const org = await app.org();
    await report(org, "b", { trail_name: "old" });
    await report(org, "a");
    await report(org, "b", { trail_name: "new" });
    const facts = await getFacts(app.deps.db, org.id, [web, other], "none");
    expect([...facts.keys()]).toEqual([web]);
    expect(facts.get(web)).toMatchObject([
      { flow_name: "b", trail_name: "new", attestations: [] },
      { flow_name: "a", trail_name: "run", compliance_state: "COMPLIANT" },
    ]);
  });

  it("has the attestations of the artifact and of its trail, and no others, in order", async () => {
    const org = await app.org();
    const git_commit = commitOf("1");
    const place = { org: org.name, flow: "ci", trail: "run" };
    await report(org, "ci", { git_commit, template_reference_name: "web" });
    await report(org, "ci", { fingerprint: other, template_reference_name: "other" });
    const generic = async (attestation_name: string, more: Record<string, unknown>): Promise<void> => {
      const body = { attestation_name, is_compliant: true, ...more };
      expect((await attest(org.member, place, "generic", body)).status).toBe(201);
    };
    await generic("trail", {});
    await generic("bound", { artifact_fingerprint: web, is_compliant: false });
    await generic("foreign", { artifact_fingerprint: other });
    await generic("meant", { target_artifacts: ["web"], git_commit_info: commitInfo(git_commit) });
    await generic("elsewhere", { target_artifacts: ["web"], git_commit_info: commitInfo(commitOf("2")) });
    await generic("bound", { artifact_fingerprint: web });
    const [fact] =
      (await getFacts(app.deps.db, org.id, [web], told("trail", "bound", "meant"))).get(web) ?? [];
    expect(fact?.attestations).toEqual(
      [
        ["trail", true],
        ["meant", true],
        ["bound", true],
      ].map(([name, is_compliant]) => ({ name, type: "generic", is_compliant, control: null })),
    );
    const wanted = { ...told("trail"), types: ["junit"] };
    const [some] = (await getFacts(app.deps.db, org.id, [web], wanted)).get(web) ?? [];
    expect(some?.attestations.map(({ name }) => name)).toEqual(["trail"]);
    const ofType = { ...told("meant"), types: ["generic"] };
    const [last] = (await getFacts(app.deps.db, org.id, [web], ofType)).get(web) ?? [];
    // Of those that are not told apart by their names the last one.
    expect(last?.attestations.map(({ name }) => name)).toEqual(["meant", "bound"]);
  });
});

describe("what an artifact is worth on its trail", () => {
  const place = (org: TestOrg) => ({ org: org.name, flow: "ci", trail: "run" });

  /** A flow that wants a unit test of `web` and a ticket of the trail, with `web` reported. */
  async function flowWith(more: Record<string, unknown> = {}): Promise<TestOrg> {
    const org = await app.org();
    const template = `version: 1
trail:
  attestations: [{name: ticket, type: junit}]
  artifacts: [{name: web, attestations: [{name: unit, type: junit}]}]`;
    expect((await putFlow(org.admin, org.name, { name: "ci" }, template)).status).toBeLessThan(300);
    await report(org, "ci", { template_reference_name: "web", ...more });
    return org;
  }

  /** By the facts, and by reading the artifact, which judge it on different ways. */
  async function statesOf(org: TestOrg, fingerprint: string): Promise<string[]> {
    const facts = await getFacts(app.deps.db, org.id, [web, other], "none");
    const { json } = await org.reader.get(`/artifacts/${org.name}/ci/fingerprint/${fingerprint}`);
    return [facts.get(fingerprint)![0]!.compliance_state, json.state as string];
  }

  const junit = (org: TestOrg, attestation_name: string, more: Record<string, unknown> = {}) =>
    attest(org.member, place(org), "junit", { attestation_name, junit_results: [], ...more });

  it("is not compliant when the trail has a failure of another type than asked for", async () => {
    const org = await flowWith();
    expect(await statesOf(org, web)).toEqual(["INCOMPLETE", "INCOMPLETE"]);
    expect((await junit(org, "ticket")).status).toBe(201);
    expect((await junit(org, "unit", { artifact_fingerprint: web })).status).toBe(201);
    expect(await statesOf(org, web)).toEqual(["COMPLIANT", "COMPLIANT"]);
    const failed = { attestation_name: "ticket", is_compliant: false };
    expect((await attest(org.member, place(org), "generic", failed)).status).toBe(201);
    expect(await statesOf(org, web)).toEqual(["NON-COMPLIANT", "NON-COMPLIANT"]);
  });

  it("is what it was when another artifact takes its name", async () => {
    const git_commit = commitOf("1");
    const org = await flowWith({ git_commit });
    await junit(org, "ticket");
    await junit(org, "unit", { target_artifacts: ["web"], git_commit_info: commitInfo(git_commit) });
    expect(await statesOf(org, web)).toEqual(["COMPLIANT", "COMPLIANT"]);
    const taken = { fingerprint: other, template_reference_name: "web", git_commit: commitOf("2") };
    await report(org, "ci", taken);
    expect(await statesOf(org, web)).toEqual(["COMPLIANT", "COMPLIANT"]);
    expect(await statesOf(org, other)).toEqual(["INCOMPLETE", "INCOMPLETE"]);
    await attest(org.member, place(org), "generic", {
      attestation_name: "scan",
      is_compliant: false,
      artifact_fingerprint: web,
    });
    expect(await statesOf(org, web)).toEqual(["NON-COMPLIANT", "NON-COMPLIANT"]);
    expect(await statesOf(org, other)).toEqual(["INCOMPLETE", "INCOMPLETE"]);
  });
});

describe("what runs, in brief", () => {
  it("knows what flows know as judging found it", async () => {
    const org = await app.org();
    const names = ["web", "other", "bought", "shared"];
    await report(org, "ci");
    await report(org, "ci", { trail_name: "again" });
    await report(org, "cd", { fingerprint: other });
    for (const flow of ["e", "c", "a", "d", "b"])
      await report(org, flow, { fingerprint: fingerprintOf("shared") });
    await createEnvironment(org, "prod", { type: "server" });
    expect((await reportServer(org, "prod", names)).status).toBe(201);
    const db = app.deps.db;
    const id = await environmentOf(org);
    const stale = async () =>
      (await listVersionSummaries(db, org.id, id, true))
        .filter(({ is_stale }) => is_stale)
        .map(({ name }) => name);
    expect(await stale()).toEqual([]);
    await report(org, "b", { fingerprint: fingerprintOf("shared"), template_reference_name: "x" });
    await report(org, "cd", { fingerprint: fingerprintOf("bought"), trail_name: "elsewhere" });
    expect((await stale()).toSorted()).toEqual(["bought", "shared"]);
    expect((await reportServer(org, "prod", names)).status).toBe(201);
    expect(await stale()).toEqual([]);
  });
});

describe("what runs in a snapshot, for programs", () => {
  it("comes as it is shown, without what has exited", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await report(org, "ci");
    expect((await reportServer(org, "prod", ["web", "db"])).status).toBe(201);
    expect((await reportServer(org, "prod", ["web"])).status).toBe(201);
    const environment_id = await environmentOf(org);
    const read = async (index: number) => {
      const rows: unknown[] = [];
      const key = { environment_id, index };
      for await (const part of listRunning(app.deps.db, org.id, key)) rows.push(...part);
      return rows;
    };
    const built = { name: "web", fingerprint: web, pods: [], flow_name: "ci", position: 1 };
    expect(await read(2)).toMatchObject([built]);
    expect(await read(1)).toMatchObject([
      { name: "db", flow_name: null, commit_url: null, creationTimestamp: [expect.any(Number)] },
      { ...built, position: 2 },
    ]);
  });
});
