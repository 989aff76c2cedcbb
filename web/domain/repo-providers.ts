/** Who keeps repos, as the API names them. */
export const repoProviders = [
  "github",
  "gitlab",
  "bitbucket",
  "bitbucket_cloud",
  "bitbucket_dc",
  "azure-devops",
  "azure_devops_services",
  "azure_devops_server",
  "circleci",
  "git",
  "subversion",
] as const;
