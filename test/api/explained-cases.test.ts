import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { evaluateArtifactInSteps, evidenceInSteps } from "../../src/domain/compliance/evaluate.ts";
import { explainArtifactInSteps, explainTrail } from "../../src/domain/compliance/explain.ts";
import type { ArtifactReport, TrailReports } from "../../src/domain/compliance/model.ts";
import type { Template } from "../../src/domain/template/model.ts";
import { finish } from "../../src/lib/steps.ts";
import { findCaseByHeads } from "../../src/modules/process/compliance/case-store.ts";
import { findExplainedTrail, readArtifactCases } from "../../src/modules/process/compliance/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { commitOf, fingerprintOf } from "../support/artifacts.ts";
import { putFlow } from "../support/flows.ts";
import { afterEveryStep, attestAll, reportAll, templates } from "../support/histories.ts";
import { statementNamesOf } from "../support/statements.ts";
import { readTrailCases } from "../support/trail-cases.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

async function idsOf(org: TestOrg, table: "trails" | "artifacts"): Promise<string[]> {
  const { pool } = app.deps.db;
  const { rows } = await pool.query<{ id: string }>(
    `select id from ${table} where org_id = $1 order by id desc`,
    [org.id],
  );
  return rows.map(({ id }) => id);
}

/** Everything that answers say of an artifact by its reports. */
function saidOf(template: Template, reports: TrailReports, artifact: ArtifactReport) {
  return {
    state: finish(evaluateArtifactInSteps(template, reports, artifact)),
    evidence: finish(evidenceInSteps(template, reports, artifact)),
    explanation: finish(explainArtifactInSteps(template, reports, artifact)),
  };
}

/** What is said of all artifacts and trails: by what decides on them, and by all reports. */
async function saidIn(org: TestOrg): Promise<{ decided: unknown[]; anew: unknown[] }> {
  const { db } = app.deps;
  const trails = await readTrailCases(db, org.id, await idsOf(org, "trails"));
  const anew = [...trails.values()].flatMap(({ reports, ...trail }): unknown[] => {
    const said = [trail, explainTrail(trail.template, reports)];
    return [said, said];
  });
  const decided: unknown[] = [];
  for (const id of trails.keys()) {
    const { reports: some, ...trail } = (await findExplainedTrail(db, org.id, id))!;
    // Trails with few reports are explained by all of them.
    for (const reports of [some, (await findCaseByHeads(db, org.id, id))!])
      decided.push([trail, explainTrail(trail.template, reports)]);
  }
  const ids = await idsOf(org, "artifacts");
  const all = [...trails.values()].flatMap((trail) =>
    trail.reports.artifacts.map((artifact) => ({ ...trail, artifact })),
  );
  for (const id of ids) {
    const { template, template_id, reports, artifact } = all.find((one) => one.artifact.artifact_id === id)!;
    anew.push([template_id, saidOf(template, reports, artifact)]);
  }
  for (const { template, template_id, reports, artifact } of await readArtifactCases(db, org.id, ids))
    decided.push([template_id, saidOf(template, reports, artifact)]);
  return { decided, anew };
}

describe("what decides on trails and artifacts", () => {
  it("says of them what all reports do, after every step of any history", { timeout: 60_000 }, async () => {
    await afterEveryStep(app, async (org) => {
      const { decided, anew } = await saidIn(org);
      expect(decided).toEqual(anew);
    });
  });

  it("is few reports, however often the same was reported", { timeout: 60_000 }, async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "flow" }, templates[2]);
    const numbers = Array.from({ length: 300 }, (_, at) => at);
    const one = { trail: "t1", name: "a", type: "junit", is_compliant: true, is_override: false };
    await reportAll(
      app,
      org,
      numbers.map((n) => ({ trail: "t1", name: "web", print: `p${n}`, commit: `c${n}` })),
    );
    await attestAll(app, org, [
      ...numbers.map(() => ({ ...one, print: null, targets: null, commit: null })),
      ...numbers.map((n) => ({ ...one, print: `p${n}`, targets: null, commit: null })),
      ...numbers.map((n) => ({ ...one, print: null, targets: ["web"], commit: `c${n}` })),
      ...numbers.map(() => ({ ...one, print: null, targets: ["2"], commit: null })),
      // What waits for an artifact that there is not: only what is neither the first nor the last of it complies.
      ...numbers.map((n) => ({
        ...one,
        is_compliant: n % 4 === 1,
        print: null,
        targets: ["2"],
        commit: `c${n % 4}`,
      })),
    ]);
    const { decided, anew } = await saidIn(org);
    expect(decided).toEqual(anew);
    const [trail] = await idsOf(org, "trails");
    const explained = (await findExplainedTrail(app.deps.db, org.id, trail!))!;
    const { proposed_reports: proposed } = explainTrail(explained.template, explained.reports);
    expect(proposed).toContainEqual(
      expect.objectContaining({ kind: "artifact", artifact_name: "2", git_commit: commitOf("c1") }),
    );
    expect(explained.reports.artifacts.length + explained.reports.attestations.length).toBeLessThan(30);
    const artifacts = await readArtifactCases(app.deps.db, org.id, await idsOf(org, "artifacts"));
    expect(Math.max(...artifacts.map(({ reports }) => reports.attestations.length))).toBeLessThan(10);
  });

  it(
    "is found at once where some of many commits that wait are overridden",
    { timeout: 60_000 },
    async () => {
      const org = await app.org();
      await putFlow(org.member, org.name, { name: "flow" }, templates[2]);
      const waiting = { trail: "t1", name: "a", type: "junit", is_compliant: false, print: null };
      await attestAll(
        app,
        org,
        Array.from({ length: 1000 }, (_, n) => ({
          ...waiting,
          targets: ["2"],
          commit: `c${n}`,
          is_override: n % 3 === 1,
        })),
      );
      const { decided, anew } = await saidIn(org);
      expect(decided).toEqual(anew);
    },
  );

  it("is all that is read of reports to show and explain artifacts and trails", async () => {
    const org = await app.org();
    await reportAll(app, org, [{ trail: "t1", name: "web", print: "p", commit: "c" }]);
    const artifact = `/artifacts/${org.name}/flow/fingerprint/${fingerprintOf("p")}`;
    for (const path of [
      `/artifacts/${org.name}`,
      `/artifacts/${org.name}/flow/commit_sha/${commitOf("c")}`,
      artifact,
      `${artifact}/explain`,
      `/trails/${org.name}/flow/t1/explain`,
    ]) {
      const names = await statementNamesOf(app, async () =>
        expect((await org.reader.get(path)).status).toBe(200),
      );
      expect(names.some((name) => name === "artifact-cases" || name === "brief-cases")).toBe(true);
    }
  });
});
