/** Columns of what reports may say at length. */
export const largeColumns = [
  "filename",
  "description",
  "git_commit_info",
  "commit_url",
  "build_url",
  "repo_url",
  "external_urls",
  "annotations",
  "user_data",
] as const;
