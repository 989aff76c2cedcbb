import { sql } from "kysely";

import type { Executor } from "../../db/connect.ts";
import type { SnapshotFlow } from "../../domain/snapshot/provenance.ts";
import type { RunningArtifact } from "../../domain/snapshot/running.ts";
import type { StoredVersion } from "../../domain/snapshot/versions.ts";

type RunningColumns = Omit<RunningArtifact, "name" | "fingerprint">;

/** What runs, in brief. */
export interface RunningVersion {
  /** Of the version, numbered within the environment. */
  id: number;
  compliant: boolean | null;
  running: RunningArtifact;
}

/** What runs in environments by their latest snapshots, by environment, in no order. */
export async function listRunning(
  db: Executor,
  orgId: string,
  environmentIds: readonly string[],
): Promise<Map<string, RunningVersion[]>> {
  const { rows } = await sql<{
    environment_id: string;
    id: number;
    name: string;
    fingerprint: string;
    compliant: boolean | null;
    running: RunningColumns;
  }>`/* running-versions */
    select environment_id, id, name, fingerprint, compliant, running from snapshot_artifacts
    where org_id = ${orgId}::uuid and environment_id = any(${environmentIds}::uuid[])
      and last_index is null`.execute(db);
  const versions = new Map<string, RunningVersion[]>();
  for (const { environment_id, id, compliant, name, fingerprint, running } of rows) {
    const version = { id, compliant, running: { name, fingerprint, ...running } };
    const known = versions.get(environment_id);
    if (known === undefined) versions.set(environment_id, [version]);
    else known.push(version);
  }
  return versions;
}

/** A version in an environment. */
export interface VersionKey {
  environment_id: string;
  id: number;
}

/** How versions of several environments are told apart. */
export function versionText({ environment_id, id }: VersionKey): string {
  return `${environment_id} ${id}`;
}

interface VersionRow extends Omit<StoredVersion, "running" | "creationTimestamp">, VersionKey {
  running: RunningColumns;
  flows: SnapshotFlow[];
}

/** Some versions with all that later ones are compared by, by `versionText`. */
export async function listVersions(
  db: Executor,
  orgId: string,
  keys: readonly VersionKey[],
): Promise<Map<string, StoredVersion>> {
  const versions = new Map<string, StoredVersion>();
  if (keys.length === 0) return versions;
  const environmentIds = keys.map(({ environment_id }) => environment_id);
  const ids = keys.map(({ id }) => id);
  const { rows } = await sql<VersionRow>`/* some-versions */
    select a.* from unnest(${environmentIds}::uuid[], ${ids}::bigint[]) as asked (environment_id, id)
    cross join lateral (
      select environment_id, id, name, fingerprint, compliant, provenance, findings, digest, facts, running, flows
      from snapshot_artifacts
      where org_id = ${orgId}::uuid and environment_id = asked.environment_id and id = asked.id limit 1
    ) a`.execute(db);
  for (const { environment_id, ...row } of rows) {
    const { id, name, fingerprint } = row;
    const running = { name, fingerprint, ...row.running };
    const { creationTimestamp } = running;
    versions.set(versionText({ environment_id, id }), { ...row, running, creationTimestamp });
  }
  return versions;
}
