import type { EnvironmentType } from "../../src/domain/environments.ts";

/** Words for the types of environments. */
export const environmentTypeWords = {
  K8S: "Kubernetes",
  ECS: "Amazon ECS",
  S3: "Amazon S3",
  lambda: "AWS Lambda",
  server: "Server",
  docker: "Docker",
  "azure-apps": "Azure Apps",
  "cloud-run": "Cloud Run",
  logical: "Logical",
} as const satisfies Record<EnvironmentType, string>;
