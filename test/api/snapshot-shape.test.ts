import { afterAll, beforeAll, expect, it } from "vitest";

import { startTestApp, type TestApp } from "../support/app.ts";
import { artifactBody, commitOf, fingerprintOf, repoInfo } from "../support/artifacts.ts";
import { commitInfo } from "../support/attestations.ts";
import { createEnvironment } from "../support/environments.ts";
import { attachPolicies, createPolicy, policyText } from "../support/policies.ts";
import { getSnapshot } from "../support/snapshots.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** Every place in a value, with the types of what stands there. */
function keyTree(value: unknown): string[] {
  const places = new Map<string, Set<string>>();
  const walk = (path: string, inner: unknown): void => {
    const type = inner === null ? "null" : Array.isArray(inner) ? "array" : typeof inner;
    places.set(path, (places.get(path) ?? new Set()).add(type));
    if (Array.isArray(inner)) for (const item of inner) walk(`${path}[]`, item);
    else if (typeof inner === "object" && inner !== null)
      for (const [key, item] of Object.entries(inner)) walk(path === "" ? key : `${path}.${key}`, item);
  };
  walk("", value);
  return [...places].map(([path, types]) => `${path}: ${[...types].toSorted().join("|")}`);
}

const diff = [
  "diff_url: string",
  "previous_git_commit: string",
  "previous_fingerprint: string",
  "previous_artifact_name: string",
  "previous_artifact_compliance_state: string",
  "previous_running: boolean",
  "previous_git_commit_url: string",
  "previous_trail_name: string",
  "previous_template_reference_name: string",
];
const below = (path: string, places: string[]): string[] => places.map((place) => `${path}.${place}`);

const decisions = [
  "policy_name: string",
  "policy_version: number",
  "status: string",
  "rule_evaluations: array",
  "rule_evaluations[]: object",
  "rule_evaluations[].rule: object",
  "rule_evaluations[].rule.type: string",
  "rule_evaluations[].rule.definition: object",
  "rule_evaluations[].rule.definition.required: boolean",
  "rule_evaluations[].rule.definition.exceptions: array",
  "rule_evaluations[].rule.definition.exceptions[]: object",
  "rule_evaluations[].rule.definition.exceptions[].if: object",
  "rule_evaluations[].rule.definition.exceptions[].if.text: string",
  "rule_evaluations[].rule.definition.if: null|object",
  "rule_evaluations[].rule.definition.if.text: string",
  "rule_evaluations[].rule.definition.name: string",
  "rule_evaluations[].rule.definition.type: string",
  "rule_evaluations[].rule.definition.must_be_compliant: boolean",
  "rule_evaluations[].rule.definition.for_control: null",
  "rule_evaluations[].satisfied: boolean|null",
  "rule_evaluations[].ignored: boolean",
  "rule_evaluations[].resolutions: array",
  "rule_evaluations[].resolutions[]: object",
  "rule_evaluations[].resolutions[].type: string",
  "rule_evaluations[].resolutions[].context: object",
  "rule_evaluations[].resolutions[].context.flow_name: string",
  "rule_evaluations[].resolutions[].context.trail_name: string",
  "rule_evaluations[].resolutions[].context.artifact_status: null|string",
];

const flow = [
  "flow_name: string",
  "trail_name: string",
  "template_reference_name: string",
  "git_commit: string",
  "commit_url: string",
  "git_commit_info: object",
  ...below("git_commit_info", [
    "sha1: string",
    "message: string",
    "author: string",
    "branch: string",
    "timestamp: number",
    "url: string",
  ]),
  "html_url: string",
  "flow_html_url: string",
  "deployment_diff: object",
  ...below("deployment_diff", diff),
  "commit_lead_time: number",
  "artifact_compliance_in_flow: boolean",
  "flow_reasons_for_non_compliance: array",
];

const artifact = [
  "name: string",
  "compliant: boolean",
  "deployments: array",
  "policy_decisions: array",
  "policy_decisions[]: object",
  ...below("policy_decisions[]", decisions),
  "reasons_for_incompliance: array",
  "reasons_for_incompliance[]: object",
  ...below("reasons_for_incompliance[]", ["policy_name: string", "rule: string", "message: string"]),
  "fingerprint: string",
  "creationTimestamp: array",
  "creationTimestamp[]: number",
  "pods: null",
  "annotation: object",
  ...below("annotation", ["type: string", "was: number", "now: number"]),
  "flow_name: string",
  "git_commit: string",
  "commit_url: string",
  "html_url: string",
  "flow_html_url: string",
  "deployment_diff: object",
  ...below("deployment_diff", diff),
  "commit_lead_time: number",
  "flows: array",
  "flows[]: object",
  ...below("flows[]", flow),
  "ecs_context: object",
  ...below("ecs_context", ["task_arn: string", "cluster_name: null", "service_name: null"]),
];

const policy = [
  "id: string",
  "name: string",
  "version: number",
  "policy_dump: object",
  "policy_dump.schema_version: string",
  "policy_dump.artifacts: object",
  ...["provenance", "trail_compliance"].flatMap((rule) =>
    below(`policy_dump.artifacts`, [
      `${rule}: object`,
      `${rule}.required: boolean`,
      `${rule}.exceptions: array`,
      `${rule}.exceptions[]: object`,
      `${rule}.exceptions[].if_condition: object`,
      `${rule}.exceptions[].if_condition.text: string`,
    ]),
  ),
  ...below("policy_dump.artifacts", [
    "attestations: array",
    "attestations[]: object",
    "attestations[].if_condition: null|object",
    "attestations[].if_condition.text: string",
    "attestations[].name: string",
    "attestations[].type: string",
    "attestations[].must_be_compliant: boolean",
    "attestations[].for_control: null",
  ]),
  "failing_artifacts: array",
  "failing_artifacts[]: string",
];

const snapshot = [
  ": object",
  "index: number",
  "is_latest: boolean",
  "next_snapshot_timestamp: null",
  "artifact_compliance_count: object",
  ...below("artifact_compliance_count", ["true: number", "false: number", "null: number"]),
  "timestamp: number",
  "type: string",
  "compliant: boolean",
  "html_url: string",
  "artifacts: array",
  "artifacts[]: object",
  ...below("artifacts[]", artifact),
  "applied_policies: array",
  "applied_policies[]: object",
  ...below("applied_policies[]", policy),
];

it("has the keys, types and nesting of the public interface, and no others", async () => {
  const org = await app.org();
  await createEnvironment(org, "tasks", { type: "ECS" });
  const text = policyText(
    "provenance:",
    "  required: true",
    "  exceptions:",
    "    - if: ${{ artifact.name == 'sidecar' }}",
    "trail-compliance:",
    "  required: false",
    "  exceptions:",
    "    - if: ${{ flow.name == 'legacy' }}",
    "attestations:",
    "  - type: generic",
    "    if: ${{ exists(flow) }}",
    "  - name: scan",
    "    type: snyk",
  );
  await createPolicy(org, "strict", text);
  await attachPolicies(org, "tasks", "strict");
  for (const version of ["1", "2"]) {
    const git_commit = commitOf(version);
    const fingerprint = fingerprintOf(version);
    const commit_url = `https://git.example.com/acme/web/commit/${git_commit}`;
    const body = artifactBody({
      fingerprint,
      git_commit,
      git_commit_info: { ...commitInfo(git_commit), url: commit_url },
      commit_url,
      repo_info: repoInfo("acme/web"),
      trail_name: `run-${version}`,
      template_reference_name: "web",
    });
    expect((await org.member.post(`/artifacts/${org.name}/web-ci`, body)).status).toBe(201);
    const task = { taskArn: "arn:1", digests: { web: fingerprint }, creationTimestamp: 1_786_000_100 };
    const report = { artifacts: [task] };
    expect((await org.snapshotter.put(`/environments/${org.name}/tasks/report/ECS`, report)).status).toBe(
      201,
    );
  }
  const { artifacts, ...rest } = await getSnapshot(org, "tasks");
  const running = artifacts.filter(({ annotation }: { annotation: { now: number } }) => annotation.now > 0);
  expect(keyTree({ ...rest, artifacts: running }).toSorted()).toEqual(snapshot.toSorted());
});
