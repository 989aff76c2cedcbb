import { z } from "zod";

import { flowNamePattern, trailNamePattern } from "../domain/names.ts";
import { organizationRole } from "./access.ts";
import {
  CustomAttestationPostInput,
  GenericAttestationPostInput,
  JiraAttestationPostInput,
  JUnitAttestationPostInput,
  OverrideAttestationPostInput,
  PullRequestAttestationPostInput,
  SnykAttestationPostInput,
  SonarAttestationPostInput,
  SystemAttestationPostInput,
} from "./attestation-inputs.ts";
import { json, nameText, Ok } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

const binding =
  "Creates the flow and the trail when they do not exist. With `artifact_fingerprint` it is bound to that artifact, which must have been reported on the trail; with `target_artifacts` and a commit it waits for artifacts of these names built from that commit; else it is bound to the trail. Each call is a report of its own, and the newest of a name counts.";

/** What every kind has in common, but for path, summary and body. */
const common = {
  method: "POST",
  tag: "Attestation",
  access: organizationRole("member"),
  params: z.object({ flow_name: nameText(flowNamePattern), trail_name: nameText(trailNamePattern) }),
  responses: { 201: json("Reported", Ok) },
} as const;

const at = "/attestations/{org}/{flow_name}/trail/{trail_name}";

function dataJson<S extends z.ZodType>(schema: S) {
  return {
    kind: "multipart",
    field: "data_json",
    schema,
    files: { attachment_file: { kind: "evidence" } },
  } as const;
}

/** Reports of attestations, one operation for each kind (contract flows 7.1). */
export const attestationReportEndpoints = {
  post_generic_attestation: endpoint({
    ...common,
    path: `${at}/generic`,
    summary: "Attest anything",
    description: `The reporter says whether it complies. ${binding}`,
    body: dataJson(GenericAttestationPostInput),
  }),
  post_junit_attestation: endpoint({
    ...common,
    path: `${at}/junit`,
    summary: "Attest test results",
    description: `Complies when no suite has failures or errors. ${binding}`,
    body: dataJson(JUnitAttestationPostInput),
  }),
  post_snyk_attestation: endpoint({
    ...common,
    path: `${at}/snyk`,
    summary: "Attest a vulnerability scan",
    description: `Complies when nothing was found, whatever its severity. ${binding}`,
    body: dataJson(SnykAttestationPostInput),
  }),
  post_sonar_attestation: endpoint({
    ...common,
    path: `${at}/sonar`,
    summary: "Attest a code-quality scan",
    description: `Complies when the quality gate's status is \`OK\`. ${binding}`,
    body: dataJson(SonarAttestationPostInput),
  }),
  post_jira_attestation: endpoint({
    ...common,
    path: `${at}/jira`,
    summary: "Attest references to issues",
    description: `Complies when there is an issue and all of them exist. ${binding}`,
    body: dataJson(JiraAttestationPostInput),
  }),
  post_pull_request_attestation: endpoint({
    ...common,
    path: `${at}/pull_request`,
    summary: "Attest pull requests",
    description: `Complies when there is one, in whatever state. ${binding}`,
    body: dataJson(PullRequestAttestationPostInput),
  }),
  post_custom_attestation: endpoint({
    ...common,
    path: `${at}/custom`,
    summary: "Attest data of a custom type",
    description: `Data that do not fit the type's schema are refused; they comply when each rule yields true. The type's latest version judges, or the one that \`name@v2\` names. ${binding}`,
    body: dataJson(CustomAttestationPostInput),
  }),
  post_system_attestation: endpoint({
    ...common,
    path: `${at}/system`,
    summary: "Record a decision about a control",
    description: `Complies when \`attestation_data.is_compliant\` is true. The control need not exist. ${binding}`,
    body: dataJson(SystemAttestationPostInput),
  }),
  post_override_attestation: endpoint({
    ...common,
    path: `${at}/override`,
    summary: "Override the verdict of an attestation",
    description: `Takes the place of the verdict that counts under this name, until a report comes after it. Nothing need have been reported yet. ${binding}`,
    body: { kind: "json", schema: OverrideAttestationPostInput },
    responses: { 200: json("Reported", Ok) },
  }),
} satisfies Endpoints;
