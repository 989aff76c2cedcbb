import type { Tx } from "../../../../db/connect.ts";
import { command, param } from "../../../../db/sql.ts";
import type { EventKind } from "../../../../domain/snapshot/annotate.ts";
import type { ConfirmedVersion, NewVersion } from "../../../../domain/snapshot/versions.ts";
import type { Timestamp } from "../../../../lib/clock.ts";
import {
  addDecisions,
  addDocuments,
  addRunning,
  addSnapshots,
  addVersions,
  confirmVersions,
  dropRunning,
  endVersions,
  givenSnapshots,
  givenVersions,
  putLineage,
  putRecords,
  tellTrails,
  updateEnvironments,
} from "./record-sql.ts";

/** A snapshot to which artifacts are written. */
export interface OpenSnapshot {
  environment_id: string;
  index: number;
  at_seconds: Timestamp;
  /** How many of its versions, and events among them, were written before. */
  rows_before: number;
  own_events_before: number;
}

/** A snapshot that has all of its artifacts. */
export interface WholeSnapshot extends OpenSnapshot {
  compliant: boolean | null;
  type: string;
  cause: string;
  counts: Record<string, number>;
  /** What runs, what of it no flow knows, and what is on the allow-list. */
  running_count: number;
  unproven_count: number;
  allowed_count: number;
  /** Ids of versions, in the order in which they are shown. */
  artifacts: number[];
  /** Ids of versions that are not in it, or not as they were. */
  ended: number[];
  confirmed: ConfirmedVersion[];
  events: number;
  /** The events by kind. */
  kinds: Record<EventKind, number>;
  /** The verdict of the snapshot before. */
  was_compliant: boolean | null;
  has_policies: boolean;
  /** Whether other policies, or other versions of them, apply than in the snapshot before. */
  policies_changed: boolean;
  artifact_count: number;
  judged_by: string;
  /** Of the report that led to it; null for what no report led to. */
  report_digest: string | null;
  seen_seq: number | null;
  report_gaps: number[] | null;
  learned_limit: number | null;
}

/** A version as it is written, with the digest of what policies decided and found in place of that. */
export interface VersionEntry extends Omit<NewVersion, "decisions" | "findings"> {
  environment_id: string;
  decisions_digest: string | null;
}

/** Rows that are written at once: each a JSON text of a list, because it is long and was made bit by bit. */
interface WrittenTogether {
  /** `OpenSnapshot` of every version; `WholeSnapshot`, with `applied_policies` and `failing_versions`, of what is complete. */
  snapshots: string;
  /** `VersionEntry`. */
  versions: string;
  /** `environment_id`, `digest`, `decisions` and `findings`. */
  decisions: string;
  /** `LineageEntry` with `environment_id`, each once. */
  lineage: string;
}

/**
 * Appends one snapshot to each environment that has all of its artifacts, with the versions that are new in it, and gives
 * the environments the state it found; trails learn which of their artifacts started and stopped to run. Versions of
 * snapshots that have not come any further are written without them. One statement. Needs the rows of the environments
 * locked, and numbers that follow their records.
 */
export async function insertSnapshots(
  tx: Tx,
  orgId: string,
  { snapshots, versions, decisions, lineage }: WrittenTogether,
): Promise<void> {
  const org = param(orgId);
  await tx.run(command("insert-snapshots")`
    with s as materialized (${givenSnapshots(org, snapshots)}),
    ended as (${endVersions(org)}),
    confirmed as (${confirmVersions(org)}),
    v as materialized (${givenVersions(versions)}),
    added as (${addVersions(org)}),
    documents as (${addDocuments(org)}),
    running as (${addRunning(org)}),
    stopped as (${dropRunning(org)}),
    shared as (${addDecisions(org, decisions)}),
    told as (${tellTrails(org)}),
    lineage as (${putLineage(org, lineage)}),
    inserted as (${addSnapshots(org)}),
    records as (${putRecords(org)})
    ${updateEnvironments(org)}`);
}
