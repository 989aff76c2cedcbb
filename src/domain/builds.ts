/** What a report says about a build and never changes; absent or null parts of the commit are unknown. */
export interface BuildFacts {
  fingerprint: string;
  trail_name: string;
  filename: string;
  build_url: string;
  git_commit: string | null;
  git_commit_info: ReportedCommit | null;
}

/** A build's commit as it is shown (interface spec 2). */
interface BuildCommit {
  sha1: string | null;
  message: string | null;
  author: string | null;
  branch: string | null;
  timestamp: number | null;
  url: string | null;
}

/** What a report says about a commit. */
type ReportedCommit = { [Part in keyof BuildCommit]?: BuildCommit[Part] | undefined };

function shownCommit(commit: ReportedCommit): BuildCommit {
  const { sha1 = null, message = null, author = null, branch = null, timestamp = null, url = null } = commit;
  return { sha1, message, author, branch, timestamp, url };
}

/**
 * Writes the members of a build's JSON (interface spec 2) that never change, without the braces around them. Its time
 * is missing, which is decided when it is numbered, and so are its flow and repo, which may be renamed.
 */
export function buildMembers(facts: BuildFacts): string {
  const { fingerprint, trail_name, filename, build_url, git_commit, git_commit_info } = facts;
  return JSON.stringify({
    fingerprint,
    trail_name,
    filename,
    build_url,
    git_commit,
    git_commit_info: git_commit_info === null ? null : shownCommit(git_commit_info),
  }).slice(1, -1);
}
