/**
 * What reporters send, by kind of environment (contract of snapshot reports). Timestamps are Unix seconds, whole ones.
 */

/** Name to fingerprint, 64 hex digits; empty where what runs is known but its digest is not. */
export type Digests = Readonly<Record<string, string>>;

interface Item {
  digests: Digests;
  /** When it started, or was last changed. Reporters say 0 or the year 1 when they do not know. */
  creationTimestamp: number;
}

/** Who manages a pod, as the cluster says it. */
export interface Owner {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean | null | undefined;
  blockOwnerDeletion?: boolean | null | undefined;
  [other: string]: unknown;
}

export interface K8sItem extends Item {
  podName: string;
  namespace: string;
  owners?: readonly Owner[] | null | undefined;
}

export interface EcsItem extends Item {
  taskArn: string;
  cluster_name?: string | null | undefined;
  service_name?: string | null | undefined;
}

export interface AzureAppsItem extends Item {
  app_name: string;
  app_kind: string;
  digests_source: "acr" | "logs" | "kosli-cli";
}

export interface CloudRunItem extends Item {
  kind: "service" | "job";
  serviceName?: string | null | undefined;
  revisionName?: string | null | undefined;
  jobName?: string | null | undefined;
}

/** Everything that runs in an environment at one moment. */
export type Report =
  | { type: "K8S"; artifacts: readonly K8sItem[] }
  | { type: "ECS"; artifacts: readonly EcsItem[] }
  | { type: "azure-apps"; artifacts: readonly AzureAppsItem[] }
  | { type: "cloud-run"; artifacts: readonly CloudRunItem[] }
  | { type: "S3" | "lambda" | "server" | "docker"; artifacts: readonly Item[] };
