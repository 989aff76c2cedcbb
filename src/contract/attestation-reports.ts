import type { z } from "zod";

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
import { json, Ok, trailParams } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";

const binding =
  "Creates the flow and the trail when they do not exist. With `artifact_fingerprint` it is bound to that artifact, which must have been reported on the trail; with `target_artifacts` and a commit it waits for artifacts of these names built from that commit; else it is bound to the trail. Each call is a report of its own, and the newest of a name counts.";

/** What the operations of all kinds have in common. */
const common = {
  method: "POST",
  tag: "Attestation",
  access: organizationRole("member"),
  params: trailParams,
  responses: { 201: json("Reported", Ok) },
} as const;

const at = "/attestations/{org}/{flow_name}/trail/{trail_name}";

/** Declares the operation that reports one kind of attestation, perhaps with a file (contract flows 7.1). */
function attestationOf<Kind extends string, Schema extends z.ZodType>(
  kind: Kind,
  { summary, verdict, schema }: { summary: string; verdict: string; schema: Schema },
) {
  return endpoint({
    ...common,
    path: `${at}/${kind}`,
    summary,
    description: `${verdict} ${binding}`,
    body: { kind: "multipart", field: "data_json", schema, files: { attachment_file: { kind: "evidence" } } },
  });
}

/** Reports of attestations, one operation for each kind. */
export const attestationReportEndpoints = {
  post_generic_attestation: attestationOf("generic", {
    summary: "Attest anything",
    verdict: "The reporter says whether it complies.",
    schema: GenericAttestationPostInput,
  }),
  post_junit_attestation: attestationOf("junit", {
    summary: "Attest test results",
    verdict: "Complies when no suite has failures or errors.",
    schema: JUnitAttestationPostInput,
  }),
  post_snyk_attestation: attestationOf("snyk", {
    summary: "Attest a vulnerability scan",
    verdict: "Complies when nothing was found, whatever its severity.",
    schema: SnykAttestationPostInput,
  }),
  post_sonar_attestation: attestationOf("sonar", {
    summary: "Attest a code-quality scan",
    verdict: "Complies when the quality gate's status is `OK`.",
    schema: SonarAttestationPostInput,
  }),
  post_jira_attestation: attestationOf("jira", {
    summary: "Attest references to issues",
    verdict: "Complies when there is an issue and all of them exist.",
    schema: JiraAttestationPostInput,
  }),
  post_pull_request_attestation: attestationOf("pull_request", {
    summary: "Attest pull requests",
    verdict: "Complies when there is one, in whatever state.",
    schema: PullRequestAttestationPostInput,
  }),
  post_custom_attestation: attestationOf("custom", {
    summary: "Attest data of a custom type",
    verdict:
      "Data that do not fit the type's schema are refused; they comply when each rule yields true. The type's latest version judges, or the one that `name@v2` names.",
    schema: CustomAttestationPostInput,
  }),
  post_system_attestation: attestationOf("system", {
    summary: "Record a decision about a control",
    verdict: "Complies when `attestation_data.is_compliant` is true. The control need not exist.",
    schema: SystemAttestationPostInput,
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
