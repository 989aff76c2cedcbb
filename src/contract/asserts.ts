import { z } from "zod";

import { complianceStates } from "../domain/compliance/model.ts";
import { organizationReader } from "./access.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { listParameter, textParameter } from "./parameters.ts";

/** The state of one attestation name in an artifact's verdict. */
const AttestationComplianceStatusResponse = z
  .object({
    attestation_name: z.string(),
    attestation_type: z.string().nullable(),
    status: z.enum(["COMPLETE", "MISSING"]),
    is_compliant: z.boolean().nullable(),
    unexpected: z.boolean(),
  })
  .meta({ id: "AttestationComplianceStatusResponse" });

/** The verdict on an artifact on its trail, with all attestations it rests on: those of the trail, then its own. */
export const ArtifactComplianceResult = z
  .object({
    artifact_fingerprint: z.string().nullable(),
    status: z.enum([...complianceStates, "MISSING"]),
    is_compliant: z.boolean().nullable(),
    attestations_statuses: z.array(AttestationComplianceStatusResponse),
    /** The time of the report that led to this verdict. */
    evaluated_at: Timestamp.nullable(),
    /** Not in the trail's template. */
    unexpected: z.boolean(),
  })
  .meta({ id: "ArtifactComplianceResultResponse" });

/** A flow that knows the artifact, by its latest trail there. */
const AssertedFlow = z
  .object({
    flow: z.string(),
    trail: z.string().nullable(),
    compliant: z.boolean(),
    compliance_status: ArtifactComplianceResult.nullable(),
    html_url: z.string(),
  })
  .meta({ id: "AssertArtifactFlowResponse" });

/** A condition under which a rule does not apply. */
const Exception = z.object({ if: z.object({ text: z.string() }).nullable() });

/** A rule of a policy with its verdict, in all and for each flow. */
export const RuleEvaluation = z
  .object({
    rule: z.object({
      type: z.enum(["provenance", "trail-compliance", "attestation"]),
      definition: z.union([
        z.object({ required: z.boolean(), exceptions: z.array(Exception) }),
        z.object({
          if: z.object({ text: z.string() }).nullable(),
          name: z.string(),
          type: z.string(),
          must_be_compliant: z.boolean(),
          for_control: z.string().nullable(),
        }),
      ]),
    }),
    /** Null when the rule is ignored. */
    satisfied: z.boolean().nullable(),
    ignored: z.boolean(),
    /** One for each flow, in their order; one without a flow when no flow knows the artifact. */
    resolutions: z.array(
      z.object({
        type: z.string(),
        context: z.object({
          flow_name: z.string().nullable(),
          trail_name: z.string().nullable(),
          artifact_status: z.string().nullable(),
          for_control: z.string().optional(),
        }),
      }),
    ),
  })
  .meta({ id: "RuleEvaluationResponse" });

/** The verdict of one policy on an artifact (contract environments 4.4). */
const PolicyEvaluation = z
  .object({
    policy_name: z.string(),
    policy_version: z.int(),
    status: z.enum(["COMPLIANT", "NON-COMPLIANT"]),
    rule_evaluations: z.array(RuleEvaluation),
  })
  .meta({ id: "PolicyEvaluationResponse" });

/** Who trusts an artifact in an environment, and why. */
const AllowlistInformation = z
  .object({
    allowlist_id: z.string(),
    allowed_by_user_id: z.string(),
    timestamp: Timestamp,
    description: z.string(),
  })
  .meta({ id: "AllowlistInformation" });

/** Whether an artifact may be used, and why (contract environments 7.1). */
export const AssertArtifact = z
  .object({
    fingerprint: z.string(),
    /** Name of the first flow; empty, like `trail`, for an allow-listed artifact that no flow knows. */
    flow: z.string(),
    trail: z.string(),
    compliant: z.boolean(),
    compliance_status: ArtifactComplianceResult.nullable(),
    html_url: z.string(),
    /** The flows in the order in which they first knew it. */
    flows: z.array(AssertedFlow),
    scope: z.enum(["flow", "environment", "policy"]),
    environment: z.string().nullable(),
    /** Null when the flows decide. */
    policy_evaluations: z.array(PolicyEvaluation).nullable(),
    allow_listing: AllowlistInformation.nullable(),
  })
  .meta({ id: "AssertArtifactResponse" });
export type AssertArtifact = z.output<typeof AssertArtifact>;
export type ArtifactComplianceResult = z.output<typeof ArtifactComplianceResult>;

/** Query that chooses what to judge by. Empty values count as left out. */
export const AssertQuery = z.object({
  flow_name: textParameter().optional(),
  environment_name: textParameter().optional(),
  policy_name: listParameter(textParameter()).optional(),
});
export type AssertQuery = z.output<typeof AssertQuery>;

export const assertEndpoints = {
  assert_artifact: endpoint({
    method: "GET",
    path: "/asserts/{org}/fingerprint/{fingerprint}",
    tag: "Asserts",
    summary: "Tell whether an artifact complies",
    description:
      "By the policies attached to `environment_name`, by the policies named in `policy_name` (may be repeated), or by the " +
      "templates of the flows that know it. `flow_name` restricts it to one flow. An environment without policies leaves " +
      "it to the flows. The answer is 200 whatever the verdict.",
    access: organizationReader,
    kept: true,
    query: AssertQuery,
    responses: { 200: json("The verdict", AssertArtifact) },
  }),
} satisfies Endpoints;
