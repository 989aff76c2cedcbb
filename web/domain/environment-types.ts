/** What runs, runs in these; a logical environment has its members. */
export const runningTypes = [
  "K8S",
  "ECS",
  "S3",
  "lambda",
  "server",
  "docker",
  "azure-apps",
  "cloud-run",
] as const;
