const words: Readonly<Record<string, string>> = {
  github: "GitHub",
  gitlab: "GitLab",
  bitbucket: "Bitbucket",
  bitbucket_cloud: "Bitbucket Cloud",
  bitbucket_dc: "Bitbucket Data Center",
  "azure-devops": "Azure DevOps",
  azure_devops_services: "Azure DevOps Services",
  azure_devops_server: "Azure DevOps Server",
  subversion: "Subversion",
};

/** Names who keeps a repo. */
export function providerWords(provider: string | null): string {
  return provider === null ? "" : (words[provider] ?? provider);
}
