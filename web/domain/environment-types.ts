import type { EnvironmentType } from "../../src/domain/environments.ts";

/** What is reported on in environments of each type. */
export const environmentTypeHints = {
  K8S: "Pods of a cluster, or of some of its namespaces.",
  ECS: "Tasks of clusters, or of some of their services.",
  S3: "What lies in a bucket.",
  lambda: "Functions of an account.",
  server: "Files and folders of a machine.",
  docker: "Containers of a machine.",
  "azure-apps": "Apps of a resource group.",
  "cloud-run": "Services of a project.",
  logical: "Nothing is reported on it: it shows what runs in other environments.",
} as const satisfies Record<EnvironmentType, string>;

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
] as const satisfies readonly EnvironmentType[];

/** All types of environments. */
export const environmentTypes = [...runningTypes, "logical"] as const satisfies readonly EnvironmentType[];
