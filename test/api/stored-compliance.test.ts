import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { nullable, text, timestamp, uuid } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { evaluateArtifactInSteps, evaluateTrail } from "../../src/domain/compliance/evaluate.ts";
import type { ArtifactReport, AttestationReport } from "../../src/domain/compliance/model.ts";
import { printCompliance } from "../../src/domain/compliance/print.ts";
import { storedTemplate } from "../../src/domain/template/stored.ts";
import { finish } from "../../src/lib/steps.ts";
import { listDecidingCases } from "../../src/modules/process/compliance/case-store.ts";
import { judgeArtifacts } from "../../src/modules/process/compliance/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { putFlow } from "../support/flows.ts";
import { afterEveryStep, attestAll, reportAll, templates } from "../support/histories.ts";
import { readTrailCases } from "../support/trail-cases.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function shown(
  compliance: ReturnType<typeof evaluateTrail>,
  trail: { last_modified_at: number; evaluated_at: number | null; template_id: string },
): unknown[] {
  const { last_modified_at, evaluated_at, template_id } = trail;
  const trail_evaluated_at = evaluated_at ?? last_modified_at;
  const text = printCompliance(compliance, {
    evaluated_at: last_modified_at,
    trail_evaluated_at,
    template_id,
  });
  return [compliance.status, compliance.own_state, text];
}

const storedVerdict = {
  id: uuid,
  template: text,
  template_id: uuid,
  last_modified_at: timestamp,
  evaluated_at: nullable(timestamp),
  state: nullable(text),
  own_state: nullable(text),
  status: nullable(text),
};

interface Verdicts {
  stored: unknown[];
  anew: unknown[];
  /** By the reports alone that decide on trails with many. */
  decided: unknown[];
}

/** The verdicts stored for an organization's trails, and those of judging each anew from the tables of record. */
async function verdictsOf(org: TestOrg): Promise<Verdicts> {
  const { db } = app.deps;
  const of = async <Row>(table: string): Promise<(Row & { trail_id: string })[]> =>
    (await db.pool.query(`select * from ${table} where org_id = $1 order by id`, [org.id])).rows;
  const artifacts = await of<ArtifactReport & { id: string; created_at: number }>("artifacts");
  const attestations = await of<AttestationReport & { id: string; created_at: number }>("attestations");
  const trails = await db.all(query(storedVerdict)`
    select t.id, t.template, t.template_id, t.last_modified_at, c.evaluated_at, c.state, c.own_state,
      c.status::text as status
    from trails t left join trail_compliance c on c.org_id = t.org_id and c.trail_id = t.id
    where t.org_id = ${org.id}`);
  const anew = trails.map((trail) => {
    const mine = <Row extends { trail_id: string; created_at: number }>(rows: Row[]) =>
      rows.filter((row) => row.trail_id === trail.id).map((row) => ({ ...row, reported_at: row.created_at }));
    const compliance = evaluateTrail(storedTemplate(trail.template), {
      artifacts: mine(artifacts).map((row) => ({ ...row, artifact_id: row.id })),
      attestations: mine(attestations).map((row) => ({ ...row, attestation_id: row.id })),
    });
    return shown(compliance, trail);
  });
  const ids = trails.map(({ id }) => id);
  const cases = await transaction(db, (tx) => listDecidingCases(tx, org.id, ids));
  const decided = cases.map((one) => shown(evaluateTrail(storedTemplate(one.template), one), one));
  return { stored: trails.map(({ state, own_state, status }) => [state, own_state, status]), anew, decided };
}

/** The states of all artifacts, those included that lost their names: by what decides on them, and by all reports. */
async function artifactStatesOf(org: TestOrg): Promise<{ decided: string[]; anew: string[] }> {
  const { db } = app.deps;
  const select = "select id, trail_id from artifacts where org_id = $1 order by id";
  const { rows } = await db.pool.query<{ id: string; trail_id: string }>(select, [org.id]);
  const ids = rows.map(({ id }) => id);
  const trails = await readTrailCases(
    db,
    org.id,
    rows.map(({ trail_id }) => trail_id),
  );
  const anew = rows.map(({ id, trail_id }) => {
    const { template, reports } = trails.get(trail_id)!;
    const artifact = reports.artifacts.find(({ artifact_id }) => artifact_id === id)!;
    return finish(evaluateArtifactInSteps(template, reports, artifact));
  });
  return { decided: await judgeArtifacts(db, org.id, ids), anew };
}

/** The trail last reported to in each flow: as it is kept, and as the trails say. */
async function activityOf(org: TestOrg): Promise<{ kept: unknown[]; anew: unknown[] }> {
  const { pool } = app.deps.db;
  const kept =
    "select flow_id, trail_id, last_modified_at from flow_activity where org_id = $1 order by flow_id";
  const anew = `select distinct on (flow_id) flow_id, id as trail_id, last_modified_at from trails where org_id = $1
    order by flow_id, last_modified_at desc, id desc`;
  return { kept: (await pool.query(kept, [org.id])).rows, anew: (await pool.query(anew, [org.id])).rows };
}

describe("the stored verdict", () => {
  it("is that of all reports, after every step of any history", { timeout: 60_000 }, async () => {
    await afterEveryStep(app, async (org) => {
      const { stored, anew, decided } = await verdictsOf(org);
      expect(stored).toEqual(anew);
      expect(decided).toEqual(anew);
      const artifacts = await artifactStatesOf(org);
      expect(artifacts.decided).toEqual(artifacts.anew);
      const activity = await activityOf(org);
      expect(activity.kept).toEqual(activity.anew);
    });
  });

  it("is reached by few reports, however many there are", { timeout: 60_000 }, async () => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "flow" }, templates[2]);
    const batch = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
    const one = {
      trail: "t1",
      name: "a",
      is_compliant: true,
      is_override: false,
      targets: null,
      commit: null,
    };
    let most = 0;
    for (let round = 0; round < 6; round += 1) {
      const numbers = batch(round * 100, 100);
      await reportAll(
        app,
        org,
        numbers.map((n) => ({ trail: "t1", name: "web", print: `p${n}`, commit: `c${n}` })),
      );
      await attestAll(app, org, [
        ...numbers.map(() => ({ ...one, type: "junit", print: null })),
        ...numbers.map((n) => ({ ...one, type: "generic", print: `p${n}` })),
        ...numbers.map((n) => ({ ...one, type: "junit", print: null, targets: ["web"], commit: `c${n}` })),
      ]);
      const { stored, anew, decided } = await verdictsOf(org);
      expect(stored).toEqual(anew);
      expect(decided).toEqual(anew);
      const ids = (await app.deps.db.pool.query("select id from trails where org_id = $1", [org.id])).rows;
      const [found] = await transaction(app.deps.db, (tx) => listDecidingCases(tx, org.id, [ids[0].id]));
      most = Math.max(most, found!.artifacts.length, found!.attestations.length);
    }
    expect(most).toBeLessThan(10);
  });

  it.each([
    ["the last of its type", ["generic", "junit"], 0],
    ["the last of any, if none of its type was there", ["junit", "junit"], 1],
  ])("names what an override replaced, also when more was reported since: %s", async (_, types, replaced) => {
    const org = await app.org();
    await putFlow(org.member, org.name, { name: "flow" }, templates[1]);
    const one = { trail: "t1", name: "a", is_compliant: true, print: null, targets: null, commit: null };
    const report = (type: string, is_override = false) => ({ ...one, type, is_override });
    await attestAll(app, org, [
      ...types.map((type) => report(type)),
      report("generic", true),
      report("junit"),
    ]);
    await attestAll(app, org, [report("junit")]);
    const { stored, anew, decided } = await verdictsOf(org);
    expect(stored).toEqual(anew);
    expect(decided).toEqual(anew);
    const { json } = await org.reader.get(`/trails/${org.name}/flow/t1`);
    const [row] = json.compliance_status.attestations_statuses;
    const ids = json.events.flatMap((event: { attestation_id?: string }) => event.attestation_id ?? []);
    expect([row.attestation_id, row.overridden_attestation_id]).toEqual([ids[2], ids[replaced]]);
    const [, , override] = (await org.reader.get(`/attestations/${org.name}/flow/trail/t1/a`)).json;
    expect(override.overridden_attestation_id).toBe(ids[replaced]);
  });

  it("is shown by trails, lists of trails and lists of flows, artifacts in the template's order", async () => {
    const org = await app.org();
    const template = "version: 1\ntrail:\n  artifacts:\n    - name: web\n    - name: '20'\n    - name: '3'\n";
    await putFlow(org.member, org.name, { name: "flow" }, template);
    const state = async () => {
      const { json } = await org.reader.get(`/flows/${org.name}`);
      return [json[0].latest_state, json[0].latest_activity_at];
    };
    expect(await state()).toEqual([null, null]);
    for (const name of ["3", "20", "10"])
      await org.member.post(
        `/artifacts/${org.name}/flow`,
        artifactBody({ trail_name: "run", template_reference_name: name }),
      );
    const { json, text } = await org.reader.get(`/trails/${org.name}/flow/run`);
    expect(json.compliance_status).toMatchObject({
      status: "INCOMPLETE",
      is_compliant: false,
      evaluated_at: json.last_modified_at,
    });
    expect([json.compliance_state, json.is_compliant]).toEqual(["INCOMPLETE", false]);
    const order = /"artifacts_statuses":\{"web":.*"20":\{.*"3":\{.*"10":\{/;
    expect(text).toMatch(order);
    const { events: _, ...item } = json;
    for (const path of [`/trails/${org.name}`, `/trails/${org.name}/flow?per_page=5`]) {
      const list = await org.reader.get(path);
      expect(list.json.data).toEqual([item]);
      expect(list.text).toMatch(order);
    }
    expect((await org.reader.get(`/trails/${org.name}/flow`)).json).toEqual([item]);
    expect(await state()).toEqual(["INCOMPLETE", json.last_modified_at]);
    expect(Object.keys(json)).toEqual([
      "name",
      "description",
      "git_commit_info",
      "origin_url",
      "user_data",
      "repo_ids",
      "last_modified_at",
      "created_at",
      "compliance_status",
      "template",
      "compliance_state",
      "is_compliant",
      "events",
      "created_by",
      "flow",
      "external_urls",
      "html_url",
    ]);
  });
});
