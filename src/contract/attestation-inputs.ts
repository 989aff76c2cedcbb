import { z } from "zod";
import { listOf } from "./lists.ts";

import { attestationNamePattern, controlIdentifierPattern, fingerprintPattern } from "../domain/names.ts";
import { attestationTypes, customTypePattern } from "../domain/template/model.ts";
import {
  FoundPullRequestV1,
  FoundPullRequestV2,
  JiraItem,
  JUnitResult,
  SnykResultsSummary,
  SonarResults,
} from "./attestation-results.ts";
import { indexedText, nameText } from "./common.ts";
import { exact, exactUnpacked, exactUnpackedOpaque } from "./exact.ts";
import { Annotations, ExternalUrls, GitCommit, GivenUserData, RepoInfoPostInput } from "./reports.ts";
import { urlText } from "./url-text.ts";

/** Fields that attestations of every kind may have (contract flows 7.2, catalog 2.3). */
const commonFields = {
  attestation_name: nameText(attestationNamePattern),
  origin_url: urlText().nullish(),
  description: z.string().nullish(),
  artifact_fingerprint: z.string().regex(fingerprintPattern).nullish(),
  target_artifacts: listOf(nameText(attestationNamePattern), { max: 1000 }).nullish(),
  git_commit_info: GitCommit.nullish(),
  repo_info: RepoInfoPostInput.nullish(),
  external_urls: ExternalUrls.nullish(),
  annotations: Annotations.nullish(),
  user_data: GivenUserData.nullish(),
};

const CommonFields = z.object(commonFields);
export type CommonAttestationInput = z.output<typeof CommonFields>;

/** Body of an attestation whose verdict the reporter gives. */
export const GenericAttestationPostInput = z
  .strictObject({ ...commonFields, is_compliant: z.boolean() })
  .meta({ id: "GenericAttestationPostInput" });

/** Body of test results. */
export const JUnitAttestationPostInput = z
  .strictObject({ ...commonFields, junit_results: exact(listOf(JUnitResult)) })
  .meta({ id: "JUnitAttestationPostInput" });

/** Body of a vulnerability scan. */
export const SnykAttestationPostInput = z
  .strictObject({ ...commonFields, snyk_results: exact(SnykResultsSummary) })
  .meta({ id: "SnykAttestationPostInput" });

/** Body of a code-quality analysis. */
export const SonarAttestationPostInput = z
  .strictObject({ ...commonFields, sonar_results: exact(SonarResults) })
  .meta({ id: "SonarAttestationPostInput" });

/** Body of references to issues. */
export const JiraAttestationPostInput = z
  .strictObject({ ...commonFields, jira_results: exact(listOf(JiraItem)) })
  .meta({ id: "JiraAttestationPostInput" });

/** Body of pull requests, each in the older or the current form. */
export const PullRequestAttestationPostInput = z
  .strictObject({
    ...commonFields,
    git_provider: z.enum(["github", "gitlab", "bitbucket", "azure"]),
    pull_requests: exact(listOf(z.union([FoundPullRequestV1, FoundPullRequestV2]))),
  })
  .meta({ id: "PullRequestAttestationPostInput" });

/** Required data of any JSON type. */
export const AttestationData = exactUnpackedOpaque(
  z.unknown().refine((value) => value !== undefined, { error: "Field required" }),
);

/** Body of an attestation of a custom type. `type_name` may name a version: `coverage@v2`. */
export const CustomAttestationPostInput = z
  .strictObject({
    ...commonFields,
    type_name: indexedText(),
    attestation_data: AttestationData,
  })
  .meta({ id: "CustomAttestationPostInput" });

/** Data of a decision. Other keys are kept. */
const DecisionData = z.looseObject({ is_compliant: z.boolean() });

/** The system's own attestation types, with the schemas of their data, oldest version first. */
export const systemAttestationTypes = { decision: [DecisionData] };

/** Body of a decision about a control, which need not exist. Other keys are ignored. */
export const SystemAttestationPostInput = z
  .looseObject({
    ...commonFields,
    type_name: z.enum(["decision"]),
    control: z.string().max(256).regex(controlIdentifierPattern).nullish(),
    attestation_data: exactUnpacked(DecisionData),
  })
  .meta({ id: "SystemAttestationPostInput" });

/** Body of an override: the verdict that replaces the one that counts now, if there is one. */
export const OverrideAttestationPostInput = z
  .strictObject({
    ...commonFields,
    reason: z.string(),
    new_compliance_status: z.boolean(),
    original_attestation_type: z.union([
      z.enum(attestationTypes),
      indexedText().regex(customTypePattern),
      indexedText().regex(/^system:.*$/),
    ]),
  })
  .meta({ id: "OverrideAttestationPostInput" });
