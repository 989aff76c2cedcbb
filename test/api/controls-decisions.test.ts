import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { uuid } from "../../src/db/row.ts";
import { query } from "../../src/db/sql.ts";
import { transaction } from "../../src/db/transaction.ts";
import { wireId } from "../../src/lib/ids.ts";
import { recordAttestation } from "../../src/modules/process/attestations/service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { createControl, unknownControl } from "../support/controls.ts";
import { putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  org = await app.org();
});

interface Decision {
  control: string;
  flow?: string;
  fingerprint?: string;
  is_compliant?: boolean;
  at?: number;
}

/** Records a decision on a trail called `t`. @returns its id. */
async function decide(decision: Decision): Promise<string> {
  const { control, flow = "f", fingerprint, is_compliant = true, at = 1_786_000_000 } = decision;
  expect((await putTrail(org.member, `${org.name}/${flow}`, { name: "t" })).status).toBeLessThan(300);
  const trail = await app.deps.db.one(query({ id: uuid, flow_id: uuid })`
    select t.id, t.flow_id from trails t join flows f on f.org_id = t.org_id and f.id = t.flow_id
    where t.org_id = ${org.id} and f.name = ${flow}`);
  const to = { org, flow: { id: trail.flow_id, name: flow }, trail: { id: trail.id, name: "t" } };
  const id = await transaction(app.deps.db, (tx) =>
    recordAttestation({ ids: app.deps.ids, clock: { now: () => at } }, tx, to, {
      name: "review-decision",
      type: "system:decision",
      is_compliant,
      type_data: { attestation_data: { is_compliant } },
      control_identifier: control,
      ...(fingerprint === undefined ? {} : { artifact_fingerprint: fingerprint }),
      description: "why",
      origin_url: "https://ci.example.com/7",
      reported_by: "ci-bot",
    }),
  );
  return wireId(id);
}

async function listed(query = "", control = "CTL-7"): Promise<string[]> {
  const answer = await org.reader.get(`/controls/${org.name}/${control}/decisions${query}`);
  expect([answer.status, answer.json.message]).toEqual([200, undefined]);
  return answer.json.decisions.map(({ decision_id }: { decision_id: string }) => decision_id);
}

describe("GET /controls/{org}/{identifier}/decisions", () => {
  it("lists where, on what and how it was decided, newest first", async () => {
    const fingerprint = fingerprintOf("web");
    for (const filename of ["old", "web:1.4"])
      await org.member.post(
        `/artifacts/${org.name}/f`,
        artifactBody({ fingerprint, filename, trail_name: "t" }),
      );
    const first = await decide({ control: "CTL-7", at: 1_786_000_000.25 });
    await createControl(org, "CTL-7");
    await org.admin.put(`/controls/${org.name}/CTL-7`, { name: "Peer review" });
    const second = await decide({
      control: "CTL-7",
      fingerprint,
      is_compliant: false,
      at: 1_786_000_001,
    });
    await org.admin.put(`/controls/${org.name}/CTL-7`, { name: "Review by peers" });
    await decide({ control: "CTL-8" });
    const { json: flow } = await org.reader.get(`/flows/${org.name}/f`);
    const { json } = await org.reader.get(`/controls/${org.name}/CTL-7/decisions`);
    expect(json).toMatchObject({ page: 1, per_page: 15, total_pages: 1, total_count: 2 });
    const both = {
      control: "CTL-7",
      attestation_name: "review-decision",
      flow_id: flow.id,
      flow_name: "f",
      trail_name: "t",
      reported_by: "ci-bot",
    };
    const page = `http://waybill.test/${org.name}/flows/f/trails/t?attestation_id=`;
    expect(json.decisions).toEqual([
      {
        ...both,
        decision_id: second,
        control_version: 2,
        is_compliant: false,
        artifact_fingerprint: fingerprint,
        artifact_name: "web:1.4",
        created_at: 1_786_000_001,
        html_url: page + second,
      },
      {
        ...both,
        decision_id: first,
        control_version: null,
        is_compliant: true,
        artifact_fingerprint: null,
        artifact_name: null,
        created_at: 1_786_000_000.25,
        html_url: page + first,
      },
    ]);
  });

  it("filters by verdict, time and flow, and pages", async () => {
    await createControl(org, "CTL-7");
    const [a, b, c] = [
      await decide({ control: "CTL-7", at: 100.5 }),
      await decide({ control: "CTL-7", at: 200, flow: "g", is_compliant: false }),
      await decide({ control: "CTL-7", at: 300, flow: "h" }),
    ];
    const flowId = async (name: string) => (await org.reader.get(`/flows/${org.name}/${name}`)).json.id;
    const [f, g] = [await flowId("f"), await flowId("g")];
    expect(await listed("?sort_direction=asc")).toEqual([a, b, c]);
    expect(await listed("?is_compliant=true")).toEqual([c, a]);
    expect(await listed("?is_compliant=false")).toEqual([b]);
    expect(await listed("?from_timestamp=100.5&to_timestamp=200")).toEqual([b, a]);
    expect(await listed("?from_timestamp=100.6")).toEqual([c, b]);
    expect(await listed("?to_timestamp=199.9")).toEqual([a]);
    expect(await listed("?from_timestamp=300&to_timestamp=100")).toEqual([]);
    expect(await listed(`?flow_id=${f}`)).toEqual([a]);
    expect(await listed(`?flow_id=${f}&flow_id=${g}`)).toEqual([b, a]);
    expect(await listed(`?flow_id=${f}&is_compliant=false`)).toEqual([]);
    expect(await listed("?flow_id=f")).toEqual([]);
    expect(await listed("?per_page=2")).toEqual([c, b]);
    expect(await listed("?per_page=2&page=2")).toEqual([a]);
    const { json } = await org.reader.get(`/controls/${org.name}/CTL-7/decisions?per_page=2&page=9`);
    expect(json).toMatchObject({ decisions: [], page: 9, total_pages: 2, total_count: 3 });
  });

  it("orders decisions of one moment by their ids", async () => {
    await createControl(org, "CTL-7");
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) ids.push(await decide({ control: "CTL-7" }));
    expect(await listed("?sort_direction=asc")).toEqual(ids);
    expect(await listed()).toEqual(ids.toReversed());
  });

  it.each(["per_page=101", "is_compliant=x", "from_timestamp=x", "to_timestamp=-1", "sort_direction=up"])(
    "refuses %s",
    async (query) => {
      await createControl(org, "CTL-7");
      expect((await org.reader.get(`/controls/${org.name}/CTL-7/decisions?${query}`)).status).toBe(400);
    },
  );

  it("is empty without decisions, and 404 without the control even when one was decided on", async () => {
    await createControl(org, "CTL-7");
    expect(await listed()).toEqual([]);
    const id = await decide({ control: "CTL-8" });
    for (const rest of ["", `/${id}`]) {
      const answer = await org.reader.get(`/controls/${org.name}/CTL-8/decisions${rest}`);
      expect([answer.status, answer.json]).toEqual(unknownControl(org, "CTL-8"));
    }
    await createControl(org, "CTL-8");
    expect(await listed("", "CTL-8")).toEqual([id]);
  });
});

describe("GET /controls/{org}/{identifier}/decisions/{decision_id}", () => {
  it("shows one with all that was said", async () => {
    await createControl(org, "CTL-7");
    const id = await decide({ control: "CTL-7" });
    const [entry] = (await org.reader.get(`/controls/${org.name}/CTL-7/decisions`)).json.decisions;
    const answer = await org.reader.get(`/controls/${org.name}/CTL-7/decisions/${id}`);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        ...entry,
        description: "why",
        origin_url: "https://ci.example.com/7",
        external_urls: null,
        annotations: null,
        user_data: {},
      },
    ]);
  });

  it("is 404 for other ids", async () => {
    await createControl(org, "CTL-7");
    await createControl(org, "CTL-8");
    const other = await decide({ control: "CTL-8" });
    for (const id of [other, "x", "00000000-0000-7000-8000-00000000"]) {
      const answer = await org.reader.get(`/controls/${org.name}/CTL-7/decisions/${id}`);
      expect([answer.status, answer.json]).toEqual([
        404,
        { message: `Decision '${id}' on control 'CTL-7' does not exist in org '${org.name}'` },
      ]);
    }
  });
});
