import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { artifactPlace, trailPlace } from "../../src/domain/compliance/places.ts";
import type { ReportedAttestation } from "../../src/domain/policy/evaluation/model.ts";
import { fits, wantedAttestations } from "../../src/domain/policy/evaluation/rules.ts";
import { parsePolicy } from "../../src/domain/policy/parse.ts";
import { listFacts } from "../../src/modules/runtime/snapshots/report/facts-store.ts";
import { findPolicyCase } from "../../src/modules/views/asserts/store.ts";
import { listEvidence } from "../../src/modules/views/environment-explanations/store.ts";
import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { type Attest, attestAll, reportAll } from "../support/histories.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { reportServer } from "../support/snapshots.ts";
import { amount } from "../support/thorough.ts";
import { readTrailCases } from "../support/trail-cases.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const rules = [null, "C-1", "C-2"].flatMap((for_control) =>
  ["*", "a", "b"].map((name) => ({ type: "decision", name, for_control })),
);
const policy = parsePolicy(
  policyText(
    "attestations:",
    ...rules.map(
      ({ name, for_control }) =>
        `  - {type: decision, name: "${name}"${for_control === null ? "" : `, for_control: ${for_control}`}}`,
    ),
  ),
);

/** Decisions and overrides of them, about a trail, an artifact, and what was built from its commit. */
const report = fc
  .record({
    name: fc.constantFrom("a", "b"),
    type: fc.constantFrom("system:decision", "system:decision", "generic"),
    control: fc.constantFrom("C-1", "C-2"),
    is_compliant: fc.boolean(),
    is_override: fc.boolean(),
    place: fc.constantFrom<Pick<Attest, "print" | "targets" | "commit">>(
      { print: null, targets: null, commit: null },
      { print: "one", targets: null, commit: null },
      { print: null, targets: ["web"], commit: "one" },
      { print: null, targets: ["web"], commit: "two" },
    ),
  })
  .map(({ place, ...rest }) => ({ trail: "t1", ...rest, ...place }));

/** The controls that decisions were made about. */
async function controlsIn(org: TestOrg): Promise<Map<string, string | null>> {
  const { rows } = await app.deps.db.pool.query<{ id: string; control_identifier: string | null }>(
    "select id, control_identifier from attestations where org_id = $1",
    [org.id],
  );
  return new Map(rows.map(({ id, control_identifier }) => [id, control_identifier]));
}

/** An artifact as its flow knows it, and what counts for it, in order, each with the control it is about. */
async function countingIn(org: TestOrg) {
  const { db } = app.deps;
  const ids = (await db.pool.query<{ id: string }>("select id from trails where org_id = $1", [org.id])).rows;
  const cases = await readTrailCases(
    db,
    org.id,
    ids.map(({ id }) => id),
  );
  const controls = await controlsIn(org);
  const known = ["one", "two"].map((print) => {
    const reported = [...cases.values()].flatMap(({ trail_id, template, reports }) =>
      reports.artifacts
        .filter(({ fingerprint }) => fingerprint === fingerprintOf(print))
        .map((artifact) => ({ trail_id, artifact, template, reports })),
    );
    return reported.sort((a, b) => (a.artifact.artifact_id < b.artifact.artifact_id ? -1 : 1)).at(-1);
  });
  return known.flatMap((one) => {
    if (one === undefined) return [];
    const { trail_id, template, reports, artifact } = one;
    const counting = [trailPlace(template, reports), artifactPlace(template, reports, artifact)].flatMap(
      (place) => {
        const about = new Map<string, string | null>();
        return place.reports.map((report) => {
          const key = `${report.name} ${report.type}`;
          if (!report.is_override) about.set(key, controls.get(report.attestation_id) ?? null);
          return { ...report, control: about.get(key) ?? null };
        });
      },
    );
    counting.sort((a, b) => (a.attestation_id < b.attestation_id ? -1 : 1));
    return [{ trail_id, artifact, counting }];
  });
}

/** What rules find of an artifact: among what snapshots, asserts and explanations know, and among all that counts. */
async function foundOf(
  org: TestOrg,
  { trail_id, artifact, counting }: Awaited<ReturnType<typeof countingIn>>[number],
): Promise<{ known: unknown[]; anew: unknown[] }> {
  const { db } = app.deps;
  const { fingerprint, template_reference_name, git_commit } = artifact;
  const place = {
    trail_id,
    fingerprint,
    template_reference_name,
    git_commit,
    git_commit_info: null,
  };
  const [fact] = await listFacts(db, org.id, [fingerprint], wantedAttestations([policy]));
  const { facts } = await findPolicyCase(db, org.id, { fingerprint, flow_name: null }, []);
  const at = counting[Math.floor(counting.length / 2)]?.reported_at ?? 0;
  const evidence = (await listEvidence(db, org.id, [place], at)).get(0) ?? [];
  const shown = (one: ReportedAttestation | undefined) =>
    one === undefined ? null : [one.name, one.type, one.is_compliant, one.control];
  const known = rules.map((rule) => [
    shown(fact!.attestations.findLast((one) => fits(rule, one))),
    shown(facts![0]!.attestations.findLast((one) => fits(rule, one))),
    evidence.findLast((one) => fits(rule, one))?.attestation_id,
    evidence.findLast((one) => one.reported_at <= at && fits(rule, one))?.attestation_id,
  ]);
  const anew = rules.map((rule) => {
    const last = counting.findLast((one) => fits(rule, one));
    const then = counting.findLast((one) => one.reported_at <= at && fits(rule, one));
    return [shown(last), shown(last), last?.attestation_id, then?.attestation_id];
  });
  return { known, anew };
}

describe("an override of a decision", () => {
  it(
    "is about the decision's control, whatever was decided and overridden",
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 12, size: "max" }), async (reports) => {
          const org = await app.org();
          await reportAll(app, org, [
            { trail: "t1", name: "web", print: "one", commit: "one" },
            { trail: "t1", name: "api", print: "two", commit: "one" },
          ]);
          for (const one of reports) {
            app.clock.advance(1);
            await attestAll(app, org, [one]);
          }
          for (const one of await countingIn(org)) {
            const { known, anew } = await foundOf(org, one);
            expect(known).toEqual(anew);
          }
        }),
        { numRuns: amount(25, 60) },
      );
    },
  );

  it("decides on what rules ask for its control, in both directions, and is no decision", async () => {
    const org = await app.org();
    const web = fingerprintOf("web");
    await org.admin.post(`/controls/${org.name}`, { identifier: "C-1", name: "one" });
    await createPolicy(org, "p", policyText("attestations:", "  - {type: decision, for_control: C-1}"));
    await org.member.post(
      `/artifacts/${org.name}/web-ci`,
      artifactBody({ fingerprint: web, trail_name: "run" }),
    );
    await createEnvironment(org, "prod", { type: "server" });
    await attachPolicies(org, "prod", "p");
    const verdicts = async () => {
      app.clock.advance(1);
      await reportServer(org, "prod", ["web"]);
      const explained = (await org.reader.get(`/environments/${org.name}/prod/explain`)).json;
      const requirement = explained.artifacts[0].requirements[2];
      return {
        environment: (await org.reader.get(`/environments/${org.name}/prod`)).json.state,
        assert: (await org.reader.get(`/asserts/${org.name}/fingerprint/${web}?policy_name=p`)).json
          .compliant,
        explained: [requirement.outcome, requirement.attestation?.is_override],
        decisions: (await org.reader.get(`/controls/${org.name}/C-1/decisions`)).json.total_count,
      };
    };
    const decision = { attestation_name: "d", type_name: "decision", control: "C-1" };
    const decided = { ...decision, attestation_data: { is_compliant: true } };
    expect((await attest(org.member, { org: org.name }, "system", decided)).status).toBe(201);
    expect(await verdicts()).toEqual({
      environment: true,
      assert: true,
      explained: ["met", false],
      decisions: 1,
    });
    for (const verdict of [false, true]) {
      const answer = await attest(org.member, { org: org.name }, "override", {
        attestation_name: "d",
        reason: "taken back",
        new_compliance_status: verdict,
        original_attestation_type: "system:decision",
      });
      expect(answer.status).toBe(200);
      expect(await verdicts()).toEqual({
        environment: verdict,
        assert: verdict,
        explained: [verdict ? "met" : "failed", true],
        decisions: 1,
      });
    }
  });
});
