import type { EnvironmentType } from "../../src/domain/environments.ts";

/** What environments are for; `space` is the key of a space, `weight` how many there are, relative to the others. */
export const products: readonly { name: string; space: string; team: string; weight: number }[] = [
  { name: "storefront", space: "shop", team: "shop", weight: 5 },
  { name: "checkout", space: "shop", team: "shop", weight: 5 },
  { name: "notifications", space: "shop", team: "shop", weight: 2 },
  { name: "gateway", space: "platform", team: "platform", weight: 3 },
  { name: "identity", space: "platform", team: "platform", weight: 3 },
  { name: "warehouse", space: "data", team: "data", weight: 2 },
  { name: "recommendations", space: "data", team: "data", weight: 2 },
  { name: "pocket", space: "mobile", team: "mobile", weight: 1 },
  { name: "landscape", space: "networks", team: "operations", weight: 1 },
  { name: "erp-sync", space: "back-office", team: "back-office", weight: 1 },
];

/** Stages of environments; `weight` as above. */
export const stages = [
  { name: "prod", weight: 4 },
  { name: "staging", weight: 3 },
  { name: "test", weight: 3 },
  { name: "preview", weight: 6 },
  { name: "dev", weight: 4 },
];

/** Where environments are. */
export const regions = ["eu-west", "eu-north", "us-east", "us-west", "ap-south", "sa-east"];

/** Types of physical environments; `weight` as above. */
export const physicalTypes: readonly { name: EnvironmentType; weight: number }[] = [
  { name: "K8S", weight: 8 },
  { name: "ECS", weight: 3 },
  { name: "S3", weight: 2 },
  { name: "lambda", weight: 3 },
  { name: "server", weight: 2 },
  { name: "docker", weight: 3 },
  { name: "azure-apps", weight: 1 },
  { name: "cloud-run", weight: 2 },
];

/** Names of environments that were archived; a year follows them. */
export const archivedNames = ["black-friday", "datacenter-old", "load-test"];

/** The names of an environment that was renamed. */
export const renamedEnvironment = { from: "cluster-7", to: "gateway-prod-eu-central" };
