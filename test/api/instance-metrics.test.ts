import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createOrgLabel } from "../../src/modules/kernel/metrics.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody } from "../support/artifacts.ts";
import { createEnvironment } from "../support/environments.ts";
import { readMetrics } from "../support/metrics.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

describe("metrics of the instance", () => {
  it("say how the pool, the disks and the schema are", async () => {
    const value = await readMetrics(app);
    expect(value("waybill_database_pool_max")).toBe(app.deps.db.pool.options.max);
    expect(value("waybill_database_pool_waiting")).toBe(0);
    for (const of of ["data", "evidence"]) {
      const [free, size] = [
        value(`waybill_disk_free_bytes{of="${of}"}`),
        value(`waybill_disk_size_bytes{of="${of}"}`),
      ];
      expect(free).toBeGreaterThan(0);
      expect(size).toBeGreaterThan(free!);
    }
    expect(value("waybill_migrations_pending")).toBe(0);
    expect(value("waybill_environments_silent")).toBe(0);
    expect(value('waybill_table_bytes{table="organizations"}')).toBeGreaterThan(0);
    expect(value('waybill_batch_waiting{queue="reports"}')).toBe(0);
    expect(value('waybill_batch_waiting_seconds{queue="callers"}')).toBe(0);
    const text = (await app.anonymous.request("GET", "root:/metrics")).text;
    expect(text).toMatch(/^waybill_build_info\{version="\d[^"]*",node="\d[^"]*"\} 1$/m);
    for (const part of ["min", "max", "mean", "stddev", "p50", "p90", "p99"])
      expect(text).toMatch(new RegExp(`^nodejs_eventloop_lag_${part}_seconds [\\d.e-]+$`, "m"));
  });

  it("count connections that are taken", async () => {
    const { pool } = app.deps.db;
    const taken = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
    expect((await readMetrics(app))("waybill_database_pool_used")).toBeGreaterThanOrEqual(3);
    for (const client of taken) client.release();
  });

  it("count what was reported by kind, and not what was refused", async () => {
    const before = await readMetrics(app);
    expect(before('waybill_reports_total{kind="attestation_sonar"}')).toBe(0);
    const path = `/artifacts/${org.name}/web`;
    expect((await org.member.post(path, artifactBody({ trail_name: "t1" }))).status).toBe(201);
    expect((await org.member.post(path, {})).status).toBe(400);
    await createEnvironment(org, "prod", { type: "server" });
    const after = await readMetrics(app);
    expect(after('waybill_reports_total{kind="artifact"}')).toBe(1);
    expect(after('waybill_reports_total{kind="snapshot_k8s"}')).toBe(0);
  });

  it("count keys that will end, each in all that it ends within", async () => {
    const expiring = async (): Promise<(number | undefined)[]> => {
      const value = await readMetrics(app);
      return [1, 7, 30].map((days) => value(`waybill_api_keys_expiring{days="${days}"}`));
    };
    expect(await expiring()).toEqual([0, 0, 0]);
    const other = await startTestApp({}, { beside: app });
    const day = 86_400;
    const expires = (days: number) => `to_timestamp(${app.clock.now() + days * day})`;
    const keys = await app.deps.db.pool.query<{ id: string }>("select id from api_keys order by id limit 3");
    const [one, two, three] = keys.rows.map(({ id }) => id);
    await app.deps.db.pool.query(`
      update api_keys set expires_at = case id when '${one}' then ${expires(0.5)}
        when '${two}' then ${expires(6)} else ${expires(-1)} end
      where id in ('${one}', '${two}', '${three}')`);
    const value = await readMetrics(other);
    expect([1, 7, 30].map((days) => value(`waybill_api_keys_expiring{days="${days}"}`))).toEqual([1, 2, 2]);
    await other.close();
  });

  it("count what organizations do when that is switched on", async () => {
    const counting = await startTestApp({ WAYBILL_METRICS_BY_ORG: "1" });
    const own = await counting.org();
    await own.member.post(`/artifacts/${own.name}/web`, artifactBody({ trail_name: "t1" }));
    const value = await readMetrics(counting);
    expect(value(`waybill_reports_total{kind="artifact",org="${own.name}"}`)).toBe(1);
    const data = { attestation_name: "unit-test", is_compliant: true };
    const sent = await own.member.request("POST", `/attestations/${own.name}/web/trail/t1/generic`, {
      parts: {
        data_json: JSON.stringify(data),
        attachment_file: { filename: "a.txt", content: "e".repeat(1_000) },
      },
    });
    expect(sent.status).toBe(201);
    expect((await readMetrics(counting))(`waybill_evidence_bytes_total{org="${own.name}"}`)).toBe(1_000);
    await counting.close();
  });

  it("name two hundred organizations, and further ones together", () => {
    const few = createOrgLabel(true, 2);
    expect(["a", "b", "c", "a", undefined].map((name) => few.of(name).org)).toEqual([
      "a",
      "b",
      "(other)",
      "a",
      undefined,
    ]);
    const many = createOrgLabel(true);
    const names = new Set(Array.from({ length: 500 }, (_, at) => many.of(`org-${at}`).org));
    expect(names.size).toBe(201);
    expect(createOrgLabel(false)).toMatchObject({ names: [] });
    expect(createOrgLabel(false).of("a")).toEqual({});
  });

  it("count requests that were refused because there were too many", async () => {
    const limited = await startTestApp({ WAYBILL_RATE_LIMIT_PER_KEY: "2" });
    const user = await limited.user();
    const statuses: number[] = [];
    for (let time = 0; time < 4; time += 1) statuses.push((await user.client.get("/user")).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    const value = await readMetrics(limited);
    expect(value('waybill_rate_limited_total{limit="key"}')).toBe(2);
    expect(value('waybill_rate_limited_total{limit="address"}')).toBe(0);
    await limited.close();
  });
});
