import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, fingerprintOf } from "../support/artifacts.ts";
import { attest } from "../support/attestations.ts";
import { createControl } from "../support/controls.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
let org: TestOrg;
beforeAll(async () => {
  app = await startTestApp();
  org = await app.org();
});
afterAll(() => app.close());

const template = `version: 1
trail:
  attestations:
    - name: review
      type: decision
  artifacts:
    - name: web
      attestations:
        - name: release
          type: decision
`;
const fingerprint = fingerprintOf("web");

async function decide(
  name: string,
  is_compliant: boolean,
  more: Record<string, unknown> = {},
): Promise<void> {
  const answer = await attest(org.member, { org: org.name }, "system", {
    attestation_name: name,
    type_name: "decision",
    control: "CTL-7",
    attestation_data: { is_compliant, reasons: [{ text: "four eyes" }] },
    description: `says ${is_compliant}`,
    ...more,
  });
  expect([answer.status, answer.json]).toEqual([201, "OK"]);
}

async function trail() {
  return (await org.reader.get(`/trails/${org.name}/web-ci/run`)).json;
}

async function decisions(query = "") {
  return (await org.reader.get(`/controls/${org.name}/CTL-7/decisions${query}`)).json;
}

it("a control is decided on by pipelines, from its creation to its archive", async () => {
  await createControl(org, "CTL-7", { name: "Peer review" });
  await putFlow(org.member, org.name, { name: "web-ci" }, template);
  await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
  expect((await trail()).compliance_state).toBe("INCOMPLETE");

  await decide("review", false);
  const refused = await trail();
  expect(refused.compliance_state).toBe("NON-COMPLIANT");
  expect(refused.compliance_status.attestations_statuses).toEqual([
    expect.objectContaining({
      attestation_name: "review",
      attestation_type: "system:decision",
      status: "COMPLETE",
      is_compliant: false,
      unexpected: false,
    }),
  ]);
  expect(refused.events.at(-1)).toMatchObject({
    type: "trail_attestation_reported",
    attestation_type: "system:decision",
    is_compliant: false,
  });

  // The control changes; the newest decision counts and keeps the version it was made by.
  await org.admin.put(`/controls/${org.name}/CTL-7`, { name: "Review by two peers" });
  await decide("review", true);
  const artifact = artifactBody({
    fingerprint,
    filename: "web:2",
    trail_name: "run",
    template_reference_name: "web",
  });
  expect((await org.member.post(`/artifacts/${org.name}/web-ci`, artifact)).status).toBe(201);
  expect((await trail()).compliance_state).toBe("INCOMPLETE");
  await decide("release", true, { artifact_fingerprint: fingerprint });
  expect((await trail()).compliance_state).toBe("COMPLIANT");

  const all = await decisions();
  expect(all).toMatchObject({ page: 1, per_page: 15, total_pages: 1, total_count: 3 });
  const shown = [
    "attestation_name",
    "control_version",
    "is_compliant",
    "artifact_fingerprint",
    "artifact_name",
  ];
  expect(all.decisions.map((one: Record<string, unknown>) => shown.map((key) => one[key]))).toEqual([
    ["release", 2, true, fingerprint, "web:2"],
    ["review", 2, true, null, null],
    ["review", 1, false, null, null],
  ]);
  expect((await decisions("?is_compliant=false")).decisions).toEqual([all.decisions[2]]);
  expect((await decisions("?sort_direction=asc&per_page=1")).decisions).toEqual([all.decisions[2]]);
  expect((await decisions(`?from_timestamp=${all.decisions[0].created_at}`)).decisions).toEqual([
    all.decisions[0],
  ]);

  // A decision is an attestation: read by either way, it is the same record.
  const { decision_id } = all.decisions[1];
  const one = (await org.reader.get(`/controls/${org.name}/CTL-7/decisions/${decision_id}`)).json;
  expect(one).toMatchObject(all.decisions[1]);
  const attestations = (await org.reader.get(`/attestations/${org.name}/web-ci/trail/run/review`)).json;
  expect(
    attestations.map((each: Record<string, unknown>) => [each["control"], each["control_version"]]),
  ).toEqual([
    ["CTL-7", 1],
    ["CTL-7", 2],
  ]);
  expect(attestations[1]).toMatchObject({
    attestation_id: decision_id,
    attestation_data: { is_compliant: true, reasons: [{ text: "four eyes" }] },
    description: "says true",
  });

  // An override sets the verdict of the trail and is no decision.
  await decide("review", false);
  const override = {
    attestation_name: "review",
    original_attestation_type: "system:decision",
    new_compliance_status: true,
    reason: "agreed by the board",
  };
  expect((await attest(org.member, { org: org.name }, "override", override)).status).toBe(200);
  expect((await trail()).compliance_state).toBe("COMPLIANT");
  expect((await decisions()).total_count).toBe(4);

  // An archived control keeps its decisions and takes new ones: pipelines must not break.
  expect((await org.admin.post(`/controls/${org.name}/CTL-7/archive`)).status).toBe(200);
  await decide("review", true);
  expect((await decisions()).decisions[0]).toMatchObject({
    control_version: expect.any(Number),
    is_compliant: true,
  });
  expect((await decisions()).total_count).toBe(5);
  expect((await (await app.org()).reader.get(`/controls/${org.name}/CTL-7/decisions`)).status).toBe(403);
});
