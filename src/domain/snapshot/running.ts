import { compareText } from "../../lib/text.ts";
import type { Owner } from "./report.ts";

export interface Pod {
  namespace: string;
  creationTimestamp: number;
  owners: readonly Owner[] | null;
}

/** Pods by name. One whose name is taken is called `<namespace>/<name>`, in a logical environment `<member>/<name>`. */
export type Pods = Record<string, Pod>;

/** The surroundings of a running artifact, by kind of environment. */
export interface Workload {
  /** All pods with the artifact; null outside K8S. */
  pods: Pods | null;
  /** Of the instance that started last. */
  ecs_context?: { task_arn: string; cluster_name: string | null; service_name: string | null };
  /** Of the instance that started last. */
  azure_apps_context?: { app_name: string; app_kind: string; digests_source: string };
  /** Of the instance that started last. */
  cloud_run_context?: {
    kind: string;
    service_name: string | null;
    revision_name: string | null;
    job_name: string | null;
  };
}

/** An artifact that runs, once for all its instances of one name. */
export interface RunningArtifact extends Workload {
  name: string;
  /** Empty when the digest is not known. */
  fingerprint: string;
  /** One for each instance, ascending, Unix seconds. */
  creationTimestamp: number[];
}

/** Compares artifacts by name, then fingerprint. */
export function byName(left: RunningArtifact, right: RunningArtifact): number {
  return compareText(left.name, right.name) || compareText(left.fingerprint, right.fingerprint);
}

/** Writes a key that the same artifact has in all snapshots. */
export function artifactKey({ fingerprint, name }: { fingerprint: string; name: string }): string {
  return `${fingerprint} ${name}`;
}
