import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf } from "../support/artifacts.ts";
import { attest, commitInfo } from "../support/attestations.ts";
import { putFlow, putTrail } from "../support/flows.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const template = `version: 1
trail:
  attestations:
    - name: ticket
      type: jira
  artifacts:
    - name: api
      attestations:
        - name: unit
          type: junit
        - name: scan
          type: snyk
`;
const commit = commitOf("rework");
const fingerprint = fingerprintOf("api");
const issue = { issue_id: "WEB-7", issue_url: "https://jira.acme.test/WEB-7", issue_exists: true };
const suite = { name: "core", failures: 0, errors: 0, skipped: 0, total: 12, duration: 3 };
const onApi = { artifact_fingerprint: fingerprint };

function scan(high_count: number) {
  const tool = { name: "Snyk", version: "1" };
  return {
    attestation_name: "scan",
    ...onApi,
    snyk_results: { schema_version: 1, tool, results: [{ low_count: 0, medium_count: 0, high_count }] },
  };
}

/** What is reported, and then the states of the trail, `ticket`, `api`, and the attestations of `api`. */
const steps: [kind: string, body: Record<string, unknown>, expected: unknown[]][] = [
  ["trail", {}, ["INCOMPLETE", "MISSING", "MISSING", ["unit MISSING", "scan MISSING"]]],
  [
    "jira",
    { attestation_name: "ticket", jira_results: [issue] },
    ["INCOMPLETE", "COMPLETE", "MISSING", ["unit MISSING", "scan MISSING"]],
  ],
  [
    "junit",
    {
      attestation_name: "unit",
      target_artifacts: ["api"],
      git_commit_info: commitInfo(commit),
      junit_results: [suite],
    },
    ["INCOMPLETE", "COMPLETE", "MISSING", ["unit COMPLETE true", "scan MISSING"]],
  ],
  ["artifact", {}, ["INCOMPLETE", "COMPLETE", "INCOMPLETE", ["unit COMPLETE true", "scan MISSING"]]],
  [
    "snyk",
    scan(1),
    ["NON-COMPLIANT", "COMPLETE", "NON-COMPLIANT", ["unit COMPLETE true", "scan COMPLETE false"]],
  ],
  ["snyk", scan(0), ["COMPLIANT", "COMPLETE", "COMPLIANT", ["unit COMPLETE true", "scan COMPLETE true"]]],
  [
    "generic",
    { attestation_name: "lint", ...onApi, is_compliant: false },
    [
      "NON-COMPLIANT",
      "COMPLETE",
      "NON-COMPLIANT",
      ["unit COMPLETE true", "scan COMPLETE true", "lint COMPLETE false unexpected"],
    ],
  ],
  [
    "override",
    {
      attestation_name: "lint",
      ...onApi,
      reason: "false positive",
      new_compliance_status: true,
      original_attestation_type: "generic",
    },
    [
      "COMPLIANT",
      "COMPLETE",
      "COMPLIANT",
      ["unit COMPLETE true", "scan COMPLETE true", "lint COMPLETE true unexpected"],
    ],
  ],
];

interface Row {
  attestation_name: string;
  status: string;
  is_compliant: boolean | null;
  unexpected: boolean;
}

function describeRow({ attestation_name, status, is_compliant, unexpected }: Row): string {
  const verdict = is_compliant === null ? [] : [String(is_compliant)];
  return [attestation_name, status, ...verdict, ...(unexpected ? ["unexpected"] : [])].join(" ");
}

it("judges a trail step by step, from its beginning to the override of a verdict", async () => {
  const org = await app.org();
  await putFlow(org.member, org.name, { name: "web-ci" }, template);
  for (const [kind, body, expected] of steps) {
    const answer =
      kind === "trail"
        ? await putTrail(org.member, `${org.name}/web-ci`, { name: "run" })
        : kind === "artifact"
          ? await org.member.post(
              `/artifacts/${org.name}/web-ci`,
              artifactBody({
                fingerprint,
                git_commit: commit,
                trail_name: "run",
                template_reference_name: "api",
              }),
            )
          : await attest(org.member, { org: org.name }, kind, body);
    expect(answer.status).toBe(kind === "override" ? 200 : 201);
    const { json } = await org.reader.get(`/trails/${org.name}/web-ci/run`);
    const { status, attestations_statuses, artifacts_statuses } = json.compliance_status;
    const { api } = artifacts_statuses;
    expect([
      status,
      attestations_statuses[0].status,
      api.status,
      api.attestations_statuses.map(describeRow),
    ]).toEqual(expected);
    expect(json.compliance_status.evaluated_at).toBe(json.last_modified_at);
    expect(json.events.at(-1).timestamp).toBe(json.last_modified_at);
  }
});
