import { sql } from "kysely";

import type { Executor, Tx } from "../../db/connect.ts";
import type { Timestamp } from "../../lib/clock.ts";

/** A file an organization has. */
export interface EvidenceFile {
  id: string;
  sha256: string;
  size: number;
  filename: string;
  content_type: string;
}

export type NewEvidence = EvidenceFile;

/** Holds off the removal of these contents as orphans until the transaction ends. */
export async function lockContents(tx: Tx, sha256s: readonly string[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(hashtextextended('evidence:' || sha256, 0))
    from (select unnest(${[...sha256s]}::text[]) as sha256 order by 1) as c`.execute(tx);
}

/** Waits until nobody is about to refer to this content, and keeps everybody from it until the transaction ends. */
export async function lockOrphan(tx: Tx, sha256: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('evidence:' || ${sha256}::text, 0))`.execute(tx);
}

/** Inserts files, passing over those the organization has already. Sort them, lest two writers deadlock. */
export async function insertEvidence(
  tx: Tx,
  orgId: string,
  files: readonly NewEvidence[],
  createdAt: Timestamp,
): Promise<void> {
  await sql`
    insert into evidence (org_id, id, sha256, size, filename, content_type, created_at)
    select ${orgId}, i.id, i.sha256, i.size, i.filename, i.content_type, to_timestamp(${createdAt}::float8)
    from jsonb_to_recordset(${JSON.stringify(files)}::jsonb)
      as i (id uuid, sha256 text, size bigint, filename text, content_type text)
    on conflict (org_id, sha256, filename) do nothing`.execute(tx);
}

/** The organization's files of these digests. */
export async function listEvidenceByContent(
  db: Executor,
  orgId: string,
  sha256s: readonly string[],
): Promise<EvidenceFile[]> {
  return db
    .selectFrom("evidence")
    .select(["id", "sha256", "size", "filename", "content_type"])
    .where("org_id", "=", orgId)
    .where("sha256", "in", [...sha256s])
    .execute();
}

/** One file of the organization; undefined when it has none of this id. */
export async function findEvidence(
  db: Executor,
  orgId: string,
  id: string,
): Promise<EvidenceFile | undefined> {
  return db
    .selectFrom("evidence")
    .select(["id", "sha256", "size", "filename", "content_type"])
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** The contents of all organizations in order of digest, from after `after`. For those who run the installation. */
export async function listContents(
  db: Executor,
  after: string,
  limit: number,
): Promise<{ sha256: string; size: number }[]> {
  return db
    .selectFrom("evidence")
    .select(["sha256", (e) => e.fn.min("size").as("size")])
    .where("sha256", ">", after)
    .groupBy("sha256")
    .orderBy("sha256")
    .limit(limit)
    .execute();
}

/** Which of these contents any organization has. */
export async function listReferred(db: Executor, sha256s: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("evidence")
    .select("sha256")
    .distinct()
    .where("sha256", "in", [...sha256s])
    .execute();
  return rows.map((row) => row.sha256);
}
