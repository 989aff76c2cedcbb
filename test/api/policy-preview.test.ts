import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { Policy } from "../../src/domain/policy/model.ts";
import { parsePolicy } from "../../src/domain/policy/parse.ts";
import { sizeOfPolicy } from "../../src/domain/policy/size.ts";
import { preview as previewOf } from "../../src/modules/runtime/changes/policies/preview-service.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import type { Answer, Client } from "../support/client.ts";
import { auditedResources, createEnvironment } from "../support/environments.ts";
import { putFlow, putTrail } from "../support/flows.ts";
import { policyText, samplePolicy } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { statementNamesOf } from "../support/statements.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function preview(
  client: Client,
  org: TestOrg,
  data: unknown = {},
  text: string = samplePolicy,
): Promise<Answer> {
  return client.request("POST", `/policies/${org.name}/preview`, {
    parts: { data_json: JSON.stringify(data), policy_file: { filename: "policy.yaml", content: text } },
  });
}

interface Past {
  org: TestOrg;
  /** When each snapshot of `prod` was made. */
  times: number[];
}

/** In `prod` ran: built and bought; built; built and other. In `test`: built. `empty` was never reported on. */
async function withPast(): Promise<Past> {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" });
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  const body = artifactBody({ fingerprint: fingerprintOf("built"), filename: "built", trail_name: "run" });
  await org.member.post(`/artifacts/${org.name}/web-ci`, body);
  for (const name of ["prod", "test", "empty"]) await createEnvironment(org, name, { type: "server" });
  await reportServer(org, "test", ["built"]);
  const times: number[] = [];
  for (const running of [["built", "bought"], ["built"], ["built", "other"]]) {
    app.clock.advance(100);
    await reportServer(org, "prod", running);
    times.push(app.clock.now());
  }
  app.clock.advance(100);
  return { org, times };
}

const reasons = [{ rule: "provenance", message: "No flow knows this artifact" }];

function seen({ json }: Answer): unknown {
  return json.environments.map(({ name, snapshots }: Answer["json"]) => [
    name,
    snapshots.map((each: Answer["json"]) => [each.index, each.would_be_compliant, each.non_compliant_count]),
  ]);
}

describe("POST /policies/{org}/preview", () => {
  it("tells of what runs now, in every environment that was reported on", async () => {
    const { org, times } = await withPast();
    const answer = await preview(org.reader, org);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      compliant: false,
      environments: [
        {
          name: "prod",
          type: "server",
          snapshots: [
            {
              index: 3,
              timestamp: expect.closeTo(times[2]!, 0),
              compliant: null,
              would_be_compliant: false,
              non_compliant_count: 1,
            },
          ],
          non_compliant_artifacts: [
            {
              name: "other",
              fingerprint: fingerprintOf("other"),
              reasons,
              snapshots: [{ first_index: 3, last_index: 3 }],
            },
          ],
        },
        {
          name: "test",
          type: "server",
          snapshots: [
            expect.objectContaining({ index: 1, would_be_compliant: true, non_compliant_count: 0 }),
          ],
          non_compliant_artifacts: [],
        },
      ],
    });
  });

  it("tells of what ran, from the snapshot in force at the start", async () => {
    const { org, times } = await withPast();
    const all = await preview(org.reader, org, { environments: ["prod"], start_ts: 0 });
    expect(seen(all)).toEqual([["prod", [[1, false, 1], [2, true, 0], [3, false, 1]]]]); // prettier-ignore
    const artifacts = all.json.environments[0].non_compliant_artifacts;
    expect(artifacts.map(({ name, snapshots }: Answer["json"]) => [name, snapshots])).toEqual([
      ["bought", [{ first_index: 1, last_index: 1 }]],
      ["other", [{ first_index: 3, last_index: 3 }]],
    ]);
    const middle = { environments: ["prod"], start_ts: times[0]! + 50, end_ts: times[1]! + 50 };
    expect(seen(await preview(org.reader, org, middle))).toEqual([["prod", [[1, false, 1], [2, true, 0]]]]); // prettier-ignore
    const moment = { environments: ["prod"], end_ts: times[1]! + 50 };
    expect(seen(await preview(org.reader, org, moment))).toEqual([["prod", [[2, true, 0]]]]);
    expect((await preview(org.reader, org, { end_ts: times[0]! - 1000 })).json).toEqual({
      compliant: true,
      environments: [],
    });
  });

  it("counts what is allowed, and takes archived environments by name", async () => {
    const { org } = await withPast();
    const entry = { artifact_name: "other", artifact_fingerprint: fingerprintOf("other"), description: "" };
    await org.member.put(`/allowlists/${org.name}/prod`, entry);
    expect((await preview(org.reader, org)).json.compliant).toBe(true);
    await org.admin.put(`/environments/${org.name}/test/archive`);
    const gone = await preview(org.reader, org, { environments: ["test"] });
    expect([gone.status, gone.json.message]).toEqual([404, expect.stringContaining("has been archived")]);
    expect(seen(await preview(org.reader, org))).toEqual([["prod", [[4, true, 0]]]]);
  });

  it("stores nothing", async () => {
    const { org } = await withPast();
    const before = await auditedResources(org, app);
    const state = (await org.reader.get(`/environments/${org.name}/prod`)).json;
    await preview(org.member, org, { start_ts: 0 });
    expect(await auditedResources(org, app)).toEqual(before);
    expect((await org.reader.get(`/environments/${org.name}/prod`)).json).toEqual(state);
    expect((await org.reader.get(`/policies/${org.name}`)).json).toEqual([]);
  });

  it.each([
    [{ environments: "prod" }, "environments", "Input should be a valid list [input: prod]"],
    [{ start_ts: -1 }, "start_ts", "Input should be greater than or equal to 0 [input: -1]"],
    [{ end_ts: 1e300 }, "end_ts", expect.stringContaining("less than or equal to 253402300799")],
    [{ start_ts: 5, end_ts: 4 }, "start_ts", "Input should not be after end_ts [input: 5]"],
    [{ more: 1 }, "more", "Extra inputs are not permitted [input: 1]"],
  ])("refuses %j", async (data, place, text) => {
    const org = await app.org();
    const { status, json } = await preview(org.reader, org, data);
    expect([status, json.errors]).toEqual([400, { [place]: text }]);
  });

  it("refuses what PUT would refuse, with the same places", async () => {
    const org = await app.org();
    const bad = await preview(org.reader, org, {}, policyText("provenance: {required: 7}"));
    expect([bad.status, Object.keys(bad.json.errors)]).toEqual([
      400,
      ["policy_file.artifacts.provenance.required"],
    ]);
    const control = policyText("attestations: [{type: decision, for_control: C-1}]");
    const unknown = await preview(org.reader, org, {}, control);
    expect([unknown.status, Object.keys(unknown.json.errors)]).toEqual([
      400,
      ["policy_file.artifacts.attestations[0].for_control"],
    ]);
    const none = await org.reader.request("POST", `/policies/${org.name}/preview`, {
      parts: { data_json: "{}" },
    });
    expect([none.status, none.json.errors]).toEqual([400, { policy_file: "Field required [input: None]" }]);
    const nowhere = await preview(org.reader, org, { environments: ["x"] });
    expect(nowhere.status).toBe(404);
  });

  it("refuses more than can be judged at once", async () => {
    const { org } = await withPast();
    await reportServer(
      org,
      "empty",
      Array.from({ length: 2001 }, (_, n) => `a${n}`),
    );
    const rules = Array.from({ length: 500 }, () => "  - {type: junit}");
    const { status, json } = await preview(org.reader, org, {}, policyText("attestations:", ...rules));
    expect([status, json.message]).toEqual([400, expect.stringContaining("name fewer environments")]);
  });

  it("refuses what one environment could not be judged by, before what flows know is read", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    const names = Array.from({ length: 400 }, (_, n) => `${n}-`.padEnd(300, "y"));
    expect((await reportServer(org, "prod", names)).status).toBe(201);
    const tries = Array.from({ length: 4 }, () => "matches(artifact.name, 'x{960}')").join(" or ");
    const rules = `[&r {type: junit, if: "\${{ ${tries} }}"}${",*r".repeat(11)}]`;
    const statements = await statementNamesOf(app, async () => {
      const { status, json } = await preview(org.reader, org, {}, policyText(`attestations: ${rules}`));
      expect([status, json.message]).toEqual([
        400,
        expect.stringMatching(
          /^A policy cannot be tried on what ran: the regular expressions of its policies times the names they are tried on are 5\d{9}, more than the 5000000000 that are possible at once: name fewer environments or a shorter time$/,
        ),
      ]);
    });
    expect(statements).toContain("runtime-facts-counted");
    expect(statements).not.toContain("runtime-facts-wanted");
  });

  it("refuses an artifact that too many flows know for one that is judged in one go", async () => {
    const org = await app.org();
    await createEnvironment(org, "prod", { type: "server" });
    await reportServer(org, "prod", ["built"]);
    const flows = Array.from({ length: 101 }, (_, n) => `ci-${n}`);
    for (const name of flows) {
      await putFlow(org.member, org.name, { name });
      const body = artifactBody({
        fingerprint: fingerprintOf("built"),
        filename: "built",
        trail_name: "run",
      });
      expect((await org.member.post(`/artifacts/${org.name}/${name}`, body)).status).toBe(201);
    }
    const rules = `[&r {type: junit}${",*r".repeat(499)}]`;
    const { status, json } = await preview(org.reader, org, {}, policyText(`attestations: ${rules}`));
    expect([status, json.message]).toEqual([
      400,
      expect.stringContaining("500 rules times 101 flows of an artifact are 50500, more than the 50000"),
    ]);
  });

  it("judges without a connection", async () => {
    const { org } = await withPast();
    const { artifacts } = parsePolicy(policyText("attestations: [{type: junit}]"));
    let held = 0;
    let heldWhenJudged: number[] = [];
    const rule = Object.defineProperty({ ...artifacts.attestations[0]! }, "must_be_compliant", {
      enumerable: true,
      get: () => heldWhenJudged.push(held) > 0,
    });
    const policy: Policy = { schema_version: "1", artifacts: { ...artifacts, attestations: [rule] } };
    // It is remembered: what reads the rule from now on judges.
    sizeOfPolicy(policy);
    heldWhenJudged = [];
    const borrow = async () => {
      const borrowed = await app.deps.db.borrow();
      held += 1;
      const release = () => {
        held -= 1;
        borrowed.release();
      };
      return { ...borrowed, release };
    };
    const deps = { ...app.deps, db: { ...app.deps.db, borrow } };
    const previews = await previewOf(deps, { id: org.id, name: org.name }, { policy });
    expect(previews.map(({ name }) => name)).toEqual(["prod", "test"]);
    expect(new Set(heldWhenJudged)).toEqual(new Set([0]));
  });

  it("is not for strangers, even where everybody may read", async () => {
    const org = await app.org({ public: true });
    expect((await preview(app.anonymous, org)).status).toBe(401);
  });
});
