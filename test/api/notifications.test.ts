import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

import type { Tx } from "../../src/db/connect.ts";
import { transaction } from "../../src/db/transaction.ts";
import { notify } from "../../src/modules/notices/notifications/service.ts";
import { putEnv } from "../support/actions.ts";
import { type Notified, startNotified } from "../support/notified.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { runPendingJobs } from "../support/jobs.ts";
import { deliveriesOf, happen, inProd, watchFlow } from "../support/notifications.ts";
import { reportServer } from "../support/snapshots.ts";
import { isGenuine } from "../support/receiver.ts";

let notified: Notified;
let app: Notified["app"];
let receiver: Notified["receiver"];
let watched: Notified["watched"];
let fixtures: Notified["fixtures"];
let webhook: Notified["webhook"];

beforeAll(async () => {
  notified = await startNotified();
  ({ app, receiver, watched, fixtures, webhook } = notified);
});
afterAll(() => notified.stop());
beforeEach(() => notified.clear());

const artifact = { name: "web:1.4", fingerprint: "a".repeat(64) };

/** A transaction that appends the name of each method by which a statement is sent. */
function listeningTo(tx: Tx, sent: string[]): Tx {
  return new Proxy(tx, {
    get: (_, method) => {
      if (["all", "first", "one", "run", "send"].includes(String(method))) sent.push(String(method));
      return Reflect.get(tx, method);
    },
  });
}

describe("what happens in an environment", () => {
  it("is told to every target of every action that listens, signed and in full", async () => {
    const org = await watched({ targets: [webhook("/one"), webhook("/two")] });
    await putEnv(org, { name: "second", triggers: ["ON_NON_COMPLIANT_ENV"], targets: [webhook("/three")] });
    await putEnv(org, { name: "other", triggers: ["ON_EXITED_ARTIFACT"], targets: [webhook("/no")] });
    await putEnv(org, { name: "else", environments: ["stage"], targets: [webhook("/no")] });
    const facts = { snapshot: { index: 7, compliant: false }, artifact };
    const occurrence = await inProd(app, org, "ON_NON_COMPLIANT_ENV", facts);
    await happen(app, org, occurrence);
    await runPendingJobs(app);

    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/one", "/three", "/two"]);
    const { json: signing } = await org.member.get(`/actions/${org.name}/signing-secret`);
    expect(signing).toEqual({
      secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/),
      rotated_at: null,
      previous_valid_until: null,
    });
    for (const request of receiver.received) {
      expect(request.json).toEqual({
        version: "1.0",
        timestamp: String(occurrence.at),
        org: org.name,
        environment: "prod",
        event_type: "ENVIRONMENT_NON_COMPLIANT",
        description: "Environment prod became non-compliant",
        snapshot: {
          index: "7",
          status: "NON-COMPLIANT",
          html_url: `http://waybill.test/${org.name}/environments/prod/snapshots/7`,
          api_url: `http://waybill.test/api/v2/snapshots/${org.name}/prod/7`,
        },
        artifact: { ...artifact, provenance: null },
      });
      expect(request).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
      expect(isGenuine(request, signing.secret)).toBe(true);
      expect(isGenuine({ ...request, body: `${request.body} ` }, signing.secret)).toBe(false);
    }
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    const logged = [...(await deliveriesOf(org, 1)), ...(await deliveriesOf(org, 2))];
    expect(new Set(ids)).toEqual(new Set(logged.map(({ id }) => id)));
    expect(ids).toHaveLength(3);
  });

  it("costs one statement when nobody listens, and one more for each thousand or megabyte to tell", async () => {
    const org = await watched();
    const tell = async (trigger: string, times: number, name = "web"): Promise<number> => {
      const occurrence = await inProd(app, org, trigger, { artifact: { ...artifact, name } });
      const sent: string[] = [];
      await transaction(app.deps.db, (tx) =>
        notify(
          listeningTo(tx, sent),
          org.id,
          Array.from({ length: times }, () => occurrence),
        ),
      );
      return sent.length;
    };
    expect(await tell("ON_EXITED_ARTIFACT", 300)).toBe(1);
    expect(await tell("ON_COMPLIANT_ENV", 300)).toBe(2);
    expect(await tell("ON_COMPLIANT_ENV", 2001)).toBe(4);
    expect(await tell("ON_COMPLIANT_ENV", 5, "x".repeat(400_000))).toBe(3);
    expect((await org.member.get(`/actions/${org.name}/1/deliveries`)).json.total_count).toBe(2306);
    expect(await tell("ON_COMPLIANT_ENV", 0)).toBe(0);
  });

  it("is not told when it was rolled back", async () => {
    const org = await watched();
    const occurrence = await inProd(app, org, "ON_COMPLIANT_ENV");
    const failing = transaction(app.deps.db, async (tx) => {
      await notify(tx, org.id, [occurrence]);
      throw new Error("after all not");
    });
    await expect(failing).rejects.toThrow("after all not");
    await runPendingJobs(app);
    expect(receiver.received).toEqual([]);
    expect(await deliveriesOf(org)).toEqual([]);
  });

  it("is told once, each of many", async () => {
    const org = await watched({ triggers: ["ON_STARTED_ARTIFACT"] });
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    const occurrences = await Promise.all(
      numbers.map((index) =>
        inProd(app, org, "ON_STARTED_ARTIFACT", { snapshot: { index, compliant: null } }),
      ),
    );
    await happen(app, org, ...occurrences);
    await runPendingJobs(app);
    const told = receiver.received.map(({ json }) => Number(json.snapshot.index));
    expect(told.sort((a, b) => a - b)).toEqual(numbers);
  });
});

describe("what is reported to run", () => {
  it("is told when it starts and exits, with the flow it came from", async () => {
    const { org } = await fixtures.org();
    await createEnvironment(org, "live", { type: "server" });
    await putEnv(org, {
      environments: ["live"],
      triggers: ["ON_STARTED_ARTIFACT", "ON_EXITED_ARTIFACT"],
      targets: [webhook()],
    });
    const fingerprint = fingerprintOf("web");
    const commit = "c".repeat(40);
    await org.member.post(
      `/artifacts/${org.name}/web`,
      artifactBody({ fingerprint, trail_name: "run", git_commit: commit }),
    );
    await reportServer(org, "live", ["web", "stray"]);
    await reportServer(org, "live", ["web", "stray"]);
    await reportServer(org, "live", ["web"]);
    await runPendingJobs(app);
    const told = receiver.received
      .map(({ json }) => [json.event_type, json.artifact.name, json.snapshot.index, json.artifact.provenance])
      .sort((one, other) => (`${one[1]} ${one[2]}` < `${other[1]} ${other[2]}` ? -1 : 1));
    expect(told.map(([event_type, name, index]) => [event_type, name, index])).toEqual([
      ["ARTIFACT_STARTED", "stray", "1"],
      ["ARTIFACT_EXITED", "stray", "2"],
      ["ARTIFACT_STARTED", "web", "1"],
    ]);
    expect(told[0]![3]).toBeNull();
    expect(told[2]![3]).toEqual({
      flow: "web",
      status: "COMPLIANT",
      commit,
      commit_url: "https://git.example.com/c/1",
      html_url: `http://waybill.test/${org.name}/flows/web/artifacts/${fingerprint}`,
      api_url: `http://waybill.test/api/v2/artifacts/${org.name}/web/fingerprint/${fingerprint}`,
      build_url: "https://ci.example.com/7",
    });
  });
});

describe("what happens in a flow", () => {
  const all = ["ON_STARTED_TRAIL", "ON_ATTESTED_PROVENANCE", "ON_ATTESTATION"];

  async function told(): Promise<unknown[]> {
    await runPendingJobs(app);
    return receiver.received
      .splice(0)
      .map(({ json }) => [json.event_type, json.trail.name, json.artifact?.name ?? json.attestation?.name]);
  }

  it("is told: a trail that begins, an artifact, an attestation, however they come", async () => {
    const { org } = await fixtures.org();
    await watchFlow(org, { triggers: all, targets: [webhook()] });
    const trail = (name: string) =>
      org.member.request("PUT", `/trails/${org.name}/web`, {
        parts: { data_json: JSON.stringify({ name }) },
      });

    expect((await trail("t1")).status).toBe(201);
    expect(await told()).toEqual([["TRAIL_STARTED", "t1", undefined]]);
    expect((await trail("t1")).status).toBe(200);
    expect(await told()).toEqual([]);

    const body = artifactBody({ trail_name: "t2" });
    await org.member.post(`/artifacts/${org.name}/web`, body);
    expect(await told()).toEqual([
      ["TRAIL_STARTED", "t2", undefined],
      ["PROVENANCE_ATTESTED", "t2", "web:1.4"],
    ]);

    const place = { org: org.name, flow: "web" };
    const generic = { attestation_name: "unit", is_compliant: true };
    await attest(org.member, { ...place, trail: "t2" }, "generic", {
      ...generic,
      artifact_fingerprint: body["fingerprint"],
    });
    await runPendingJobs(app);
    expect(receiver.received.splice(0).map(({ json }) => json)).toEqual([
      expect.objectContaining({
        version: "1.0",
        flow: "web",
        event_type: "ATTESTATION_REPORTED",
        description: "Attestation unit (compliant) was reported on trail t2 of flow web",
        trail: expect.objectContaining({ name: "t2", status: "COMPLIANT" }),
        artifact: expect.objectContaining({ fingerprint: body["fingerprint"], name: "artifact" }),
        attestation: expect.objectContaining({ name: "unit", type: "generic", is_compliant: true }),
      }),
    ]);
    await attest(org.member, { ...place, trail: "t3" }, "generic", generic);
    expect(await told()).toEqual([
      ["TRAIL_STARTED", "t3", undefined],
      ["ATTESTATION_REPORTED", "t3", "unit"],
    ]);
  });

  it("is told once for a trail that several reports begin together", async () => {
    const { org } = await fixtures.org();
    await watchFlow(org, { triggers: ["ON_STARTED_TRAIL"], targets: [webhook()] });
    const report = () =>
      org.member.post(`/artifacts/${org.name}/web`, artifactBody({ trail_name: "shared" }));
    await Promise.all(Array.from({ length: 8 }, report));
    expect(await told()).toEqual([["TRAIL_STARTED", "shared", undefined]]);
  });

  it("is not told by actions that watch other flows or other things", async () => {
    const { org } = await fixtures.org();
    await fixtures.flow(org, "api");
    await watchFlow(org, { flows: ["api"], triggers: all, targets: [webhook()] });
    await watchFlow(org, { name: "started", triggers: ["ON_STARTED_TRAIL"], targets: [webhook()] });
    await org.member.post(`/artifacts/${org.name}/web`, artifactBody({ trail_name: "t" }));
    expect(await told()).toEqual([["TRAIL_STARTED", "t", undefined]]);
  });
});
