import { z } from "zod";

import { organizationReader } from "./access.ts";
import { RuleEvaluation } from "./asserts.ts";
import { json, Timestamp } from "./common.ts";
import { endpoint, type Endpoints } from "./endpoint.ts";
import { PaginationInfo } from "./pagination.ts";
import {
  choiceParameter,
  integerParameter,
  listParameter,
  pageParameter,
  textParameter,
} from "./parameters.ts";
import { NamedRule, rulesParameter } from "./snapshots.ts";

const status = z.enum(["COMPLIANT", "NON-COMPLIANT", "UNKNOWN"]);

/** An attestation that decides on a rule. */
const RuleAttestation = z
  .object({
    attestation_id: z.string(),
    attestation_name: z.string(),
    attestation_type: z.string(),
    is_compliant: z.boolean(),
    is_override: z.boolean(),
    reported_at: Timestamp,
    html_url: z.string(),
  })
  .meta({ id: "RuleAttestation" });

/** One rule of one policy, for an artifact in one flow. */
const RuleRequirement = z
  .object({
    policy_name: z.string(),
    policy_version: z.int(),
    /** Place of the rule among the policy's: provenance, trail-compliance, then the attestations. */
    rule_index: z.int(),
    /** Left out with `rules=once`. */
    rule: RuleEvaluation.shape.rule.optional(),
    /** Null when no flow knows the artifact. */
    flow_name: z.string().nullable(),
    trail_name: z.string().nullable(),
    /** Given for trail-compliance only; see the trail's own explanation for details. */
    artifact_status: z.string().nullable(),
    outcome: z.enum(["met", "missing", "failed", "not_applicable"]),
    /** The outcome in words. */
    reason: z.string(),
    /** The attestation that decided. */
    attestation: RuleAttestation.nullable(),
    /** A matching attestation from after the snapshot: the next report of the environment will take it into account. */
    reported_since: RuleAttestation.nullable(),
    /** The trail's page. */
    html_url: z.string().nullable(),
  })
  .meta({ id: "RuleRequirement" });

/** A report that would help an artifact to comply. */
export const ProposedRemedy = z
  .object({
    /** Report the artifact, make its trail compliant, or report an attestation. */
    kind: z.enum(["artifact", "trail", "attestation"]),
    /** Null for the flow the artifact is going to be reported to. */
    flow_name: z.string().nullable(),
    trail_name: z.string().nullable(),
    artifact_fingerprint: z.string(),
    /** The artifact's state on its trail now. */
    artifact_status: z.string().nullable(),
    /** `*` when any will do. */
    attestation_name: z.string().nullable(),
    attestation_type: z.string().nullable(),
    /** The control a decision has to be about. */
    for_control: z.string().nullable(),
    /** The rules that need it. */
    rules: z.array(z.object({ policy_name: z.string(), rule_index: z.int() })),
  })
  .meta({ id: "ProposedRemedy" });
export type ProposedRemedy = z.output<typeof ProposedRemedy>;

/** Why an artifact has its verdict in an environment. */
const EnvironmentArtifactExplanation = z
  .object({
    artifact_name: z.string(),
    /** Empty when the digest is not known. */
    artifact_fingerprint: z.string(),
    status,
    is_compliant: z.boolean(),
    /** The verdict in one line. */
    summary: z.string(),
    allow_listed: z.boolean(),
    requirements: z.array(RuleRequirement),
    /** As few reports as make it compliant; empty when it meets the policies attached here. */
    proposed_reports: z.array(ProposedRemedy),
  })
  .meta({ id: "EnvironmentArtifactExplanation" });

/** Why an environment has its verdict (an extension of the public interface). */
export const EnvironmentExplanation = z
  .object({
    environment_name: z.string(),
    environment_type: z.string(),
    snapshot_index: z.int(),
    is_latest: z.boolean(),
    status,
    is_compliant: z.boolean(),
    /** The verdict in one line. */
    summary: z.string(),
    /** The time of the snapshot. */
    evaluated_at: Timestamp,
    /** The applied policies, with the number of artifacts that do not meet each. */
    policies: z.array(z.object({ name: z.string(), version: z.int(), failing_artifacts: z.int() })),
    /** The present verdicts on the members of a logical environment; null for a physical one. */
    members: z.array(z.object({ name: z.string(), status })).nullable(),
    /** The artifacts that ran, in the order of the snapshot. */
    artifacts: z.array(EnvironmentArtifactExplanation),
    html_url: z.string(),
    /** The rules that `artifacts` refers to. Only with `rules=once`. */
    rules: z.array(NamedRule).optional(),
    /** Only when a page is asked for. */
    pagination: PaginationInfo.optional(),
  })
  .meta({ id: "EnvironmentExplanation" });
export type EnvironmentExplanation = z.output<typeof EnvironmentExplanation>;

/** Artifacts on a page, unless `per_page` says otherwise. */
export const standardPage = 15;

/** Query that chooses the snapshot, and artifacts of it. */
const ExplanationQuery = z.object({
  snapshot: textParameter().optional(),
  fingerprint: listParameter(textParameter()),
  only: choiceParameter(["failing"]).optional(),
  rules: rulesParameter,
  page: pageParameter().optional(),
  per_page: integerParameter({ min: 1, max: 1000 }).optional(),
});
export type ExplanationQuery = z.output<typeof ExplanationQuery>;

export const environmentExplanationEndpoints = {
  explain_environment: endpoint({
    method: "GET",
    path: "/environments/{org}/{env_name}/explain",
    tag: "Environments",
    summary: "Explain an environment's verdict",
    description:
      "Every rule of every policy for every artifact of a snapshot, as it was judged then, with the record that decided on " +
      "it, and the fewest reports that would make each artifact comply. `snapshot` is an expression as in the path of a " +
      "snapshot; without it the latest is meant. `fingerprint` (may be repeated) and `only=failing` choose among the artifacts, " +
      "and with `page` or `per_page` (15 unless given) one page of those chosen is shown, with `pagination`; status, summary, " +
      "policies and members are always those of the whole snapshot. With `rules=once` requirements do without `rule`: all " +
      "rules are in the field `rules`, to be found by `policy_name` and `rule_index`. The answer may be long, and is made " +
      "while it is sent.",
    access: organizationReader,
    kept: true,
    query: ExplanationQuery,
    responses: { 200: json("The explanation", EnvironmentExplanation) },
  }),
} satisfies Endpoints;
