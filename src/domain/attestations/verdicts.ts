/** Verdicts on what built-in kinds of attestations report (contract flows 7.5). */

/** Judges suites of tests: compliant when none had failures or errors. Nothing tested is nothing failed. */
export function junitVerdict(suites: readonly { failures: number; errors: number }[]): boolean {
  return suites.every(({ failures, errors }) => failures === 0 && errors === 0);
}

/** How many vulnerabilities of each severity were found. */
interface ScanCounts {
  low_count: number;
  medium_count: number;
  high_count: number;
}

/** Judges scans for vulnerabilities: compliant when none was found, whatever its severity. */
export function snykVerdict(projects: readonly ScanCounts[]): boolean {
  return projects.every(
    (found) => found.low_count === 0 && found.medium_count === 0 && found.high_count === 0,
  );
}

/** Judges a quality gate: compliant when there is one and it is passed. */
export function sonarVerdict(gate: { status: string } | null | undefined): boolean {
  return gate?.status === "OK";
}

/** Judges references to issues: compliant when there is at least one, and all issues exist. */
export function jiraVerdict(issues: readonly { issue_exists: boolean }[]): boolean {
  return issues.length > 0 && issues.every((issue) => issue.issue_exists);
}

/** Judges pull requests: compliant when there is one, in whatever state. */
export function pullRequestVerdict(pullRequests: readonly unknown[]): boolean {
  return pullRequests.length > 0;
}
