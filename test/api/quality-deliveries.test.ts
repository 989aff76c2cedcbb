import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { releaseStrangers } from "../../src/jobs/ends-store.ts";
import { sha256 } from "../../src/lib/hash.ts";
import { type DeliveryJob, processDelivery } from "../../src/modules/notices/quality/process-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { runPendingJobs } from "../support/jobs.ts";
import {
  analysis,
  analysisWith,
  commitSha,
  deliver,
  type Json,
  switchOn,
  taskId,
  type Webhook,
} from "../support/quality-server.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Hook extends Required<Webhook> {
  org: TestOrg;
  /** Of the deliveries. */
  path: string;
}

async function hook(): Promise<Hook> {
  const org = await app.org();
  return { org, path: `/integrations/${org.name}/quality/deliveries`, ...(await switchOn(org)) };
}

async function newest({ org, path }: Hook): Promise<Json> {
  const { json } = await org.member.get(`${path}?per_page=1`);
  return json.deliveries[0];
}

async function count(table: string, org: TestOrg): Promise<number> {
  const { rows } = await app.deps.db.pool.query(
    `select count(*)::int as count from ${table} where org_id = $1`,
    [org.id],
  );
  return rows[0].count;
}

/** The waiting jobs of an organization. */
async function waitingJobs(org: TestOrg): Promise<DeliveryJob[]> {
  const { rows } = await app.deps.db.pool.query(
    "select payload from graphile_worker._private_jobs where payload->>'org_id' = $1 order by id",
    [org.id],
  );
  return rows.map(({ payload }) => payload);
}

describe("listing", () => {
  it("shows a waiting delivery in full", async () => {
    const webhook = await hook();
    const payload = analysis();
    const before = app.clock.now();
    await deliver(app.anonymous, webhook, payload);
    const { json } = await webhook.org.member.get(webhook.path);
    expect(json).toMatchObject({ page: 1, per_page: 20, total_pages: 1, total_count: 1 });
    expect(json.deliveries).toEqual([
      {
        id: expect.stringMatching(/^[a-f0-9]{8}(-[a-f0-9]{4}){3}-[a-f0-9]{8}$/),
        received_at: expect.any(Number),
        status: "accepted",
        reason: null,
        authenticated_by: "signature",
        reported_by: "Quality webhook",
        task_id: payload["taskId"],
        project_key: "shop-api",
        flow_name: "shop-api",
        trail_name: payload["revision"],
        attestation_id: null,
        processed_at: null,
        replay_of: null,
        body_sha256: sha256(JSON.stringify(payload)).toString("hex"),
      },
    ]);
    expect(json.deliveries[0].received_at).toBeGreaterThanOrEqual(before);
  });

  it("is empty, not missing, for an organization that never used it", async () => {
    const org = await app.org();
    const { json } = await org.member.get(`/integrations/${org.name}/quality/deliveries`);
    expect(json).toMatchObject({ total_count: 0, total_pages: 0, deliveries: [] });
  });

  it("pages newest first, repeating and skipping none", async () => {
    const webhook = await hook();
    for (let index = 0; index < 7; index += 1)
      await deliver(app.anonymous, webhook, analysis({ taskId: `task-${index}` }));
    const seen: unknown[] = [];
    for (const page of [1, 2, 3]) {
      const { json } = await webhook.org.member.get(`${webhook.path}?per_page=3&page=${page}`);
      expect(json).toMatchObject({ page, per_page: 3, total_pages: 3, total_count: 7 });
      seen.push(...json.deliveries.map(({ task_id }: Json) => task_id));
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `task-${index}`));
    const second = await webhook.org.member.get(`${webhook.path}?per_page=3&page=2`);
    const url = `http://waybill.test/api/v2${webhook.path}`;
    expect(second.json._links).toEqual({
      self: { href: `${url}?per_page=3&page=2` },
      first: { href: `${url}?per_page=3&page=1` },
      last: { href: `${url}?per_page=3&page=3` },
      prev: { href: `${url}?per_page=3&page=1` },
      next: { href: `${url}?per_page=3&page=3` },
    });
    const beyond = await webhook.org.member.get(`${webhook.path}?page=1000000`);
    expect(beyond.json).toMatchObject({ total_count: 7, deliveries: [] });
  });

  it("filters by status and project", async () => {
    const webhook = await hook();
    const project = { key: "other", name: "Other", url: "x" };
    await deliver(app.anonymous, webhook, analysis({ taskId: "done" }));
    await runPendingJobs(app);
    await deliver(app.anonymous, webhook, analysis({ taskId: "done" }));
    await deliver(app.anonymous, webhook, analysis({ taskId: "failed", status: "FAILED", project }));
    await deliver(app.anonymous, webhook, analysis({ taskId: "waiting", project }));
    const found = async (query: string): Promise<string[]> => {
      const { json } = await webhook.org.member.get(`${webhook.path}?${query}`);
      expect(json.total_count).toBe(json.deliveries.length);
      return json.deliveries.map(({ task_id, status }: Json) => `${String(task_id)} ${String(status)}`);
    };
    expect(await found("status=processed")).toEqual(["done processed"]);
    expect(await found("status=ignored&status=duplicate")).toEqual(["failed ignored", "done duplicate"]);
    expect(await found("status=refused")).toEqual([]);
    expect(await found("project_key=other")).toEqual(["waiting accepted", "failed ignored"]);
    expect(await found("project_key=other&status=accepted")).toEqual(["waiting accepted"]);
    expect(await found("project_key=")).toEqual([]);
    expect(await found("unknown=1")).toHaveLength(4);
  });

  it.each([
    ["page=0", "query.page"],
    ["page=1000001", "query.page"],
    ["page=x", "query.page"],
    ["per_page=0", "query.per_page"],
    ["per_page=101", "query.per_page"],
    ["status=done", "query.status[0]"],
    ["project_key=%00", "query.project_key"],
  ])("refuses %s", async (query, location) => {
    const webhook = await hook();
    const answer = await webhook.org.member.get(`${webhook.path}?${query}`);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json.errors)).toEqual([location]);
  });

  it("keeps organizations apart", async () => {
    const [one, other] = [await hook(), await hook()];
    await deliver(app.anonymous, one, analysis());
    const { id } = await newest(one);
    expect((await other.org.member.get(other.path)).json.deliveries).toEqual([]);
    expect((await other.org.member.get(`${other.path}/${String(id)}`)).status).toBe(404);
    expect((await other.org.member.post(`${other.path}/${String(id)}/replay`)).status).toBe(404);
  });
});

describe("one delivery", () => {
  it("is shown with what was delivered", async () => {
    const webhook = await hook();
    const payload = analysis();
    await deliver(app.anonymous, webhook, payload);
    const listed = await newest(webhook);
    const { status, json } = await webhook.org.member.get(`${webhook.path}/${String(listed["id"])}`);
    expect(status).toBe(200);
    expect(json).toEqual({ ...listed, payload });
  });

  it.each(["x", "00000000-0000-0000-0000-00000000", "%20"])("%s is not found", async (id) => {
    const webhook = await hook();
    for (const answer of [
      await webhook.org.member.get(`${webhook.path}/${id}`),
      await webhook.org.member.post(`${webhook.path}/${id}/replay`),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.json).toEqual({
        message: `Delivery '${decodeURIComponent(id)}' does not exist for organization '${webhook.org.name}'`,
      });
    }
  });
});

describe("replay", () => {
  it("processes the same body again as a new delivery, whose attestation is the newest", async () => {
    const webhook = await hook();
    const payload = analysis();
    await deliver(app.anonymous, webhook, payload);
    await runPendingJobs(app);
    const original = await newest(webhook);
    const answer = await webhook.org.admin.post(`${webhook.path}/${String(original["id"])}/replay`);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      status: "accepted",
      replay_of: original["id"],
      task_id: payload["taskId"],
      body_sha256: original["body_sha256"],
      reported_by: "Quality webhook",
      attestation_id: null,
    });
    await runPendingJobs(app);
    const replayed = await newest(webhook);
    expect(replayed).toMatchObject({ id: answer.json.id, status: "processed" });
    const { json } = await webhook.org.reader.get(
      `/attestations/${webhook.org.name}/shop-api/trail/${String(payload["revision"])}/sonar`,
    );
    expect(json.map(({ attestation_id }: Json) => attestation_id)).toEqual([
      original["attestation_id"],
      replayed["attestation_id"],
    ]);
  });

  it("mends a refusal once the artifact is there", async () => {
    const webhook = await hook();
    const fingerprint = "b".repeat(64);
    const parameters = { flow: "ci", trail: "run", artifact_fingerprint: fingerprint };
    await deliver(app.anonymous, webhook, analysisWith(parameters));
    await runPendingJobs(app);
    const refused = await newest(webhook);
    expect(refused["status"]).toBe("refused");
    await webhook.org.member.post(`/artifacts/${webhook.org.name}/ci`, {
      fingerprint,
      filename: "f",
      git_commit: commitSha(),
      build_url: "https://ci.example.org/1",
      commit_url: "https://git.example.org/1",
      trail_name: "run",
    });
    await webhook.org.member.post(`${webhook.path}/${String(refused["id"])}/replay`);
    await runPendingJobs(app);
    expect(await newest(webhook)).toMatchObject({ status: "processed", replay_of: refused["id"] });
    const still = await webhook.org.member.get(`${webhook.path}/${String(refused["id"])}`);
    expect(still.json.status).toBe("refused");
  });

  it("goes by the present settings", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis({ project: { key: ":", url: "x" } }));
    const ignored = await newest(webhook);
    const again = await webhook.org.member.post(`${webhook.path}/${String(ignored["id"])}/replay`);
    expect(again.json).toMatchObject({ status: "ignored", reason: ignored["reason"] });
    await webhook.org.member.put(`/integrations/${webhook.org.name}/quality`, { flow_name_prefix: "p" });
    const mended = await webhook.org.member.post(`${webhook.path}/${String(ignored["id"])}/replay`);
    expect(mended.json).toMatchObject({ status: "accepted", flow_name: "p-" });
  });

  it("needs the integration to be on", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    const { id } = await newest(webhook);
    await webhook.org.member.delete(`/integrations/${webhook.org.name}/quality`);
    const answer = await webhook.org.member.post(`${webhook.path}/${String(id)}/replay`);
    expect(answer.status).toBe(404);
    expect(answer.json.message).toMatch(/^Integration 'quality' is not switched on/);
  });

  it("is audited as the caller's", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    const { id } = await newest(webhook);
    const { json } = await webhook.org.member.post(`${webhook.path}/${String(id)}/replay`);
    const { rows } = await app.deps.db.pool.query(
      "select actor_kind, resource_type, resource from audit_log where org_id = $1 and action = 'replay_quality_delivery'",
      [webhook.org.id],
    );
    expect(rows).toEqual([{ actor_kind: "user", resource_type: "quality_delivery", resource: json.id }]);
  });
});

describe("the job", () => {
  it("exists exactly if the delivery does", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    await deliver(app.anonymous, webhook, analysis({ status: "FAILED" }));
    const jobs = await waitingJobs(webhook.org);
    expect(jobs).toEqual([{ org_id: webhook.org.id, delivery_id: expect.any(String) }]);
  });

  it("run again after it is done does nothing", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    const [job] = await waitingJobs(webhook.org);
    for (let times = 0; times < 3; times += 1) await processDelivery(app.deps, job!, false);
    await runPendingJobs(app);
    expect(await count("attestations", webhook.org)).toBe(1);
    expect(await newest(webhook)).toMatchObject({ status: "processed" });
  });

  it("run by several workers at once records once", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    const [job] = await waitingJobs(webhook.org);
    await Promise.all(Array.from({ length: 6 }, () => processDelivery(app.deps, job!, false)));
    expect(await count("attestations", webhook.org)).toBe(1);
  });

  it("makes one flow and one trail for deliveries processed at the same moment", async () => {
    const webhook = await hook();
    const revision = commitSha();
    for (let index = 0; index < 8; index += 1)
      await deliver(app.anonymous, webhook, analysis({ revision, taskId: taskId() }));
    const jobs = await waitingJobs(webhook.org);
    await Promise.all(jobs.map((job) => processDelivery(app.deps, job, false)));
    expect(await count("flows", webhook.org)).toBe(1);
    expect(await count("trails", webhook.org)).toBe(1);
    expect(await count("attestations", webhook.org)).toBe(8);
  });

  it("taken along by a worker that was killed is given back after a while", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    const hold = (seconds: number) =>
      app.deps.db.pool.query(
        `update graphile_worker._private_jobs set locked_by = 'killed', locked_at = now() - make_interval(secs => $2)
         where payload->>'org_id' = $1`,
        [webhook.org.id, seconds],
      );
    await hold(60);
    await releaseStrangers(app.deps.db);
    await runPendingJobs(app);
    expect(await newest(webhook)).toMatchObject({ status: "accepted" });
    await hold(121);
    await releaseStrangers(app.deps.db);
    await runPendingJobs(app);
    expect(await newest(webhook)).toMatchObject({ status: "processed" });
  });

  it("of a delivery that is not there does nothing", async () => {
    const { org } = await hook();
    await processDelivery(app.deps, { org_id: org.id, delivery_id: app.deps.ids.next() }, false);
    expect(await count("attestations", org)).toBe(0);
  });

  /** Makes the database refuse attestations of an organization, which is nobody's mistake and may pass. */
  async function withBrokenAttestations(org: TestOrg, work: () => Promise<void>): Promise<void> {
    const { pool } = app.deps.db;
    await pool.query(
      `alter table attestations add constraint broken check (org_id <> '${org.id}') not valid`,
    );
    try {
      await work();
    } finally {
      await pool.query("alter table attestations drop constraint broken");
    }
  }

  it("that fails is tried again, and leaves nothing behind until it succeeds", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    const [job] = await waitingJobs(webhook.org);
    await withBrokenAttestations(webhook.org, async () => {
      await runPendingJobs(app);
      expect(await newest(webhook)).toMatchObject({ status: "accepted" });
      for (const table of ["flows", "trails", "attestations"])
        expect(await count(table, webhook.org)).toBe(0);
    });
    expect(await waitingJobs(webhook.org)).toEqual([job]);
    await processDelivery(app.deps, job!, false);
    expect(await newest(webhook)).toMatchObject({ status: "processed" });
  });

  it("that fails for the last time refuses the delivery", async () => {
    const webhook = await hook();
    await deliver(app.anonymous, webhook, analysis());
    await app.deps.db.pool.query(
      "update graphile_worker._private_jobs set attempts = max_attempts - 1 where payload->>'org_id' = $1",
      [webhook.org.id],
    );
    await withBrokenAttestations(webhook.org, () => runPendingJobs(app));
    expect(await newest(webhook)).toMatchObject({
      status: "refused",
      reason: "Processing failed repeatedly, see the server's log",
    });
    expect(await count("flows", webhook.org)).toBe(0);
    expect(await waitingJobs(webhook.org)).toEqual([]);
    expect(app.logged()).toContain("could not process a quality delivery");
  });
});
