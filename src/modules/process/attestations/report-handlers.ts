import type { CommonAttestationInput } from "../../../contract/attestation-inputs.ts";
import type { attestationReportEndpoints } from "../../../contract/attestation-reports.ts";
import type { UploadedEvidence } from "../../../contract/endpoint.ts";
import {
  jiraVerdict,
  junitVerdict,
  pullRequestVerdict,
  snykVerdict,
  sonarVerdict,
} from "../../../domain/attestations/verdicts.ts";
import type { Actor, OrgAccess } from "../../../domain/principal.ts";
import type { Handlers } from "../../kernel/call.ts";
import type { Deps } from "../../kernel/deps.ts";
import { judgeCustom } from "./custom-service.ts";
import type { KindOfAttestation } from "./new-attestation.ts";
import { reportAttestation } from "./service.ts";

interface ReportCall {
  org: OrgAccess;
  actor: Actor;
  params: { flow_name: string; trail_name: string };
  body: CommonAttestationInput;
  files: { attachment_file?: UploadedEvidence } | undefined;
  bodyBytes: number;
}

/** Picks what every kind may say; the rest is the kind's own. */
function commonOf(body: CommonAttestationInput): CommonAttestationInput {
  return {
    attestation_name: body.attestation_name,
    origin_url: body.origin_url,
    description: body.description,
    artifact_fingerprint: body.artifact_fingerprint,
    target_artifacts: body.target_artifacts,
    git_commit_info: body.git_commit_info,
    repo_info: body.repo_info,
    external_urls: body.external_urls,
    annotations: body.annotations,
    user_data: body.user_data,
  };
}

async function store(deps: Deps, call: ReportCall, kind: KindOfAttestation): Promise<void> {
  const { org, actor, params, body, bodyBytes } = call;
  const attachment = call.files?.attachment_file;
  await reportAttestation(deps, org, {
    flow_name: params.flow_name,
    trail_name: params.trail_name,
    common: commonOf(body),
    kind,
    attachment,
    actor,
    bodyBytes,
  });
}

async function report(deps: Deps, call: ReportCall, kind: KindOfAttestation) {
  await store(deps, call, kind);
  return { status: 201 as const, body: "OK" as const };
}

export const attestationReportHandlers: Handlers<typeof attestationReportEndpoints> = {
  post_generic_attestation: (deps, call) => {
    const { is_compliant } = call.body;
    return report(deps, call, { type: "generic", is_compliant, type_data: {} });
  },

  post_junit_attestation: (deps, call) => {
    const { junit_results } = call.body;
    const is_compliant = junitVerdict(junit_results.value);
    return report(deps, call, { type: "junit", is_compliant, type_data: { junit_results } });
  },

  post_snyk_attestation: (deps, call) => {
    const { snyk_results } = call.body;
    const is_compliant = snykVerdict(snyk_results.value.results);
    const type_data = { processed_snyk_results: snyk_results };
    return report(deps, call, { type: "snyk", is_compliant, type_data });
  },

  post_sonar_attestation: (deps, call) => {
    const { sonar_results } = call.body;
    const is_compliant = sonarVerdict(sonar_results.value.qualityGate);
    return report(deps, call, { type: "sonar", is_compliant, type_data: { sonar_results } });
  },

  post_jira_attestation: (deps, call) => {
    const { jira_results } = call.body;
    const is_compliant = jiraVerdict(jira_results.value);
    return report(deps, call, { type: "jira", is_compliant, type_data: { jira_results } });
  },

  post_pull_request_attestation: (deps, call) => {
    const { git_provider, pull_requests } = call.body;
    const is_compliant = pullRequestVerdict(pull_requests.value);
    const type_data = { git_provider, pull_requests };
    return report(deps, call, { type: "pull_request", is_compliant, type_data });
  },

  post_custom_attestation: async (deps, call) =>
    report(deps, call, await judgeCustom(deps, call.org, call.body)),

  post_system_attestation: (deps, call) => {
    const { type_name, attestation_data, control } = call.body;
    return report(deps, call, {
      type: `system:${type_name}`,
      is_compliant: attestation_data.value.is_compliant,
      type_data: { attestation_data },
      control_identifier: control ?? null,
    });
  },

  post_override_attestation: async (deps, call) => {
    const { reason, new_compliance_status, original_attestation_type } = call.body;
    await store(deps, call, {
      // Stored with the type of what it overrides, if there is something (`typeOfOverride`).
      type: original_attestation_type,
      is_compliant: new_compliance_status,
      is_override: true,
      type_data: { reason, new_compliance_status, original_attestation_type },
    });
    return { status: 200, body: "OK" };
  },
};
