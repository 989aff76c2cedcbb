import { describe, expect, it } from "vitest";

import type { Endpoint } from "../../src/contract/endpoint.ts";
import { endpoints } from "../../src/contract/index.ts";
import { openApiDocument } from "../../src/contract/openapi.ts";

/** The operations of the public interface that existing clients are written for, by who may call them at least. */
const published: Record<string, Record<string, string>> = {
  admin: {
    list_audit_log: "GET /membership-audit-log/{org}",
    post_control: "POST /controls/{org}",
    put_control: "PUT /controls/{org}/{identifier}",
    archive_control: "POST /controls/{org}/{identifier}/archive",
    unarchive_control: "POST /controls/{org}/{identifier}/unarchive",
  },
  member: {
    create_or_update_env_action: "PUT /actions/{org}/environments",
    create_or_update_flow_action: "PUT /actions/{org}/flows",
    delete_action: "DELETE /actions/{org}/{action_number}",
    allow_artifact_for_env: "PUT /allowlists/{org}/{env_name}",
    create_artifact: "POST /artifacts/{org}/{flow_name}",
    post_custom_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/custom",
    post_generic_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/generic",
    post_jira_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/jira",
    post_junit_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/junit",
    post_override_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/override",
    post_pull_request_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/pull_request",
    post_snyk_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/snyk",
    post_sonar_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/sonar",
    post_system_attestation: "POST /attestations/{org}/{flow_name}/trail/{trail_name}/system",
    post_custom_attestation_type: "POST /custom-attestation-types/{org}",
    archive_custom_attestation_type:
      "PUT /custom-attestation-types/{org}/{custom_attestation_type_name}/archive",
    update_env: "PATCH /environments/{org}/{env_name}",
    archive_env: "PUT /environments/{org}/{env_name}/archive",
    join_physical_to_logical: "PUT /environments/{org}/{env_name}/join",
    attach_policy_to_env: "POST /environments/{org}/{env_name}/policies",
    detach_policy_from_env: "DELETE /environments/{org}/{env_name}/policies",
    rename_environment: "PUT /environments/{org}/{env_name}/rename",
    create_flow_with_template: "PUT /flows/{org}/template_file",
    archive_flow: "PUT /flows/{org}/{flow_name}/archive",
    rename_flow: "PUT /flows/{org}/{flow_name}/rename",
    put_environment_notifications: "PUT /organizations/{org}/environments_notifications",
    update_environment_notification:
      "PUT /organizations/{org}/environments_notifications/{notification_number}",
    delete_environment_notification:
      "DELETE /organizations/{org}/environments_notifications/{notification_number}",
    put_policy: "PUT /policies/{org}",
    patch_tags: "PATCH /tags/{org}/{resource_type}/{resource_id}",
    create_trail: "PUT /trails/{org}/{flow_name}",
  },
  snapshotter: {
    create_env: "PUT /environments/{org}",
    ecs_report: "PUT /environments/{org}/{env_name}/report/ECS",
    k8s_report: "PUT /environments/{org}/{env_name}/report/K8S",
    s3_report: "PUT /environments/{org}/{env_name}/report/S3",
    azure_apps_report: "PUT /environments/{org}/{env_name}/report/azure-apps",
    cloud_run_report: "PUT /environments/{org}/{env_name}/report/cloud-run",
    docker_report: "PUT /environments/{org}/{env_name}/report/docker",
    lambda_report: "PUT /environments/{org}/{env_name}/report/lambda",
    server_report: "PUT /environments/{org}/{env_name}/report/server",
    create_service_account: "POST /service-accounts/{org}",
    update_service_account: "PATCH /service-accounts/{org}/{name}",
    delete_service_account: "DELETE /service-accounts/{org}/{name}",
    list_service_account_api_keys: "GET /service-accounts/{org}/{name}/api-keys",
    create_service_account_api_key: "POST /service-accounts/{org}/{name}/api-keys",
    get_service_account_api_key: "GET /service-accounts/{org}/{name}/api-keys/{key_id}",
    delete_service_account_api_key: "DELETE /service-accounts/{org}/{name}/api-keys/{key_id}",
    rotate_service_account_api_key: "POST /service-accounts/{org}/{name}/api-keys/{key_id}/rotate",
  },
  reader: {
    list_actions: "GET /actions/{org}",
    get_action: "GET /actions/{org}/{action_number}",
    list_allowlist: "GET /allowlists/{org}",
    list_artifacts: "GET /artifacts/{org}",
    get_artifact_by_commit_sha: "GET /artifacts/{org}/{flow_name}/commit_sha/{commit_sha}",
    get_artifact_by_fingerprint: "GET /artifacts/{org}/{flow_name}/fingerprint/{fingerprint}",
    get_audit_package: "GET /artifacts/{org}/{flow_name}/{fingerprint}/audit_package",
    get_latest_artifact_commit: "GET /artifacts/{org}/{flow_name}/{fingerprint}/latest_commit",
    assert_artifact: "GET /asserts/{org}/fingerprint/{fingerprint}",
    get_attestations: "GET /attestations/{org}",
    list_attestations_for_criteria: "GET /attestations/{org}/list_attestations_for_criteria",
    get_flow_attestations: "GET /attestations/{org}/{flow_name}",
    get_artifact_attestation: "GET /attestations/{org}/{flow_name}/artifact/{fingerprint}/{attestation_name}",
    get_attestation_evidence:
      "GET /attestations/{org}/{flow_name}/trail/{trail_name}/attestation/{attestation_id}/evidence",
    get_trail_attestation: "GET /attestations/{org}/{flow_name}/trail/{trail_name}/{attestation_name}",
    get_custom_attestation_types: "GET /custom-attestation-types/{org}",
    get_custom_attestation_type: "GET /custom-attestation-types/{org}/{custom_attestation_type_name}",
    list_builds: "GET /builds/{org}",
    build_statistics: "GET /builds/{org}/statistics",
    list_controls: "GET /controls/{org}",
    list_control_tag_choices: "GET /controls/{org}/tags",
    get_control: "GET /controls/{org}/{identifier}",
    get_control_coverage: "GET /controls/{org}/{identifier}/coverage",
    list_control_decisions: "GET /controls/{org}/{identifier}/decisions",
    get_control_decision: "GET /controls/{org}/{identifier}/decisions/{decision_id}",
    list_control_versions: "GET /controls/{org}/{identifier}/versions",
    get_control_version: "GET /controls/{org}/{identifier}/versions/{version_number}",
    list_deployments: "GET /deployments/{org}",
    get_deployment: "GET /deployments/{org}/{env_name}/{fingerprint}",
    environment_diff: "GET /env-diff/{org}",
    list_envs: "GET /environments/{org}",
    get_environment: "GET /environments/{org}/{env_name}",
    get_env_auditlog: "GET /environments/{org}/{env_name}/auditlog",
    get_deployment_frequency: "GET /environments/{org}/{env_name}/deployment_frequency",
    list_env_deployments: "GET /environments/{org}/{env_name}/deployments",
    get_env_events: "GET /environments/{org}/{env_name}/events",
    get_flows: "GET /flows/{org}",
    get_flow: "GET /flows/{org}/{flow_name}",
    get_organization: "GET /organizations/{org}",
    get_environment_notifications: "GET /organizations/{org}/environments_notifications",
    get_environment_notification: "GET /organizations/{org}/environments_notifications/{notification_number}",
    list_policies: "GET /policies/{org}",
    get_policy: "GET /policies/{org}/{policy_name}",
    list_repos: "GET /repos/{org}",
    list_repo_filter_options: "GET /repos/{org}/filter-options",
    get_repo_live_artifacts: "GET /repos/{org}/live-artifacts/{repo_name}",
    list_repo_tag_choices: "GET /repos/{org}/tags",
    get_repo: "GET /repos/{org}/{repo_name}",
    get_repo_deployment_statistics: "GET /repos/{org}/{repo}/deployment-statistics",
    list_repo_deployments: "GET /repos/{org}/{repo}/deployments",
    get_search: "GET /search/{org}/sha/{search_value}",
    list_service_accounts: "GET /service-accounts/{org}",
    get_service_account: "GET /service-accounts/{org}/{name}",
    list_snapshots: "GET /snapshots/{org}/{env_name}",
    get_snapshot: "GET /snapshots/{org}/{env_name}/{snapshot_expression}",
    list_trails_for_org: "GET /trails/{org}",
    list_trails: "GET /trails/{org}/{flow_name}",
    get_trail: "GET /trails/{org}/{flow_name}/{trail_name}",
    download_trail_audit_package: "GET /trails/{org}/{flow_name}/{trail_name}/audit_package",
    download_trail_audit_pdf: "GET /trails/{org}/{flow_name}/{trail_name}/audit_pdf",
  },
  user: {
    list_system_attestation_types: "GET /attestations/system-attestation-types",
    get_user_default_org: "GET /user/default-org",
    put_user_default_org: "PUT /user/{org}",
  },
  public: {
    environment_policy_schema_v1: "GET /schemas/environment-policy/v1",
    flow_template_schema_v1: "GET /schemas/flow-template/v1",
  },
};

/** Objects in requests whose unknown keys are refused. */
const strict = `
  AllowlistPutInput AttachPoliciesPutInput AzureAppsReport AzureAppsArtifact CloudRunReport
  CloudRunArtifact ExternalAttachmentUrl CreateEnvironmentPutInput EnvActionPutInput SlackActionTarget
  SlackAppContext WebhookActionTarget EmailActionTarget FlowActionPutInput DockerReport DockerArtifact
  ECSReport ECSArtifact JoinPhysicalToLogicalPutInput K8SReport K8SArtifact LambdaReport LambdaArtifact
  TagPatchInput ControlPostInput CustomAttestationPostInput CustomAttestationTypePostInput
  GenericAttestationPostInput JiraAttestationPostInput JiraItem JUnitAttestationPostInput JUnitResult
  OverrideAttestationPostInput PullRequestAttestationPostInput FoundPullRequestV1 FoundPullRequestV2
  PullRequestApprover SnykAttestationPostInput SnykResultsSummary SnykTool ProjectScanResult
  SonarAttestationPostInput ControlPutInput PolicyPutInput RenameEnvironmentPutInput S3Report S3Artifact
  ServerReport ServerArtifact UpdateEnvironmentPatchInput
`;

/** Objects in requests that may have keys nobody knows: newer clients send them. */
const lenient = `
  K8SOwner SonarResults SonarProject QualityGate QualityGateCondition SystemAttestationPostInput
  CreateArtifact GitCommit RepoInfoPostInput CreateFlow ServiceAccountPostInput ApiKeyPostInput CreateTrail
  JQEvaluator DefaultEvaluator FoundIssue IssueLocation RenameFlow ApiKeyRotateInput
  ServiceAccountPatchInput
`;

const cases = Object.entries(published).flatMap(([least, operations]) =>
  Object.entries(operations).map(([id, operation]) => [id, operation, least] as const),
);

function leastRole({ access }: Endpoint): string {
  return access.kind === "organization" ? access.role : access.kind;
}

describe("every published operation", () => {
  it("is one of 118", () => {
    expect(new Set(cases.map(([id]) => id)).size).toBe(118);
  });

  it.each(cases)("%s is %s, for a %s at least", (id, operation, least) => {
    const endpoint = (endpoints as Record<string, Endpoint>)[id];
    expect(endpoint, id).toBeDefined();
    expect(`${endpoint!.method} ${endpoint!.path.replace("...}", "}")}`).toBe(operation);
    expect(leastRole(endpoint!)).toBe(least);
  });

  it("reads what anybody may read of a public organization, but for what belongs to its members", () => {
    const closed = Object.keys(published["reader"]!).filter((id) => {
      const { access } = (endpoints as Record<string, Endpoint>)[id]!;
      return access.kind === "organization" && !access.anonymous;
    });
    expect(closed).toEqual(["list_service_accounts", "get_service_account"]);
  });
});

describe("the published objects in requests", () => {
  const names = (text: string): string[] => text.trim().split(/\s+/);
  const info = { version: "2.0", serverUrl: "http://waybill.test" };
  const document = openApiDocument(endpoints, info);
  const { schemas } = document["components"] as { schemas: Record<string, object> };

  it.each(names(strict))("%s refuses unknown keys", (name) => {
    expect(schemas[name]).toMatchObject({ type: "object", additionalProperties: false });
  });

  it.each(names(lenient))("%s takes unknown keys", (name) => {
    expect(schemas[name]).toMatchObject({ type: "object" });
    expect(schemas[name]).not.toMatchObject({ additionalProperties: false });
  });
});
