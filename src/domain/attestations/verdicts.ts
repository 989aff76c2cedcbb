/** Verdicts on what built-in kinds of attestations report (contract flows 7.5). */

/** Compliant: no suite had failures or errors. Nothing tested is nothing failed. */
export function junitVerdict(suites: readonly { failures: number; errors: number }[]): boolean {
  return suites.every(({ failures, errors }) => failures === 0 && errors === 0);
}

/** How many vulnerabilities of each severity were found. */
export interface ScanCounts {
  low_count: number;
  medium_count: number;
  high_count: number;
}

/** Compliant: nothing was found, whatever its severity. */
export function snykVerdict(projects: readonly ScanCounts[]): boolean {
  return projects.every(
    (found) => found.low_count === 0 && found.medium_count === 0 && found.high_count === 0,
  );
}

/** Compliant: there is a quality gate and it is passed. */
export function sonarVerdict(gate: { status: string } | null | undefined): boolean {
  return gate?.status === "OK";
}

/** Compliant: at least one issue is referred to, and all of them exist. */
export function jiraVerdict(issues: readonly { issue_exists: boolean }[]): boolean {
  return issues.length > 0 && issues.every((issue) => issue.issue_exists);
}

/** Compliant: there is a pull request, in whatever state. */
export function pullRequestVerdict(pullRequests: readonly unknown[]): boolean {
  return pullRequests.length > 0;
}
