import { z } from "zod";
import { listOf } from "./lists.ts";

import { gitCommitPattern } from "../domain/names.ts";
import { integer } from "./common.ts";
import { GitCommit, ReportedTimestamp } from "./reports.ts";

/** Results of one test suite, as attestations of built-in types carry them (contract catalog 2.3). Other keys are refused. */
export const JUnitResult = z
  .strictObject({
    name: z.string(),
    failures: integer(),
    errors: integer(),
    skipped: integer(),
    total: integer(),
    /** Seconds. */
    duration: z.number(),
    timestamp: ReportedTimestamp.nullish(),
  })
  .meta({ id: "JUnitResult" });

/** The place of an issue. Clients leave `lines` out when they do not know it. */
const IssueLocation = z
  .object({ uri: z.string(), lines: z.string().nullish() })
  .meta({ id: "IssueLocation" });

/** A vulnerability that a scan found. */
const FoundIssue = z
  .object({
    id: z.string(),
    message: z.string(),
    locations: listOf(IssueLocation).nullish(),
    priority_score: z.number().nullish(),
  })
  .meta({ id: "FoundIssue" });

/** Results of one scanned project. The counts decide; the lists explain them. */
const ProjectScanResult = z
  .strictObject({
    low_count: integer(),
    medium_count: integer(),
    high_count: integer(),
    low: listOf(FoundIssue).nullish(),
    medium: listOf(FoundIssue).nullish(),
    high: listOf(FoundIssue).nullish(),
  })
  .meta({ id: "ProjectScanResult" });

const SnykTool = z.strictObject({ name: z.string(), version: z.string() }).meta({ id: "SnykTool" });

/** Results of a vulnerability scan, project by project. Other keys are refused. */
export const SnykResultsSummary = z
  .strictObject({
    schema_version: integer().default(1),
    tool: SnykTool,
    results: listOf(ProjectScanResult),
  })
  .meta({ id: "SnykResultsSummary" });

const SonarProject = z
  .looseObject({ name: z.string().default(""), key: z.string(), url: z.string() })
  .meta({ id: "SonarProject" });

/** A condition of a quality gate, with its verdict. */
const QualityGateCondition = z
  .looseObject({
    metric: z.string(),
    errorThreshold: z.string(),
    operator: z.string(),
    status: z.string(),
    value: z.string().nullish(),
    onLeakPeriod: z.boolean().nullish(),
  })
  .meta({ id: "QualityGateCondition" });

/** A quality gate; `status` is its verdict. */
const QualityGate = z
  .looseObject({ name: z.string().nullish(), status: z.string(), conditions: listOf(QualityGateCondition) })
  .meta({ id: "QualityGate" });

/** Results of one code-quality analysis. Other keys are kept, at every level. */
export const SonarResults = z
  .looseObject({
    serverUrl: z.string().nullish(),
    taskId: z.string().nullish(),
    status: z.string().nullish(),
    analysedAt: z.string(),
    revision: z.string(),
    changedAt: z.string().nullish(),
    project: SonarProject,
    qualityGate: QualityGate.nullish(),
  })
  .meta({ id: "SonarResults" });

/** An issue that a change refers to. */
export const JiraItem = z
  .strictObject({
    issue_id: z.string(),
    issue_url: z.string(),
    issue_exists: z.boolean(),
    issue_fields: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: "JiraItem" });

/** A commit id; unmerged pull requests have an empty one. */
const mergeCommit = z.union([z.literal(""), z.string().regex(gitCommitPattern)]);

/** A pull request in the older form, in which approvers are names. */
export const FoundPullRequestV1 = z
  .strictObject({
    url: z.string(),
    state: z.string(),
    merge_commit: mergeCommit,
    approvers: listOf(z.string()).nullish(),
  })
  .meta({ id: "FoundPullRequestV1" });

/** Somebody who approved a pull request, and when. */
const PullRequestApprover = z
  .strictObject({
    username: z.string(),
    state: z.string().nullish(),
    timestamp: ReportedTimestamp.nullish(),
  })
  .meta({ id: "PullRequestApprover" });

/** A pull request in the current form. Clients leave out what is empty, so little is required. */
export const FoundPullRequestV2 = z
  .strictObject({
    url: z.string(),
    state: z.string(),
    author: z.string().nullish(),
    title: z.string().nullish(),
    created_at: ReportedTimestamp.nullish(),
    merged_at: ReportedTimestamp.nullish(),
    head_ref: z.string().nullish(),
    base_ref: z.string().nullish(),
    merge_commit: mergeCommit.nullish(),
    approvers: listOf(z.union([PullRequestApprover, z.string()])).nullish(),
    commits: listOf(GitCommit).nullish(),
  })
  .meta({ id: "FoundPullRequestV2" });
