import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { attest } from "../support/attestations.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { statementsOf } from "../support/statements.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

const day = 86_400;
const template =
  "version: 1\ntrail:\n  attestations: [{name: review, type: generic}, {name: scan, type: generic}]\n";

const statistics = (query = "", flow = "web") =>
  org.reader.get(`/flows/${org.name}/${flow}/statistics${query}`);

async function begin(name: string): Promise<void> {
  expect((await putTrail(org.member, `${org.name}/web`, { name })).status).toBe(201);
}

async function report(trail: string, attestation_name: string, is_compliant = true): Promise<void> {
  const body = { attestation_name, is_compliant };
  const answer = await attest(org.member, { org: org.name, flow: "web", trail }, "generic", body);
  expect(answer.status).toBe(201);
}

/** Begins a trail that complies after so many seconds, or thereabouts. */
async function complyAfter(name: string, seconds: number): Promise<void> {
  await begin(name);
  await report(name, "review");
  app.clock.advance(seconds);
  await report(name, "scan");
}

describe("GET /flows/{org}/{flow}/statistics", () => {
  it("counts trails by state, attestations by what became of them, and tells how long it took", async () => {
    await putFlow(org.member, org.name, { name: "web" }, template);
    const before = app.clock.now();
    for (const [index, seconds] of [100, 200, 300, 400, 1000].entries())
      await complyAfter(`t${index}`, seconds);
    await begin("open");
    await report("open", "review");
    await begin("bad");
    await report("bad", "review", false);
    await report("bad", "extra");
    await begin("new");

    const { status, json } = await statistics(`?start_ts=${before}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      flow_name: "web",
      start_ts: before,
      bucket: "day",
      trail_count: 8,
      truncated: false,
      attestations: [
        { attestation_name: "extra", reported: 1, failing: 0, missing: 0 },
        { attestation_name: "review", reported: 7, failing: 1, missing: 1 },
        { attestation_name: "scan", reported: 5, failing: 0, missing: 3 },
      ],
    });
    const { trail_count, p50, p90 } = json.seconds_to_compliant;
    expect(trail_count).toBe(5);
    expect(p50).toBeCloseTo(300, -1);
    expect(p90).toBeCloseTo(760, -1);
    const sum = (key: string) =>
      json.buckets.reduce((total: number, bucket: Record<string, number>) => total + bucket[key]!, 0);
    expect([sum("compliant"), sum("non_compliant"), sum("incomplete")]).toEqual([5, 1, 2]);

    // Lists find what is counted.
    for (const { attestation_name: name, failing, missing } of json.attestations)
      for (const [filter, count] of Object.entries({ failing, missing })) {
        const list = await org.reader.get(`/trails/${org.name}/web?${filter}=${name}`);
        expect(list.json.pagination.total, `${filter} ${name}`).toBe(count);
      }
  });

  it("puts trails into the day and week in which they began, and has those without any", async () => {
    await putFlow(org.member, org.name, { name: "web" }, template);
    const begun: number[] = [];
    for (const name of ["a", "b", "c"]) {
      await begin(name);
      begun.push((await org.reader.get(`/trails/${org.name}/web/${name}`)).json.created_at);
      app.clock.advance(3 * day);
    }
    for (const bucket of ["day", "week"]) {
      const { json } = await statistics(`?bucket=${bucket}&start_ts=${begun[0]}`);
      for (const at of begun) {
        const inside = json.buckets.find(
          ({ from, to }: { from: number; to: number }) => from <= at && at < to,
        );
        expect(inside.incomplete).toBeGreaterThan(0);
      }
      const counts = json.buckets.map(({ incomplete }: { incomplete: number }) => incomplete);
      expect(counts.reduce((sum: number, count: number) => sum + count)).toBe(3);
      if (bucket === "day") expect(counts.filter((count: number) => count === 0).length).toBeGreaterThan(5);
    }
    // Both ends are included.
    const { json } = await statistics(`?start_ts=${begun[1]}&end_ts=${begun[2]}`);
    expect([json.trail_count, json.searched_since]).toEqual([2, begun[1]]);
    expect(json.buckets.at(-1)).toMatchObject({ to: begun[2], incomplete: 1 });
    expect((await statistics(`?start_ts=${begun[0]! + 1}&end_ts=${begun[0]! + 2}`)).json.trail_count).toBe(0);
  });

  it("counts from the last time that a trail came to comply", async () => {
    await putFlow(org.member, org.name, { name: "web" }, template);
    await complyAfter("t", 100);
    await report("t", "scan", false);
    app.clock.advance(1000);
    await report("t", "scan");
    const { p50 } = (await statistics()).json.seconds_to_compliant;
    expect(p50).toBeCloseTo(1100, -1);
  });

  it("says how it is with a flow that has no trails", async () => {
    await putFlow(org.member, org.name, { name: "web" });
    const { json } = await statistics("?bucket=week");
    expect(json).toMatchObject({
      trail_count: 0,
      truncated: false,
      searched_since: null,
      attestations: [],
      seconds_to_compliant: { trail_count: 0, p50: null, p90: null },
    });
    expect(json.buckets.length).toBeGreaterThanOrEqual(4);
    expect(json.end_ts - json.start_ts).toBe(28 * day);
  });

  it("looks at the newest trails and says when there are more", async () => {
    await putFlow(org.member, org.name, { name: "web" }, template);
    await begin("t");
    await app.deps.db.pool.query(
      `with copies as (select gen_random_uuid() as id, n from generate_series(1, 10000) as n), made as (
         insert into trails (org_id, id, flow_id, name, template, template_id, created_at, created_by_name, last_modified_at)
         select t.org_id, c.id, t.flow_id, 'copy-' || c.n, t.template, t.template_id,
           t.created_at - c.n * interval '1 s', t.created_by_name, t.last_modified_at
         from trails t cross join copies c where t.org_id = $1)
       insert into trail_outcomes select o.org_id, c.id, o.state, o.compliant_since, o.reported_names, o.failing_names,
         o.missing_names from trail_outcomes o cross join copies c where o.org_id = $1`,
      [org.id],
    );
    const { json } = await statistics();
    expect([json.trail_count, json.truncated]).toEqual([10_000, true]);
    const newest = (await org.reader.get(`/trails/${org.name}/web/t`)).json.created_at;
    expect(json.searched_since).toBeCloseTo(newest - 9_999, 5);
    const texts = await statementsOf(app, () => statistics());
    expect(texts.filter((text) => !text.includes("api_keys"))).toHaveLength(2);
  });

  it("knows former names, and nobody else's trails", async () => {
    await putFlow(org.member, org.name, { name: "web" }, template);
    await begin("t");
    await org.member.put(`/flows/${org.name}/web/rename`, { new_name: "shop" });
    expect((await statistics()).json).toMatchObject({ flow_name: "shop", trail_count: 1 });
    const other = await app.org();
    await putFlow(other.member, other.name, { name: "shop" });
    const theirs = await other.reader.get(`/flows/${other.name}/shop/statistics`);
    expect(theirs.json.trail_count).toBe(0);
    expect((await statistics("", "nope")).status).toBe(404);
  });

  it("is read by anybody in a public organization", async () => {
    const open = await app.org({ public: true });
    await putFlow(open.member, open.name, { name: "web" });
    expect((await app.anonymous.get(`/flows/${open.name}/web/statistics`)).status).toBe(200);
    expect((await app.anonymous.get(`/flows/${org.name}/web/statistics`)).status).toBe(401);
  });

  it.each(["bucket=hour", "start_ts=2&end_ts=1", "start_ts=1", "end_ts=x"])("refuses %s", async (query) => {
    await putFlow(org.member, org.name, { name: "web" });
    expect((await statistics(`?${query}`)).status).toBe(400);
  });
});
