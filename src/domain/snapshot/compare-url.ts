import { parseUrl } from "../../lib/url.ts";

/** A commit's page, taken apart. */
interface CommitPage {
  /** What the pages of two commits of one repo have in common. */
  repo: string;
  sha: string;
  compare: (previous: string, current: string) => string;
}

type Compare = (repo: string, previous: string, current: string) => string;

/** Kinds of code host, with the pattern of a commit's address and the address of a comparison. The first match wins. */
const hosts: readonly { pattern: RegExp; compare: Compare }[] = [
  {
    // Azure DevOps
    pattern: /^(https?:\/\/[^/]+(?:\/[^/]+)*\/_git\/[^/]+)\/commit\/([0-9a-f]{7,64})$/i,
    compare: (repo, previous, current) =>
      `${repo}/branchCompare?baseVersion=GC${previous}&targetVersion=GC${current}&_a=files`,
  },
  {
    // GitLab
    pattern: /^(https?:\/\/[^/]+(?:\/[^/]+){2,})\/-\/commit\/([0-9a-f]{7,64})$/i,
    compare: (repo, previous, current) => `${repo}/-/compare/${previous}...${current}`,
  },
  {
    // Bitbucket Data Center, also below a path
    pattern:
      /^(https?:\/\/[^/]+(?:\/[^/]+)*\/(?:projects|users)\/[^/]+\/repos\/[^/]+)\/commits\/([0-9a-f]{7,64})$/i,
    compare: (repo, previous, current) =>
      `${repo}/compare/diff?targetBranch=${previous}&sourceBranch=${current}`,
  },
  {
    // Bitbucket Cloud, which names the newer commit first
    pattern: /^(https?:\/\/bitbucket\.org\/[^/]+\/[^/]+)\/commits\/([0-9a-f]{7,64})$/i,
    compare: (repo, previous, current) => `${repo}/branches/compare/${current}..${previous}`,
  },
  {
    // GitHub, and others with its addresses
    pattern: /^(https?:\/\/[^/]+(?:\/[^/]+){2,})\/commit\/([0-9a-f]{7,64})$/i,
    compare: (repo, previous, current) => `${repo}/compare/${previous}...${current}`,
  },
];

/** Longer than any address of a commit; the patterns above are not for more. */
const maxLength = 2000;

/** Removes from an address what does not belong to the page: query, fragment, a slash at the end. */
function plainAddress(text: string): string | undefined {
  const url = text.length > maxLength ? undefined : parseUrl(text);
  if (url === undefined) return undefined;
  const { protocol, username, password, origin, pathname } = url;
  const isWeb = (protocol === "https:" || protocol === "http:") && username === "" && password === "";
  return isWeb ? origin + pathname.replace(/\/$/, "") : undefined;
}

function readCommitPage(url: string): CommitPage | undefined {
  const address = plainAddress(url);
  if (address === undefined) return undefined;
  for (const { pattern, compare } of hosts) {
    const [, repo, sha] = pattern.exec(address) ?? [];
    if (repo !== undefined && sha !== undefined)
      return { repo, sha, compare: (previous, current) => compare(repo, previous, current) };
  }
  return undefined;
}

/**
 * Finds the page that compares two commits of one repo, from the addresses of the commits' own pages: GitHub, GitLab,
 * Bitbucket (Cloud and Data Center) and Azure DevOps, on any host, and whatever has the same addresses. Null for
 * others, and for commits of different repos.
 */
export function compareUrl(previous: string | null, current: string | null): string | null {
  const [from, to] = [readCommitPage(previous ?? ""), readCommitPage(current ?? "")];
  if (from === undefined || to === undefined) return null;
  return from.repo.toLowerCase() === to.repo.toLowerCase() ? to.compare(from.sha, to.sha) : null;
}
