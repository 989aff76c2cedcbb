import { z } from "zod";
import { listOf } from "./lists.ts";

import { gitCommitPattern } from "../domain/names.ts";
import { integer } from "./common.ts";
import { GitCommit, ReportedTimestamp } from "./reports.ts";

/** What scanners and services found, as attestations of the built-in types carry it (contract catalog 2.3). */

/** One suite of tests. Other keys are refused. */
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

/** Where an issue is. Clients leave `lines` out when they do not know it. */
export const IssueLocation = z
  .object({ uri: z.string(), lines: z.string().nullish() })
  .meta({ id: "IssueLocation" });

export const FoundIssue = z
  .object({
    id: z.string(),
    message: z.string(),
    locations: listOf(IssueLocation).nullish(),
    priority_score: z.number().nullish(),
  })
  .meta({ id: "FoundIssue" });

/** One scanned project. Counts decide; the lists explain them. */
export const ProjectScanResult = z
  .strictObject({
    low_count: integer(),
    medium_count: integer(),
    high_count: integer(),
    low: listOf(FoundIssue).nullish(),
    medium: listOf(FoundIssue).nullish(),
    high: listOf(FoundIssue).nullish(),
  })
  .meta({ id: "ProjectScanResult" });

export const SnykTool = z.strictObject({ name: z.string(), version: z.string() }).meta({ id: "SnykTool" });

export const SnykResultsSummary = z
  .strictObject({
    schema_version: integer().default(1),
    tool: SnykTool,
    results: listOf(ProjectScanResult),
  })
  .meta({ id: "SnykResultsSummary" });

export const SonarProject = z
  .looseObject({ name: z.string().default(""), key: z.string(), url: z.string() })
  .meta({ id: "SonarProject" });

export const QualityGateCondition = z
  .looseObject({
    metric: z.string(),
    errorThreshold: z.string(),
    operator: z.string(),
    status: z.string(),
    value: z.string().nullish(),
    onLeakPeriod: z.boolean().nullish(),
  })
  .meta({ id: "QualityGateCondition" });

export const QualityGate = z
  .looseObject({ name: z.string().nullish(), status: z.string(), conditions: listOf(QualityGateCondition) })
  .meta({ id: "QualityGate" });

/** What a code-quality server says about one analysis. Other keys are kept, at every level. */
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

/** The older form: approvers are names. */
export const FoundPullRequestV1 = z
  .strictObject({
    url: z.string(),
    state: z.string(),
    merge_commit: mergeCommit,
    approvers: listOf(z.string()).nullish(),
  })
  .meta({ id: "FoundPullRequestV1" });

export const PullRequestApprover = z
  .strictObject({
    username: z.string(),
    state: z.string().nullish(),
    timestamp: ReportedTimestamp.nullish(),
  })
  .meta({ id: "PullRequestApprover" });

/** The current form. Clients leave out what is empty, so little is required. */
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
