import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp, type TestOrg } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import type { Answer } from "../support/client.ts";
import { putTrail } from "../support/flows.ts";
import { untilWaiting } from "../support/locks.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const commit = commitOf("one");
const checked = { attestation_name: "unit", is_compliant: true };

it("many first reports of every kind at once make one flow and one trail, and lose no event", async () => {
  const org = await app.org();
  const reports = Array.from({ length: 51 }, (_, index) => index).map((index) => {
    if (index % 3 === 0)
      return putTrail(org.member, `${org.name}/web-ci`, { name: "run", description: `from ${index}` });
    if (index % 3 === 1)
      return org.member.post(
        `/artifacts/${org.name}/web-ci`,
        artifactBody({
          fingerprint: fingerprintOf(`artifact ${index}`),
          git_commit: commit,
          trail_name: "run",
          template_reference_name: `part-${index}`,
          repo_info: repoInfo("acme/web"),
        }),
      );
    return attest(org.member, { org: org.name }, "generic", {
      attestation_name: "unit",
      is_compliant: index !== 50,
      target_artifacts: [`part-${index - 1}`],
      git_commit_info: commitInfo(commit),
      repo_info: repoInfo("acme/web"),
    });
  });
  const answers = await Promise.all(reports);
  expect(answers.filter(({ status }) => status !== 200 && status !== 201)).toEqual([]);
  expect((await org.reader.get(`/flows/${org.name}`)).json).toHaveLength(1);
  expect((await org.reader.get(`/trails/${org.name}/web-ci`)).json).toHaveLength(1);

  const { json } = await org.reader.get(`/trails/${org.name}/web-ci/run`);
  const count = (type: string) => json.events.filter((event: { type: string }) => event.type === type).length;
  expect(count("trail_reported")).toBe(1);
  expect(count("artifact_creation_reported")).toBe(17);
  expect(count("trail_attestation_for_artifact_reported")).toBe(17);
  const artifacts: [string, { status: string; attestations_statuses: unknown[] }][] = Object.entries(
    json.compliance_status.artifacts_statuses,
  );
  expect(artifacts).toHaveLength(17);
  for (const [name, { status, attestations_statuses }] of artifacts) {
    expect(attestations_statuses).toHaveLength(1);
    expect(status).toBe(name === "part-49" ? "NON-COMPLIANT" : "COMPLIANT");
  }
  expect(json.compliance_state).toBe("NON-COMPLIANT");
});

it.each<[string, (org: TestOrg) => Promise<Answer>]>([
  ["a trail", (org) => putTrail(org.member, `${org.name}/web-ci`, { name: "second" })],
  ["a trail again", (org) => putTrail(org.member, `${org.name}/web-ci`, { name: "run", description: "new" })],
  ["an attestation", (org) => attest(org.member, { org: org.name }, "generic", checked)],
  ["an artifact", (org) => org.member.post(`/artifacts/${org.name}/web-ci`, artifactBody({}))],
])(
  "%s takes the organization's counter after its flow's row, so that kinds do not deadlock",
  async (_what, report) => {
    const org = await app.org();
    await putTrail(org.member, `${org.name}/web-ci`, { name: "run" });
    const other = await app.deps.db.pool.connect();
    try {
      await other.query("begin");
      await other.query("select from flow_activity where org_id = $1 for no key update", [org.id]);
      const request = report(org);
      await untilWaiting(app, request);
      const { rowCount } = await other.query(
        "select from org_counters where org_id = $1 for no key update nowait",
        [org.id],
      );
      expect(rowCount).toBe(1);
      await other.query("commit");
      expect([200, 201]).toContain((await request).status);
    } finally {
      await other.query("rollback");
      other.release();
    }
  },
);
