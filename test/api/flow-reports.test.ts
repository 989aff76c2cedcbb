import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { lockNumbering } from "../../src/modules/process/artifacts/store.ts";
import { type Sql, sql } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { getFlowLocked, insertMissingFlows, updateFlowName } from "../../src/modules/process/flows/store.ts";
import { waitingForLocks } from "../support/locks.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, repoInfo } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { analysisWith, processed, rowsOf, switchOn } from "../support/quality-server.ts";

let app: TestApp;
let org: TestOrg;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

function report(flow: string, more: Record<string, unknown> = {}) {
  return org.member.post(`/artifacts/${org.name}/${flow}`, artifactBody(more));
}

/** Archives a flow. @returns its archived name. */
async function archived(name: string): Promise<string> {
  await putFlow(org.member, org.name, { name });
  expect((await org.member.put(`/flows/${org.name}/${name}/archive`)).status).toBe(200);
  const flows = await rowsOf(app, "flows", org);
  return String(flows.find((flow) => flow["original_name"] === name)!["name"]);
}

describe("reports to an archived flow", () => {
  it("are refused alike, whatever is reported, and leave nothing", async () => {
    const name = await archived("web");
    const refusal = { message: `Flow '${name}' is archived` };
    for (const answer of [
      await putFlow(org.member, org.name, { name }),
      await putTrail(org.member, `${org.name}/${name}`, { name: "t" }),
      await report(name),
    ])
      expect([answer.status, answer.json]).toEqual([400, refusal]);
    for (const table of ["trails", "artifacts"]) expect(await rowsOf(app, table, org)).toEqual([]);
  });

  it("fail alone: those that arrive with them are written", async () => {
    const name = await archived("web");
    const flows = Array.from({ length: 40 }, (_, index) => (index % 4 === 1 ? name : `f${index % 3}`));
    const answers = await Promise.all(flows.map((flow) => report(flow)));
    expect(answers.map(({ status }) => status)).toEqual(flows.map((flow) => (flow === name ? 400 : 201)));
    expect(await rowsOf(app, "artifacts", org)).toHaveLength(30);
  });

  it("by the code-quality webhook are refused with the reason", async () => {
    const name = await archived("web");
    const webhook = { org, ...(await switchOn(org)) };
    expect(await processed(app, webhook, analysisWith({ flow: name }))).toMatchObject({
      status: "refused",
      reason: `Flow '${name}' is archived`,
    });
    expect(await rowsOf(app, "attestations", org)).toEqual([]);
  });

  it("go to a new flow under the name it had before", async () => {
    await archived("web");
    expect((await report("web")).status).toBe(201);
    expect(await rowsOf(app, "flows", org)).toHaveLength(2);
  });
});

/** Until somebody in this database waits for a lock. */
async function untilSomebodyWaits(): Promise<void> {
  while ((await app.deps.db.pool.query(waitingForLocks())).rowCount === 0);
}

function archiveWeb(orgId: string): Sql {
  return sql`
    update flows set name = 'web-archived-at-1', original_name = 'web', archived_at = to_timestamp(1)
    where org_id = ${orgId}`;
}

describe("a flow made by a report", () => {
  it("is a new one when the flow of that name is being archived", async () => {
    await report("web");
    let reporting: Promise<{ status: number }> | undefined;
    await transaction(app.deps.db, async (tx) => {
      await tx.run(archiveWeb(org.id));
      reporting = report("web");
      await untilSomebodyWaits();
    });
    expect((await reporting)?.status).toBe(201);
    const flows = await rowsOf(app, "flows", org);
    expect(flows.map(({ name }) => name)).toEqual(["web-archived-at-1", "web"]);
    expect((await rowsOf(app, "artifacts", org)).at(-1)!["flow_id"]).toBe(flows[1]!["id"]);
  });

  it("is asked for again by a trail that came while the old one was being archived", async () => {
    await report("web");
    let beginning: Promise<{ status: number }> | undefined;
    await transaction(app.deps.db, async (tx) => {
      await tx.run(archiveWeb(org.id));
      beginning = putTrail(org.member, `${org.name}/web`, { name: "late" });
      await untilSomebodyWaits();
    });
    expect((await beginning)?.status).toBe(409);
    expect((await putTrail(org.member, `${org.name}/web`, { name: "late" })).status).toBe(201);
    expect(await rowsOf(app, "flows", org)).toHaveLength(2);
  });

  it.each([
    ["had", false],
    ["is just losing", true],
  ])("takes a name that another flow %s for good", async (_what, isLosing) => {
    await report("a");
    const flow = { id: app.deps.ids.next(), template_id: app.deps.ids.next(), name: "a", description: "" };
    const insert = () =>
      transaction(app.deps.db, (tx) =>
        insertMissingFlows(tx, org.id, [{ ...flow, created_by_name: "x", created_at: 1 }], "version: 1\n"),
      );
    let inserting: Promise<void> | undefined;
    await transaction(app.deps.db, async (tx) => {
      const [renamed] = await rowsOf(app, "flows", org);
      await updateFlowName(tx, org.id, await getFlowLocked(tx, org.id, String(renamed!["id"])), "b");
      if (!isLosing) return;
      inserting = insert();
      await untilSomebodyWaits();
    });
    await (inserting ?? insert());
    expect((await org.member.put(`/flows/${org.name}/a/archive`)).status).toBe(200);
    expect((await org.reader.get(`/flows/${org.name}/a`)).status).toBe(404);
    expect((await org.reader.get(`/flows/${org.name}/b`)).status).toBe(200);
  });

  it("stands still while it is reported to, before the numbering is locked", async () => {
    await report("web", { trail_name: "t" });
    const { db } = app.deps;
    let reporting: Promise<{ status: number }> | undefined;
    await transaction(db, async (tx) => {
      lockNumbering(tx, org.id);
      await tx.run(sql`select 'it is locked'`);
      reporting = report("web", { trail_name: "t" });
      // For the numbering.
      await untilSomebodyWaits();
      const flow = db.pool.query("select from flows where org_id = $1 for update nowait", [org.id]);
      await expect(flow).rejects.toMatchObject({ code: "55P03" });
    });
    expect((await reporting)?.status).toBe(201);
  });
});

describe("what reports belong to", () => {
  it.each(["organizations", "flows", "trails", "environments"])("is never removed from %s", async (table) => {
    await report("web", { trail_name: "t" });
    await createEnvironment(org, "prod");
    await expect(app.deps.db.pool.query(`delete from ${table}`)).rejects.toThrow(
      `rows of table ${table} are never removed`,
    );
  });
});

describe("the event of a trail that a report began", () => {
  it("has the keys of one begun on its own", async () => {
    const said = {
      git_commit_info: { sha1: commitOf("x"), author: "a", timestamp: 1_786_000_000 },
      repo_info: repoInfo("acme/web"),
    };
    await putTrail(org.member, `${org.name}/web`, { name: "begun", ...said });
    await report("web", { trail_name: "reported", ...said });
    const eventOf = async (trail: string) =>
      (await org.reader.get(`/trails/${org.name}/web/${trail}`)).json.events[0];
    const [begun, reported] = [await eventOf("begun"), await eventOf("reported")];
    expect(Object.keys(reported).sort()).toEqual(Object.keys(begun).sort());
    expect(Object.keys(reported.trail_data_json).sort()).toEqual(Object.keys(begun.trail_data_json).sort());
    for (const key of ["git_commit_info", "repo_info"]) expect(reported[key]).toEqual(begun[key]);
    expect(reported.trail_data_json.git_commit_info).toEqual(begun.trail_data_json.git_commit_info);
    expect(reported.git_commit_info).toMatchObject(said.git_commit_info);
  });

  it("has no repo and no commit where the report had none", async () => {
    await report("web", { trail_name: "t" });
    const { events } = (await org.reader.get(`/trails/${org.name}/web/t`)).json;
    expect(events[0]).toMatchObject({ type: "trail_reported", git_commit_info: null, repo_info: null });
  });
});
